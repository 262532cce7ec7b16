"""Paths of a rule into the event or the counts of an alarm, and the names that are looked up on demand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from core.types import Event
from rules.expressions.facts import MISSING, Facts

LOOKED_UP: Final[dict[str, str]] = {
    "session.message_count": "messages in the event's session, up to the event",
    "session.token_count": "tokens in the event's session, up to the event",
    "session.idle_seconds": "seconds between the event and the message before it in its session",
    "user.memory_count": "active memories of the event's user when the event was decided",
    "memory.importance": "importance (0 to 1) of the memory in the event's subject",
    "budget.tokens_today": "model tokens the tenant had spent since midnight UTC when the event was decided",
    "budget.cost_today": "money the tenant had spent on models since midnight UTC when the event was decided",
}
EVENT_FIELDS: Final = ("event_type", "source", "subject", "time")
COUNTS: Final = "counts"
"""Key of the payload of an alarm's events that holds its counts: `count.dead` is `payload.counts.dead`."""

COUNT_NAME: Final = r"[a-z][a-z0-9_]{0,39}"
MAX_LENGTH = 300
MAX_STEPS = 16

_STEP = r"(?:\.[^.\[\]{}]+|\[[0-9]{1,6}\])"
_OPEN_ENDED = re.compile(rf"(payload|item)((?:{_STEP})*)")
_COUNT = re.compile(rf"count\.({COUNT_NAME})")
_STEPS = re.compile(r"\.([^.\[\]{}]+)|\[([0-9]{1,6})\]")
PATTERN: Final = (
    rf"^(?:(?:payload|item){_STEP}*|count\.{COUNT_NAME}|"
    + "|".join(re.escape(name) for name in (*EVENT_FIELDS, *LOOKED_UP))
    + ")$"
)

Root = Literal["payload", "item", "event", "lookup"]
Getter = Callable[[Facts], Any]


class BadPath(ValueError):
    """The text is not a path; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path: `root` says where it starts, `steps` are the keys and indexes below it."""

    text: str
    root: Root
    steps: tuple[str | int, ...] = ()

    @property
    def is_looked_up(self) -> bool:
        """Return whether reading it requires a database query."""
        return self.root == "lookup"

    @property
    def count(self) -> str | None:
        """Return the name of the count that it reads; None: it reads something else."""
        return str(self.steps[1]) if self.text.startswith("count.") else None


@lru_cache(maxsize=10_000)
def parse_path(text: str) -> Path:
    """Parse a path; raises BadPath with the nearest known name."""
    if text in LOOKED_UP:
        return Path(text, "lookup")
    if text in EVENT_FIELDS:
        return Path(text, "event")
    count = _COUNT.fullmatch(text)
    if count is not None:
        return Path(text, "payload", (COUNTS, count[1]))
    match = _OPEN_ENDED.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise BadPath(_way_out(text))
    steps = tuple(key or int(index) for key, index in _STEPS.findall(match[2]))
    if len(steps) > MAX_STEPS:
        raise BadPath(f"the path has {len(steps)} steps, {MAX_STEPS} are allowed")
    return Path(text, "payload" if match[1] == "payload" else "item", steps)


def _way_out(text: str) -> str:
    if len(text) > MAX_LENGTH:
        return f"the path is {len(text)} characters long, {MAX_LENGTH} are allowed"
    root = re.split(r"[.\[]", text, maxsplit=1)[0]
    if root == "count":
        return f"`{text}` is no count; write `count.` and the name of one in `counts`, such as `count.dead`"
    if root in {"payload", "item"}:
        return f"`{text}` is no path; write `{root}.key`, `{root}.key.deeper` or `{root}.list[0]`"
    return f"unknown field `{text}`; {_suggestion(text, root)}"


def _suggestion(text: str, root: str) -> str:
    names = (*EVENT_FIELDS, *LOOKED_UP)
    near = difflib.get_close_matches(text, names, 1, 0.8)
    if not near and difflib.get_close_matches(root, ["payload"], 1, 0.75):
        near = [f"payload{text[len(root) :]}"]
    elif not near and text == root and text not in _LOOKED_UP_ROOTS:
        near = [f"payload.{text}", *(name for name in LOOKED_UP if name.endswith(f".{text}"))]
    guess = f"did you mean {' or '.join(f'`{name}`' for name in near)}? " if text and near else ""
    return f"{guess}Known are: payload.…, {', '.join(names)}"


_LOOKED_UP_ROOTS: Final = {name.split(".")[0] for name in LOOKED_UP}


def walk(value: Any, steps: Iterable[str | int]) -> Any:
    """Return the value at the end of `steps` below `value`; MISSING if a step does not exist."""
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return MISSING
        elif not isinstance(value, list) or step >= len(value):
            return MISSING
        value = value[step]
    return value


def event_getter(path: Path) -> Callable[[Event], Any]:
    """Return a function that reads an event path (not a looked-up name, not `item`) from an event."""
    if path.root == "event":
        return _attribute(path.text)
    steps = path.steps
    if len(steps) == 1 and isinstance(steps[0], str):
        key = steps[0]
        return lambda event: event.payload.get(key, MISSING)
    return lambda event: walk(event.payload, steps)


def _attribute(name: str) -> Callable[[Event], Any]:
    def read(event: Event) -> Any:
        value = getattr(event, name)
        return MISSING if value is None else value

    return read


def getter(path: Path) -> Getter:
    """Return a function that reads the path from the facts of an event, or MISSING."""
    if path.root == "lookup":
        name = path.text
        return lambda facts: facts.lookup(name)
    steps = path.steps
    if path.root == "item":
        return lambda facts: walk(facts.item, steps)
    if path.root == "payload" and len(steps) == 1 and isinstance(steps[0], str):
        key = steps[0]
        return lambda facts: facts.payload.get(key, MISSING)
    read = event_getter(path)
    return lambda facts: read(facts.event)
