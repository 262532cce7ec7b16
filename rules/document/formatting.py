"""Canonical text of rules, independent of the order and spelling of the document, so that files and diffs are stable.

Fields are in the order in which their models declare them, which is the reading order of a rule. User-defined keys
(`params`, `payload`, `kwargs`, `headers`) are sorted by name. A value that fits on a line stays on it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from core.types import Json
from rules.document import masking
from rules.document.schema import FIELDS

WIDTH: Final = 100
INDENT: Final = "  "
WHOLE: Final = 1e16
"""Magnitude from which Python writes floats with an exponent, while the database writes decimals without one."""

_CONDITIONS: Final = frozenset({"conditions", "clears", "all", "any", "none", "value"})
_FREE: Final = frozenset({"params", "payload", "kwargs", "headers"})


def canonical_text(document: Json) -> str:
    """Return the canonical text of a rule: equal for documents with equal meaning, and stable when parsed again."""
    return "".join(f"{line}\n" for line in lines(document))


def lines(document: Json) -> list[str]:
    """Return the lines of the canonical text, without line ends."""
    return list(_spread(_in_order(document, ""), "", ""))


def same(document: Json, other: Json) -> bool:
    """Return whether two documents are equal; unlike `==`, 1 and true differ."""
    return lines(document) == lines(other)


def diff(before: Json | None, after: Json | None, old: str, new: str) -> str:
    """Return the unified diff of two documents' texts; empty if they are equal.

    `old` and `new` are the labels; None is a missing document. Credentials are masked.
    """
    (old_lines, old), (new_lines, new) = _side(before, old), _side(after, new)
    return "".join(f"{line}\n" for line in difflib.unified_diff(old_lines, new_lines, old, new, lineterm=""))


def _side(document: Json | None, name: str) -> tuple[list[str], str]:
    return ([], "/dev/null") if document is None else (lines(masking.document(document)), name)


def _in_order(node: Any, field: str | None) -> Any:
    """Return the value with its fields in order and numbers normalized; `field` is the field that contains it."""
    if isinstance(node, list):
        return [_in_order(item, field) for item in node]
    if isinstance(node, dict) and field == "counts":
        return {name: _in_order(count, _kind(count)) for name, count in sorted(node.items())}
    if isinstance(node, dict):
        ranks = {name: rank for rank, name in enumerate(_fields(node, field))}
        names = sorted(node, key=lambda name: (ranks.get(name, len(ranks)), name))
        return {name: _in_order(node[name], None if field is None or name in _FREE else name) for name in names}
    return _number(node) if isinstance(node, float) else node


def _kind(count: Any) -> str | None:
    """Return the kind of a count, whose model says the order of its fields."""
    return str(count.get("of")) if isinstance(count, dict) else None


def _fields(node: Mapping[str, Any], field: str | None) -> Sequence[str]:
    if field is None:
        return ()
    if field in _CONDITIONS:
        return (*FIELDS["<group>"], *FIELDS["<leaf>"])
    return FIELDS.get(str(node.get("action_type")) if field == "actions" else field, ())


def _number(value: float) -> float | int:
    if abs(value) >= WHOLE and value.is_integer():
        return int(Decimal(repr(value)))
    return value or 0.0


def _spread(value: Any, before: str, after: str, depth: int = 0) -> Iterator[str]:
    """Return the lines of a value, with a prefix on the first and a suffix on the last."""
    whole = f"{INDENT * depth}{before}{_encode(value)}{after}"
    if not value or not isinstance(value, dict | list) or (depth and len(whole) <= WIDTH):
        yield whole
        return
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    yield f"{INDENT * depth}{before}{opened}"
    for position, (name, part) in enumerate(_members(value), start=1):
        yield from _spread(part, name, "," if position < len(value) else "", depth + 1)
    yield f"{INDENT * depth}{closed}{after}"


def _members(value: Json | list[Any]) -> list[tuple[str, Any]]:
    """Yield the members of a value, each with the prefix of its line."""
    if isinstance(value, dict):
        return [(f"{_encode(name)}: ", part) for name, part in value.items()]
    return [("", part) for part in value]


_encode: Final = json.JSONEncoder(ensure_ascii=False).encode
