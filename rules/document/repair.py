"""Replaces the faulty parts of a rule document, so that the rest can be checked in the same pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from core.errors import Problem
from core.types import Json

_TYPE: Final = "any.thing"
_ACTION: Final[Json] = {"action_type": "emit", "event_type": _TYPE}
_REQUIRED: Final[Json] = {"name": "a-rule", "event_type": _TYPE, "actions": [_ACTION]}
"""Placeholders for required fields; all other fields are optional."""


def repair(document: Any, problems: Iterable[Problem]) -> Json | None:
    """Replace the parts named by the problems with valid ones; None: no part of the document is usable.

    Actions keep their positions, so that pointers into the others stay correct.
    """
    if not isinstance(document, dict):
        return None
    repaired = dict(document)
    for problem in problems:
        field, *below = (part.replace("~1", "/").replace("~0", "~") for part in problem.pointer.split("/")[1:])
        if field == "actions" and below and isinstance(repaired.get("actions"), list):
            repaired["actions"] = [
                _ACTION if str(number) == below[0] else action for number, action in enumerate(repaired["actions"])
            ]
        elif field in {"event_type", "schedule"}:
            repaired.pop("schedule", None)
            repaired["event_type"] = _TYPE
        elif field in _REQUIRED:
            repaired[field] = _REQUIRED[field]
        else:
            repaired.pop(field, None)
    return repaired
