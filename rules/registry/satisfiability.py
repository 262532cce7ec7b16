"""Finds comparisons that can never hold, given the kinds of their field. Pure; in doubt it reports nothing."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from core.types import Event
from rules.document.condition_tree import Group, Leaf, Reference
from rules.expressions.facts import Facts
from rules.expressions.operators import OPERATORS, kind
from rules.registry.field_kinds import FieldShape

_MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)
_FACTS: Final = Facts(Event(0, "", "", "", "", None, _MOMENT, {}))

_SAMPLES: Final[dict[str, tuple[Any, ...]]] = {
    "string": ("text", _MOMENT.isoformat()),
    "number": (0, 0.5),
    "bool": (True, False),
    "list": ([], ["text"], [0]),
    "object": ({}, {"key": "text"}),
    "time": (_MOMENT,),
}
"""Sample values of each kind: an operator fits either one of them, or no value of that kind."""

_NAMES: Final = {
    "string": "a text",
    "number": "a number",
    "bool": "true or false",
    "list": "a list",
    "object": "an object",
    "time": "a time",
    "null": "null",
}

_QUANTIFIED: Final = frozenset({"any_of", "all_of"})


def never(leaf: Leaf, shapes: Sequence[FieldShape]) -> str | None:
    """Return why a comparison holds for no value of these kinds; None: it may hold."""
    if not shapes or OPERATORS[leaf.op].takes in {"nothing", "meaning"} or isinstance(leaf.value, Reference):
        return None
    reasons = [_never(leaf, shape) for shape in shapes]
    return reasons[0] if all(reasons) else None


def _never(leaf: Leaf, shape: FieldShape) -> str | None:
    if leaf.op in _QUANTIFIED or isinstance(leaf.value, Leaf | Group):
        return None if "list" in shape.kinds else f"is {_kinds(shape)}, and `{leaf.op}` asks about the items of a list"
    test = OPERATORS[leaf.op].bind(leaf.value)
    answers = [test(sample, _FACTS) for sample in _samples(leaf, shape)]
    if any(answers) or not answers or (leaf.value is None or None in _values(leaf)):
        return None
    if all(answer is None for answer in answers):
        return f"is {_kinds(shape)}: {_comparison_text(leaf)} it never holds{_suggestion(leaf, shape)}"
    if shape.choices:
        return f"is one of {', '.join(shape.choices)}: {_comparison_text(leaf)} it never holds{_nearest(leaf, shape)}"
    if shape.low is not None and shape.high is not None and shape.kinds <= {"number", "null"}:
        return f"lies between {shape.low:g} and {shape.high:g}: {_comparison_text(leaf)} it never holds"
    return None


def _samples(leaf: Leaf, shape: FieldShape) -> Iterator[Any]:
    """Return enough values of a shape to decide: all choices, both bounds, and the values in the rule itself."""
    if shape.choices:
        yield from shape.choices
        return
    for kind_name in sorted(shape.kinds - {"null"}):
        bounds = [bound for bound in (shape.low, shape.high) if bound is not None]
        if kind_name != "number" or len(bounds) < 2:  # noqa: PLR2004
            yield from _SAMPLES[kind_name]
            continue
        named = [value for value in _values(leaf) if kind(value) == "number"]
        yield from (value for value in (*bounds, *named) if bounds[0] <= value <= bounds[1])


def _values(leaf: Leaf) -> list[Any]:
    return leaf.value if isinstance(leaf.value, list) else [leaf.value]


def _kinds(shape: FieldShape) -> str:
    return " or ".join(_NAMES[kind_name] for kind_name in sorted(shape.kinds - {"null"}))


def _comparison_text(leaf: Leaf) -> str:
    return f"with `{leaf.op} {json.dumps(leaf.value, ensure_ascii=False)[:100]}`"


def _suggestion(leaf: Leaf, shape: FieldShape) -> str:
    """Suggest a correction if only quotes or the operator are wrong."""
    if "number" in shape.kinds and isinstance(leaf.value, str):
        try:
            return f"; did you mean {float(leaf.value):g}, without quotes?"
        except ValueError:
            return ""
    if shape.kinds <= {"bool", "null"} and str(leaf.value).lower() in {"true", "false"}:
        return f"; did you mean {str(leaf.value).lower()}, without quotes?"
    if "list" in shape.kinds and leaf.op in {"==", "in"}:
        return f"; did you mean `{'contains' if leaf.op == '==' else 'contains_any'}`?"
    return ""


def _nearest(leaf: Leaf, shape: FieldShape) -> str:
    texts = [value for value in _values(leaf) if isinstance(value, str)]
    near = [match for text in texts for match in difflib.get_close_matches(text.lower(), shape.choices, 1, 0.6)]
    return f"; did you mean `{near[0]}`?" if near else ""
