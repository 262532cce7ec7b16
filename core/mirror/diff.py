"""Three-way diff of a file. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from core.mirror import markdown
from core.mirror.arrangement import Memory, changed_fields
from core.mirror.escaping import words
from core.mirror.markdown import Block, Document, MemoryLine
from core.screening import screen
from core.types import Status

Outcome = UUID | str | MemoryLine | None
"""Result of a line: the id of its memory, a note why it has none, other text, or None to remove it."""


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line and its position."""

    file: str
    at: int
    line: MemoryLine


@dataclass(frozen=True, slots=True)
class Edited:
    """The line of a memory differs from before. `fields`: in which fields."""

    memory: Memory
    item: FileLine
    fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class Clash:
    """Both sides changed a memory. `kept`: the side whose wording is in force; the other's is in its history.

    Both: the database had archived it in the meantime, and the file's wording became a separate statement.
    """

    memory: Memory
    file: str
    kept: Literal["file", "database", "both"]


@dataclass(slots=True)
class Findings:
    """A person's edits. `documents`: the files with the ids known so far."""

    edited: list[Edited] = field(default_factory=list)
    removed: list[tuple[Memory, str]] = field(default_factory=list)
    restored: list[tuple[Memory, str]] = field(default_factory=list)
    new: list[FileLine] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Return whether a person has edited anything that counts."""
        return bool(self.edited or self.removed or self.restored or self.new)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A current line with its earlier line, and the memory they belong to."""

    now: FileLine
    then: FileLine | None
    id: UUID | None


def compare(
    then: Mapping[str, Document],
    now: Mapping[str, Document],
    memories: Mapping[UUID, Memory],
    versions: Mapping[UUID, int],
) -> Findings:
    """Compare the lines with the agreed state.

    `then`: the files as both sides last agreed on them. `memories`: the active ones and those that a line names.
    `versions`: of each memory when its line was agreed on.
    """
    pairs = _pair_lines(_items(then), _items(now))
    findings = Findings(documents=dict(now))
    for pair in pairs:
        _judge(pair, memories.get(pair.id) if pair.id else None, versions, findings)
    seen = {pair.id for pair in pairs}
    gone = {i.line.id: i for i in _items(then) if i.line.id is not None and i.line.id not in seen}
    for memory_id, item in gone.items():
        _judge_gone(item, memories.get(memory_id), versions, findings)
    _mark(pairs, findings)
    return findings


def attach_ids(documents: Mapping[str, Document], outcomes: Sequence[tuple[FileLine, Outcome]]) -> dict[str, Document]:
    """Return the files with the results of new lines."""
    blocks = {file: list[Block | None](document.blocks) for file, document in documents.items()}
    for item, outcome in outcomes:
        match outcome:
            case UUID():
                blocks[item.file][item.at] = markdown.with_id(item.line, outcome)
            case str():
                blocks[item.file][item.at] = markdown.with_note(item.line, outcome)
            case MemoryLine() | None:
                blocks[item.file][item.at] = outcome
    return {
        file: replace(document, blocks=tuple(block for block in blocks[file] if block is not None))
        for file, document in documents.items()
    }


def _items(documents: Mapping[str, Document]) -> list[FileLine]:
    return [FileLine(file, at, line) for file, document in documents.items() for at, line in document.lines()]


def _pair_lines(then: Sequence[FileLine], now: Sequence[FileLine]) -> list[_Pair]:
    """Pair each current line with an earlier one: by id, the first of several; else by text, ignoring secrets."""
    first: dict[UUID, FileLine] = {}
    for item in now:
        if item.line.id is not None:
            first.setdefault(item.line.id, item)
    agreed: dict[UUID, FileLine] = {}
    rest = defaultdict[str, deque[FileLine]](deque)
    for item in then:
        if item.line.id in first and item.line.id not in agreed:
            agreed[item.line.id] = item
        else:
            rest[words(item.line.displayed.content)].append(item)
    pairs = []
    for item in now:
        mine = item.line.id if item.line.id is not None and first[item.line.id] is item else None
        if mine is not None and mine in agreed:
            pairs.append(_Pair(item, agreed[mine], mine))
            continue
        # Also with an id that was not agreed on: a line that has become another memory still has its old one.
        content = item.line.displayed.content
        alike = rest[words(content)] or (deque() if mine else rest[words(screen.screen(content).text)])
        before = alike.popleft() if alike else None
        pairs.append(_Pair(item, before, before.line.id if before else mine))
    return pairs


