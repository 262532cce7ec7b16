"""Recognises the format of each file by its objects, and yields their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final

from core.transfer import json_objects, opened
from core.transfer.formats import chatgpt, claude_ai, claude_code, imprint, messages, stores
from core.transfer.formats.fields import Object
from core.transfer.opened import Allowance, Opened, Unreadable
from core.transfer.records import Conversation, Note, Record, Skipped, Turn

PART: Final = 500
"""Turns of a conversation that are held at a time where a file has a line for each."""

NOTE_CHARACTERS: Final = 1_000_000
"""Longest Markdown file."""

FORMATS: Final = (
    "imprint",
    "chatgpt",
    "claude",
    "claude-code",
    "mem0",
    "hindsight",
    "langgraph",
    "locomo",
    "messages",
    "markdown",
)


@dataclass(slots=True)
class Reading:
    """A path that is read, the only format that is wanted of it, and the formats that were found."""

    path: Path
    only: str | None = None
    forbidden: bool = False
    found: set[str] = field(default_factory=set)
    allowance: Allowance = field(default_factory=Allowance)

    def records(self) -> Iterator[Record]:
        """Yield all records. Unreadable: a file is broken, or nothing in it is known."""
        known = False
        for one in opened.files(self.path, self.allowance):
            for record in self._file(one):
                known = True
                yield record
        if not known:
            raise Unreadable(f"Nothing in {self.path} is of a known format ({', '.join(FORMATS)}).")

    def _file(self, one: Opened) -> Iterator[Record]:
        if one.suffix == ".md":
            if PurePosixPath(one.name).name.endswith("MEMORY.md") or self.only == "markdown":
                yield from self._wanted("markdown", _markdown(one))
            return
        values = json_objects.read(one.file, one.name)
        first = next((value for value in values if isinstance(value, dict)), None)
        if first is None:
            return
        rest = chain((first,), (value for value in values if isinstance(value, dict)))
        if imprint.is_part(first):
            raise Unreadable(f"{one.name} {imprint.UNPACKED}.")
        name = _format_of(first)
        if name is None:
            yield Skipped(one.name, "not of a known format")
        else:
            yield from self._wanted(name, self._read(name, one.name, rest))

    def _wanted(self, name: str, records: Iterator[Record]) -> Iterator[Record]:
        if self.only in (None, name):
            self.found.add(name)
            yield from records

    def _read(self, name: str, where: str, values: Iterator[Object]) -> Iterator[Record]:
        if name == "claude-code":
            return _by_line(values, lambda one, _: (claude_code.session_of(one), claude_code.turn(one)))
        if name == "messages":
            return _by_line(values, lambda one, n: (messages.session_of(one, where), messages.turn(one, n)))
        return chain.from_iterable(self._object(name, one, f"{where}#{number}") for number, one in enumerate(values))

    def _object(self, name: str, one: Object, where: str) -> Iterator[Record]:
        if name == "chatgpt":
            if chatgpt.is_saved_list(one):
                return chatgpt.saved_list(one)
            return chatgpt.conversation(one, where, forbidden=self.forbidden)
        if name == "claude":
            if claude_ai.is_memory(one):
                return claude_ai.memory(one)
            return claude_ai.project(one) if claude_ai.is_project(one) else claude_ai.conversation(one, where)
        if name == "mem0":
            page = one.get("results") if stores.is_page(one) else [one]
            return chain.from_iterable(stores.mem0(item, where) for item in page or ())
        return _READERS[name](one, where)


_READERS: Final[dict[str, Callable[[Object, str], Iterator[Record]]]] = {
    "hindsight": stores.hindsight,
    "langgraph": stores.langgraph,
    "locomo": messages.locomo,
}


def _format_of(one: Object) -> str | None:
    """Return the format of a file by its first object."""
    return next((name for name, tests in _SIGNS if any(test(one) for test in tests)), None)


_SIGNS: Final[tuple[tuple[str, tuple[Callable[[Any], bool], ...]], ...]] = (
    ("chatgpt", (chatgpt.is_conversation, chatgpt.is_saved_list)),
    ("claude", (claude_ai.is_conversation, claude_ai.is_memory, claude_ai.is_project)),
    ("claude-code", (claude_code.is_line,)),
    ("hindsight", (stores.is_hindsight,)),
    ("mem0", (stores.is_mem0, stores.is_page)),
    ("langgraph", (stores.is_langgraph,)),
    ("locomo", (messages.is_locomo,)),
    ("messages", (messages.is_event, messages.is_message)),
)
"""Fields that tell the formats apart; the first that fits decides."""


def _by_line(values: Iterator[Object], read: Callable[[Object, int], tuple[str, Turn | None]]) -> Iterator[Record]:
    """Join lines of one session into conversations, of which a long one comes in parts."""
    current, turns, group = "", list[Turn](), None
    for number, one in enumerate(values):
        session, turn = read(one, number)
        if turns and (session != current or len(turns) == PART):
            yield Conversation(current, turns, group=group)
            turns = []
        if turn is not None:
            current, group = session, claude_code.group_of(one)
            turns.append(turn)
    if turns:
        yield Conversation(current, turns, group=group)


def _markdown(one: Opened) -> Iterator[Record]:
    raw = one.file.read(4 * NOTE_CHARACTERS + 1)
    text = raw.decode("utf-8", "replace").replace("\x00", "")
    if len(text) > NOTE_CHARACTERS:
        yield Skipped(one.name, f"a text of over {NOTE_CHARACTERS} characters")
    elif text.strip():
        yield Note(f"markdown/{one.name}", PurePosixPath(one.name).name, text)
