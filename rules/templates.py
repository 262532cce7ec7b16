"""Templates in the values of actions: `{{payload.user_id}}` is replaced by that field of the event.

Substitution is all there is: no expressions, no calls, and what was put in is not looked at again. A value that is
one template and nothing else takes the field's own type; a missing field gives null there, and an empty text within
a longer one. Keys of objects stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from core.errors import Problem
from core.types import Event, Json
from rules import paths, problems
from rules.facts import MISSING

_TEMPLATE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_LEFTOVER = re.compile(r"\{\{|\}\}")


def render(value: Any, event: Event) -> Any:
    """The value with every template in it replaced from the event; the given value stays as it is."""
    if isinstance(value, str):
        return _render_text(value, event)
    if isinstance(value, list):
        return [render(item, event) for item in value]
    if isinstance(value, dict):
        return {name: render(item, event) for name, item in value.items()}
    return value


def render_actions(actions: list[Json], event: Event) -> list[Json]:
    """The actions of a rule as they will run for this event."""
    return [render(action, event) for action in actions]


def _render_text(text: str, event: Event) -> Any:
    whole = _TEMPLATE.fullmatch(text)
    if whole is not None:
        value = _read(whole[1], event)
        return None if value is MISSING else _as_json(value)
    return _TEMPLATE.sub(lambda found: _as_text(_read(found[1], event)), text)


def _read(path: str, event: Event) -> Any:
    return paths.event_getter(_parsed(path))(event)


def _parsed(text: str) -> paths.Path:
    path = paths.parse_path(text)
    if path.root in {"lookup", "item"}:
        raise paths.BadPath(f"`{text}` is no field of the event; use `payload.…`, {', '.join(paths.EVENT_FIELDS)}")
    return path


def _as_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _as_text(value: Any) -> str:
    if value is MISSING or value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fields(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """The fields that the templates in a value name, each with its place."""
    if isinstance(value, str):
        yield from ((pointer, found[1]) for found in _TEMPLATE.finditer(value))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from fields(item, f"{pointer}/{place}")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from fields(item, f"{pointer}/{problems.escaped(name)}")


def fault(value: Any) -> Problem | None:
    """The first template in a value that cannot be filled in, with its place below the value; None if there is none."""
    return next(_faults(value, ""), None)


def _faults(value: Any, pointer: str) -> Iterator[Problem]:
    if isinstance(value, str):
        detail = _fault_of_text(value)
        if detail:
            yield Problem(pointer, detail)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _faults(item, f"{pointer}/{place}")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _faults(item, f"{pointer}/{problems.escaped(name)}")


def _fault_of_text(text: str) -> str | None:
    try:
        rest = _TEMPLATE.sub(lambda found: _nothing_if(_parsed, found[1]), text)
    except paths.BadPath as error:
        return f"template: {error}"
    return "a template reads `{{payload.user_id}}`: two braces, a path, two braces" if _LEFTOVER.search(rest) else None


def _nothing_if(check: Callable[[str], object], text: str) -> str:
    check(text)
    return ""
