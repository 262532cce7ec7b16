"""Rules as text: one canonical form, whatever order and spelling a document came in, so that files and diffs are calm.

Fields stand in the order in which their models declare them, which is the order in which a rule is read; what people
name themselves (`params`, `payload`, `kwargs`, `headers`) goes by name. What fits into a line stays on it.
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
"""From here on Python writes a float with an exponent, and the database, which keeps decimals, without one."""

_CONDITIONS: Final = frozenset({"conditions", "all", "any", "none", "value"})
_FREE: Final = frozenset({"params", "payload", "kwargs", "headers"})


def canonical_text(document: Json) -> str:
    """Return the canonical text of a rule: equal for documents with equal meaning, and stable when parsed again."""
    return "".join(f"{line}\n" for line in lines(document))


def lines(document: Json) -> list[str]:
    """The lines of the canonical text, without their ends."""
    return list(_spread(_in_order(document, ""), "", ""))


def same(one: Json, other: Json) -> bool:
    """Return whether two documents are equal; unlike `==`, 1 and true differ."""
    return lines(one) == lines(other)


def diff(before: Json | None, after: Json | None, old: str, new: str) -> str:
    """Return the unified diff of two documents' texts; empty when they are equal.

    `old` and `new` are what the two are called; None is a document that is not there. Credentials are masked.
    """
    (one, old), (other, new) = _side(before, old), _side(after, new)
    return "".join(f"{line}\n" for line in difflib.unified_diff(one, other, old, new, lineterm=""))


def _side(document: Json | None, name: str) -> tuple[list[str], str]:
    return ([], "/dev/null") if document is None else (lines(masking.document(document)), name)


def _in_order(node: Any, place: str | None) -> Any:
    """The same with its fields in order and its numbers in one spelling; `place` is the field it stands in."""
    if isinstance(node, list):
        return [_in_order(one, place) for one in node]
    if isinstance(node, dict):
        known = {name: rank for rank, name in enumerate(_fields(node, place))}
        names = sorted(node, key=lambda name: (known.get(name, len(known)), name))
        return {name: _in_order(node[name], None if place is None or name in _FREE else name) for name in names}
    return _number(node) if isinstance(node, float) else node


def _fields(node: Mapping[str, Any], place: str | None) -> Sequence[str]:
    if place is None:
        return ()
    if place in _CONDITIONS:
        return (*FIELDS["<group>"], *FIELDS["<leaf>"])
    return FIELDS.get(str(node.get("action_type")) if place == "actions" else place, ())


def _number(value: float) -> float | int:
    if abs(value) >= WHOLE and value.is_integer():
        return int(Decimal(repr(value)))
    return value or 0.0


def _spread(value: Any, before: str, after: str, depth: int = 0) -> Iterator[str]:
    """The lines of a value between what stands before and after it on its first and last line."""
    whole = f"{INDENT * depth}{before}{_encode(value)}{after}"
    if not value or not isinstance(value, dict | list) or (depth and len(whole) <= WIDTH):
        yield whole
        return
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    yield f"{INDENT * depth}{before}{opened}"
    for place, (name, part) in enumerate(_members(value), start=1):
        yield from _spread(part, name, "," if place < len(value) else "", depth + 1)
    yield f"{INDENT * depth}{closed}{after}"


def _members(value: Json | list[Any]) -> list[tuple[str, Any]]:
    """Yield the members of a value, each with the prefix of its line."""
    if isinstance(value, dict):
        return [(f"{_encode(name)}: ", part) for name, part in value.items()]
    return [("", part) for part in value]


_encode: Final = json.JSONEncoder(ensure_ascii=False).encode
