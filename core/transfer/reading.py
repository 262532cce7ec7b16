"""Recognises the format of each file by its entries, and yields their records. FORMATS is the table of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Final

from core.transfer import json_objects, opened
from core.transfer.formats import chatgpt, claude_ai, claude_code, codex, gemini, imprint, messages, stores, trees
from core.transfer.formats.fields import Object, Read, each
from core.transfer.opened import Opened, ReadingAllowance, Unreadable
from core.transfer.records import Conversation, FileEntry, Note, Record, Skipped, SpokenLine, Turn

PART: Final = 500
"""Turns of a conversation that are held at a time where a file has a line for each."""

NOTE_CHARACTERS: Final = 1_000_000
"""Longest Markdown file."""

UNKNOWN: Final = "a file of no known format"
NO_OBJECT: Final = "an entry that is no JSON object"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be imported. A file is of it if any of its entries is; `read` takes all entries of the file."""

    name: str
    recognises: Callable[[Object], bool]
    read: Read


FORMATS: Final = (
    Format("imprint", imprint.is_part, imprint.refuse),
    Format("chatgpt", chatgpt.recognises, each(chatgpt.read)),
    Format("claude", claude_ai.recognises, each(claude_ai.read)),
    Format("claude-code", claude_code.recognises, each(claude_code.read)),
    Format("codex", codex.recognises, codex.read),
    Format("gemini", gemini.recognises, gemini.read),
    Format("open-webui", trees.is_open_webui, each(trees.open_webui)),
    Format("librechat", trees.is_librechat, each(trees.librechat)),
    Format("hindsight", stores.is_hindsight, each(stores.hindsight)),
    Format("mem0", stores.is_mem0, each(stores.mem0)),
    Format("langgraph", stores.is_langgraph, each(stores.langgraph)),
    Format("locomo", messages.is_locomo, each(messages.locomo)),
    Format("messages", messages.recognises, messages.read),
)
"""All formats of JSON; the first that recognises an entry reads it."""

MARKDOWN: Final = "markdown"

NAMES: Final = (*(form.name for form in FORMATS), MARKDOWN)
"""Names of all formats."""


@dataclass(slots=True)
class PathReading:
    """A path that is read, the only format that is taken of it, and the formats that were recognised."""

    path: Path
    only: str | None = None
    include_forbidden: bool = False
    recognised: set[str] = field(default_factory=set)
    allowance: ReadingAllowance = field(default_factory=ReadingAllowance)

    def records(self) -> Iterator[Record]:
        """Yield all records. Unreadable: a file is broken, or nothing is of a known format."""
        for file in opened.files(self.path, self.allowance):
            yield from self._file(file)
        if not self.recognised:
            raise Unreadable(f"Nothing in {self.path} is of a known format ({', '.join(NAMES)}).")

    def _file(self, file: Opened) -> Iterator[Record]:
        if file.suffix == ".md":
            if PurePosixPath(file.name).name.endswith("MEMORY.md") or self.only == MARKDOWN:
                yield from self._taken(MARKDOWN, _markdown(file))
            return
        own = _format_of_file(file)
        if own is None:
            yield Skipped(file.name, UNKNOWN)
            return
        file.file.seek(0)
        others = list[str]()
        for form, entries in groupby(self._entries(file, others), lambda entry: _format_of_entry(entry, own)):
            yield from self._taken(form.name, joined(form.read(entries)))
        if others:
            yield Skipped(others[0], NO_OBJECT, odd=True, number=len(others))

    def _entries(self, file: Opened, others: list[str]) -> Iterator[FileEntry]:
        """Yield the objects of a file; where something else stands is added to `others`."""
        for number, value in enumerate(_values(file)):
            self.allowance.go_on()
            where = f"{file.name}#/{number}"
            if isinstance(value, dict):
                yield FileEntry(where, value, self.include_forbidden)
            else:
                others.append(where if not others else "")

    def _taken(self, name: str, records: Iterator[Record]) -> Iterator[Record]:
        if self.only in (None, name):
            self.recognised.add(name)
            yield from records


def joined(records: Iterable[Record | SpokenLine]) -> Iterator[Record]:
    """Join the lines of one conversation in a row; a long one comes in parts."""
    turns = list[Turn]()
    current: tuple[str, str | None] = "", None
    for record in records:
        if not isinstance(record, SpokenLine):
            yield record
            continue
        if turns and ((record.conversation, record.group) != current or len(turns) == PART):
            yield Conversation(current[0], turns, group=current[1])
            turns = []
        current = record.conversation, record.group
        turns.append(record.turn)
    if turns:
        yield Conversation(current[0], turns, group=current[1])


def _values(file: Opened) -> Iterator[object]:
    """Yield the values of a file; a list of objects is read like an object that holds it as its messages."""
    for value in json_objects.read(file.file, file.name):
        yield {"messages": value} if isinstance(value, list) else value


def _format_of_file(file: Opened) -> Format | None:
    """Return the format of the first entry that is of a known one."""
    formats = (_format_of(value) for value in _values(file) if isinstance(value, dict))
    return next((form for form in formats if form is not None), None)


def _format_of_entry(entry: FileEntry, own: Format) -> Format:
    """Return by which format an entry is read: its own, else that of its file."""
    return own if own.recognises(entry.value) else _format_of(entry.value) or own


def _format_of(value: Object) -> Format | None:
    return next((form for form in FORMATS if form.recognises(value)), None)


def _markdown(file: Opened) -> Iterator[Record]:
    raw = file.file.read(4 * NOTE_CHARACTERS + 1)
    text = raw.decode("utf-8", "replace").replace("\x00", "")
    if len(text) > NOTE_CHARACTERS:
        yield Skipped(file.name, f"a text of over {NOTE_CHARACTERS} characters")
    elif text.strip():
        yield Note(f"markdown/{file.name}", PurePosixPath(file.name).name, text)
