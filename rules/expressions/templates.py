"""Templates in the values of actions: `{{payload.user_id}}` is replaced by that field of the event.

Only substitution: no expressions, no calls, and inserted text is not rendered again. A value that consists of one
template takes the field's own type; a missing field gives null there, and an empty text within a longer one. Keys
of objects are not rendered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from core.errors import Invalid, Problem
from core.types import Event
from rules import problems
from rules.expressions import paths
from rules.expressions.facts import json_value

_TEMPLATE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_LEFTOVER = re.compile(r"\{\{|\}\}")


@dataclass(slots=True)
class _Room:
    """Characters that templates may still insert, counted while inserting: nothing large is built first."""

    limit: int
    used: int = 0

    def take(self, characters: int) -> None:
        self.used += characters
        if self.used > self.limit:
            raise _too_large(f"more than {self.limit:,} characters", self.limit)


def render(value: Any, event: Event, limit: int) -> Any:
    """Return the value with every template in it replaced from the event; the given value stays as it is.

    Invalid: as JSON the result would have more than `limit` characters.
    """
    rendered = _render(value, event, _Room(limit))
    characters = len(json.dumps(rendered, ensure_ascii=False))
    if characters > limit:
        raise _too_large(f"{characters:,} characters", limit)
    return rendered


def _too_large(size: str, limit: int) -> Invalid:
    return Invalid([Problem("", f"an action of {size} after filling in its templates; {limit:,} are allowed")])


def _render(value: Any, event: Event, room: _Room) -> Any:
    if isinstance(value, str):
        return _render_text(value, event, room)
    if isinstance(value, list):
        return [_render(item, event, room) for item in value]
    if isinstance(value, dict):
        return {name: _render(item, event, room) for name, item in value.items()}
    return value


def _render_text(text: str, event: Event, room: _Room) -> Any:
    def insert(match: re.Match[str]) -> str:
        written = _as_text(_read(match[1], event))
        room.take(len(written))
        return written

    whole = _TEMPLATE.fullmatch(text)
    if whole is None:
        return _TEMPLATE.sub(insert, text)
    value = _read(whole[1], event)
    room.take(len(_as_text(value)))
    return json_value(value)


def _read(path: str, event: Event) -> Any:
    return paths.event_getter(_parse(path))(event)


def _parse(text: str) -> paths.Path:
    path = paths.parse_path(text)
    if path.root in {"lookup", "item"}:
        raise paths.BadPath(f"`{text}` is not a field of the event; use `payload.…`, {', '.join(paths.EVENT_FIELDS)}")
    return path


def _as_text(value: Any) -> str:
    value = json_value(value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fields(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields that the templates in a value name, each with its place."""
    for pointer, text in _texts(value, ""):
        yield from ((pointer, match[1]) for match in _TEMPLATE.finditer(text))


def fault(value: Any) -> Problem | None:
    """Return the first template in a value that cannot be rendered, with its place below the value, or None."""
    faults = ((pointer, _fault_of_text(text)) for pointer, text in _texts(value, ""))
    return next((Problem(pointer, detail) for pointer, detail in faults if detail), None)


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, f"{pointer}/{problems.escape_step(name)}")


def _fault_of_text(text: str) -> str | None:
    try:
        rest = _TEMPLATE.sub(lambda match: _nothing_if(_parse, match[1]), text)
    except paths.BadPath as error:
        return f"template: {error}"
    return "a template reads `{{payload.user_id}}`: two braces, a path, two braces" if _LEFTOVER.search(rest) else None


def _nothing_if(check: Callable[[str], object], text: str) -> str:
    check(text)
    return ""