def _judge(pair: _Pair, memory: Memory | None, versions: Mapping[UUID, int], findings: Findings) -> None:
    """Record the meaning of a current line."""
    line = pair.now.line
    if pair.id is None:
        if pair.then is None and not line.own:
            findings.new.append(pair.now)
        return
    if memory is not None and memory.standing:
        _judge_standing(pair, memory, versions, findings)
    elif pair.then is None and memory is not None and _came_back(line, memory):
        findings.restored.append((memory, pair.now.file))
    elif line.displayed.content and (
        pair.then is None or "content" in changed_fields(line.displayed, pair.then.line.displayed)
    ):
        findings.new.append(pair.now)
        if memory is not None and pair.then is not None:
            findings.clashes.append(Clash(memory, pair.now.file, "both"))


def _came_back(line: MemoryLine, memory: Memory) -> bool:
    """Return whether a new line repeats its archived memory, so that a deletion was reverted."""
    return memory.status == Status.ARCHIVED and "content" not in changed_fields(line.displayed, memory.displayed)


def _judge_standing(pair: _Pair, memory: Memory, versions: Mapping[UUID, int], findings: Findings) -> None:
    now, then = pair.now.line, pair.then.line if pair.then else None
    if not now.displayed.content:
        findings.removed.append((memory, pair.now.file))
        return
    fields = changed_fields(now.displayed, then.displayed if then else memory.displayed) & changed_fields(
        now.displayed, memory.displayed
    )
    fields |= _moved_fields(now, then, memory)
    if not fields:
        return
    findings.edited.append(Edited(memory, pair.now, fields))
    overruled = changed_fields(then.displayed, memory.displayed) & fields if then else frozenset()
    if overruled and memory.version != versions.get(memory.id):
        findings.clashes.append(Clash(memory, pair.now.file, "file"))


def _moved_fields(now: MemoryLine, then: MemoryLine | None, memory: Memory) -> frozenset[str]:
    """Return whether a line was put under other headings that contradict the database."""
    if then is None:
        return frozenset()
    return frozenset(
        name
        for name in ("category", "topic")
        if getattr(now.group, name) not in {None, getattr(then.group, name), getattr(memory.group, name)}
    )


def _judge_gone(item: FileLine, memory: Memory | None, versions: Mapping[UUID, int], findings: Findings) -> None:
    """Record a deleted line; a memory reworded since is not the one that the person saw, and stays."""
    if memory is None or not memory.standing:
        return
    unseen = "content" in changed_fields(item.line.displayed, memory.displayed)
    if unseen and memory.version != versions.get(memory.id):
        findings.clashes.append(Clash(memory, item.file, "database"))
    else:
        findings.removed.append((memory, item.file))


def _mark(pairs: Sequence[_Pair], findings: Findings) -> None:
    """Restore ids and notes of lines that an editor lost, or that are not in the file yet."""
    fresh = {(item.file, item.at) for item in findings.new}
    outcomes: list[tuple[FileLine, Outcome]] = []
    for pair in pairs:
        line, before = pair.now.line, pair.then.line if pair.then else None
        if (pair.now.file, pair.now.at) in fresh or before is None:
            continue
        if before.id is not None and line.id != before.id:
            outcomes.append((pair.now, before.id))
        elif before.note is not None and line.raw != before.raw:
            outcomes.append((pair.now, before))
    findings.documents = attach_ids(findings.documents, outcomes)
