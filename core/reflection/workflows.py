"""A workflow as reports give it: a text, or a list of texts and objects, read as its steps in their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

NAMES: Final = ("name", "text", "tool", "action", "step")
"""Fields of a step's object that may say what is done, the first that is there."""

_SEPARATORS: Final = re.compile(r"→|->|=>|[\n;；]")
_BULLET: Final = re.compile(r"(?:\d{1,3}[.)、]|[-*•])(?:\s|$)")


def steps(workflow: Any) -> Any:
    """The steps, as a list of their names; a part of another shape stays as it is, for the caller to refuse.

    A text is split at arrows, semicolons and line ends, and loses the numbers and bullets of a list. Objects that all
    carry a number as `step` are put in its order.
    """
    if isinstance(workflow, str):
        parts = (_without_bullet(part.strip()) for part in _SEPARATORS.split(workflow))
        return [part for part in parts if part]
    if not isinstance(workflow, list):
        return workflow
    return [_name(part) for part in _in_order(workflow)]


def tools(workflow: Any) -> list[str]:
    """The tools that the objects of a workflow name, each once, in the order of its steps."""
    parts = _in_order(workflow) if isinstance(workflow, list) else []
    tool_names = (part.get("tool") for part in parts if isinstance(part, dict))
    return list(dict.fromkeys(tool for tool in tool_names if isinstance(tool, str)))


def _without_bullet(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :].strip() if bullet else line


def _in_order(parts: Sequence[Any]) -> Sequence[Any]:
    if not all(isinstance(part, dict) and type(part.get("step")) is int for part in parts):
        return parts
    return sorted(parts, key=lambda part: int(part["step"]))


def _name(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return next((part[name] for name in NAMES if name in part and not isinstance(part[name], int)), part)
