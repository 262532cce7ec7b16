"""A faulty rule document with its faulty parts replaced, so that the rest of it can be examined in the same breath."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from core.errors import Problem
from core.types import Json

_TYPE: Final = "any.thing"
_ACTION: Final[Json] = {"action_type": "emit", "event_type": _TYPE}
_REQUIRED: Final[Json] = {"name": "a-rule", "event_type": _TYPE, "actions": [_ACTION]}
"""What stands in for a required field; every other field may be left out."""


def repair(document: Any, problems: Iterable[Problem]) -> Json | None:
    """Replace the parts that the problems name with harmless ones; None: no part of the document can be used.

    Actions keep their places, so that pointers into the others stay true.
    """
    if not isinstance(document, dict):
        return None
    found = dict(document)
    for problem in problems:
        field, *below = (part.replace("~1", "/").replace("~0", "~") for part in problem.pointer.split("/")[1:])
        if field == "actions" and below and isinstance(found.get("actions"), list):
            found["actions"] = _without(found["actions"], below[0])
        elif field in {"event_type", "schedule"}:
            found.pop("schedule", None)
            found["event_type"] = _TYPE
        elif field in _REQUIRED:
            found[field] = _REQUIRED[field]
        else:
            found.pop(field, None)
    return found


def _without(actions: list[Any], place: str) -> list[Any]:
    return [_ACTION if str(number) == place else action for number, action in enumerate(actions)]
