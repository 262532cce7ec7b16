"""Places memories in files. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from core.mirror import front_matter as matter
from core.mirror import markdown
from core.mirror.escaping import inert, words
from core.mirror.markdown import (
    DECIMALS,
    FILES,
    LEARNINGS,
    TITLES,
    TOPIC_LEVEL,
    Block,
    Document,
    FilePlace,
    Heading,
    MemoryLine,
    Prose,
    ShownMemory,
)
from core.types import Category, Topic

CATEGORY_LEVEL = 2

_INTRODUCTION: Final = (
    "One line is one memory. Change, move, add or delete lines: what you save is taken over, and yours wins. "
    "The id at the end of a line stays."
)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as stored in the database. `standing`: it is active, so it has a line."""

    id: UUID
    version: int
    displayed: ShownMemory
    group: FilePlace
    standing: bool = True
    status: str = "active"
    subject: str = ""
    key: str = ""
    attribute: str | None = None
    value: str | None = None


def changed_fields(first: ShownMemory, second: ShownMemory) -> frozenset[str]:
    """Return the fields in which two lines differ; spaces, order of tags and unreadable values do not count."""
    if first == second:
        return frozenset()
    fields = {name for name in ("pinned", "disputed") if getattr(first, name) != getattr(second, name)}
    if first.content != second.content and words(first.content) != words(second.content):
        fields.add("content")
    if set(first.tags) != set(second.tags):
        fields.add("tags")
    if None not in {first.importance, second.importance} and _round_importance(first) != _round_importance(second):
        fields.add("importance")
    return frozenset(fields)


def _round_importance(displayed: ShownMemory) -> float:
    return round(displayed.importance or 0, DECIMALS)


def fresh(file: str, names: Mapping[str, str]) -> Document:
    """Return a file without memories. `names`: values of its front matter."""
    title = "Learnings" if file == LEARNINGS else "Memory"
    text = f"\n# {title} of {inert(names['user'])}\n\n<!-- {_INTRODUCTION} -->\n"
    return markdown.parse(matter.fresh(names).text() + text)


def arrange(documents: Mapping[str, Document], memories: Mapping[UUID, Memory]) -> dict[str, Document]:
    """Return the files with one line for each standing memory and none for any other.

    A line that matches its memory stays as it was written, where it is. One whose memory belongs under other known
    headings moves there; a memory without a line is added at the end of its group.
    """
    standing = {memory.id: memory for memory in memories.values() if memory.standing}
    kept = _lines_to_keep(documents, standing)
    cleared = {file: _clear(document, file, kept, standing) for file, document in documents.items()}
    missing = defaultdict[str, list[Memory]](list)
    for memory in sorted(standing.values(), key=lambda memory: memory.id.int):
        if memory.id not in kept:
            missing[_home(cleared, memory.group.category)].append(memory)
    return {file: _with_all(document, missing[file]) for file, document in cleared.items()}


def memory_count(document: Document) -> int:
    """Return the number of memories with a line in a file."""
    return sum(line.id is not None for _, line in document.lines())


def _lines_to_keep(documents: Mapping[str, Document], standing: Mapping[UUID, Memory]) -> dict[UUID, tuple[str, int]]:
    """Return the line that each memory keeps: the first in the memory's own group, else the first elsewhere.

    None if all of its lines are in other known groups.
    """
    best: dict[UUID, tuple[bool, str, int]] = {}
    for file, document in documents.items():
        for at, line in document.lines():
            memory = standing.get(line.id) if line.id else None
            if memory is None or not _fits(line.group, memory.group):
                continue
            exact = line.group == memory.group
            if memory.id not in best or (exact and not best[memory.id][0]):
                best[memory.id] = exact, file, at
    return {memory_id: (file, at) for memory_id, (_, file, at) in best.items()}


def _fits(line: FilePlace, memory: FilePlace) -> bool:
    """Return whether a line may stay: no heading above it contradicts its memory."""
    return line.category in {None, memory.category} and line.topic in {None, memory.topic}


def _clear(
    document: Document, file: str, kept: Mapping[UUID, tuple[str, int]], standing: Mapping[UUID, Memory]
) -> Document:
    """Return the file without lines to remove, and without headings that this leaves empty."""
    blocks, emptied = list[Block](), set[FilePlace]()
    for at, block in enumerate(document.blocks):
        if not isinstance(block, MemoryLine) or block.id is None:
            blocks.append(block)
        elif kept.get(block.id) == (file, at):
            blocks.append(_refresh(block, standing[block.id], document.newline))
        else:
            emptied |= {block.group, replace(block.group, topic=Topic.OTHER)}
    for group in sorted(emptied, key=lambda group: group.topic is Topic.OTHER):
        blocks = _without_bare(blocks, group)
    return replace(document, blocks=tuple(blocks))


def _refresh(line: MemoryLine, memory: Memory, newline: str) -> MemoryLine:
    if not changed_fields(line.displayed, memory.displayed):
        return line
    raw = markdown.memory_line(memory.displayed, memory.id, newline)
    return MemoryLine(raw, memory.displayed, line.group, memory.id)


def _without_bare(blocks: list[Block], group: FilePlace) -> list[Block]:
    """Return the blocks without group headings that have nothing below them."""
    if group.category is None or group.topic is None:
        return blocks
    bare = set[int]()
    for at, block in enumerate(blocks):
        if not isinstance(block, Heading) or block.group != group:
            continue
        end = next((n for n in range(at + 1, len(blocks)) if not _is_blank(blocks[n])), len(blocks))
        following = blocks[end] if end < len(blocks) else None
        if following is None or (isinstance(following, Heading) and following.level <= block.level):
            bare |= set(range(at, end))
    return [block for at, block in enumerate(blocks) if at not in bare]


def _is_blank(block: Block) -> bool:
    return isinstance(block, Prose) and not block.raw.strip()


def _home(documents: Mapping[str, Document], category: Category | None) -> str:
    """Return the file that has the heading of a category, else its default file."""
    meant = markdown.file_of(category or Category.FACT)
    for file in sorted(documents, key=lambda name: (name != meant, FILES.index(name))):
        if any(isinstance(b, Heading) and b.group.category is category for b in documents[file].blocks):
            return file
    return meant


def _with_all(document: Document, memories: Sequence[Memory]) -> Document:
    """Return the file with these memories at the ends of their groups; new groups come in the usual order."""
    groups = defaultdict[FilePlace, list[Block]](list)
    newline = document.newline
    for memory in memories:
        raw = markdown.memory_line(memory.displayed, memory.id, newline)
        groups[memory.group].append(MemoryLine(raw, memory.displayed, memory.group, memory.id))
    blocks = list(document.blocks)
    if groups and blocks and not blocks[-1].raw.endswith("\n"):
        blocks[-1] = replace(blocks[-1], raw=blocks[-1].raw + newline)
    for group in sorted(groups, key=_order):
        _insert(blocks, group, groups[group], newline)
    return replace(document, blocks=tuple(blocks))


def _order(group: FilePlace) -> tuple[int, int]:
    topic = group.topic or Topic.OTHER
    category = group.category or Category.FACT
    return list(TITLES).index(category), -1 if topic is Topic.OTHER else list(Topic).index(topic)


def _insert(blocks: list[Block], group: FilePlace, lines: Sequence[Block], newline: str) -> None:
    at = _end_of_lines(blocks, group)
    if at is not None:
        blocks[at:at] = lines
        return
    headed = [n for n, block in enumerate(blocks) if isinstance(block, Heading) and block.group == group]
    if headed:
        _put(blocks, _end_of_body(blocks, headed[-1] + 1), lines, newline)
        return
    own = [*_headings(group, newline, blocks), *lines]
    _put(blocks, _begin_of_new(blocks, group), own, newline)


def _put(blocks: list[Block], at: int, lines: Sequence[Block], newline: str) -> None:
    """Insert text between existing lines, with an empty line on both sides."""
    before = [Prose(newline)] * (at > 0 and not _is_blank(blocks[at - 1]))
    after = [Prose(newline)] * (at < len(blocks) and not _is_blank(blocks[at]))
    blocks[at:at] = [*before, *lines, *after]


def _headings(group: FilePlace, newline: str, blocks: Iterable[Block]) -> Iterator[Block]:
    category = group.category or Category.FACT
    if not any(isinstance(b, Heading) and b.group.category is category for b in blocks):
        yield markdown.heading(CATEGORY_LEVEL, TITLES[category], FilePlace(category, Topic.OTHER), newline)
        yield Prose(newline)
    if group.topic and group.topic is not Topic.OTHER:
        yield markdown.heading(TOPIC_LEVEL, markdown.title_of(group.topic), group, newline)
        yield Prose(newline)


def _end_of_lines(blocks: Sequence[Block], group: FilePlace) -> int | None:
    """Return the position after the last line of a group and its indented continuation; None: it has none."""
    last = next((n for n in range(len(blocks) - 1, -1, -1) if _is_line_of(blocks[n], group)), None)
    if last is None:
        return None
    at = last + 1
    while at < len(blocks) and isinstance(blocks[at], Prose) and blocks[at].raw[:1] in " \t" and blocks[at].raw.strip():
        at += 1
    return at


def _is_line_of(block: Block, group: FilePlace) -> bool:
    return isinstance(block, MemoryLine) and block.group == group


def _end_of_body(blocks: Sequence[Block], begin: int, level: int = 6) -> int:
    """Return where the text below a heading ends, before the next one of its level or above; blank lines excluded."""
    end = next(
        (n for n in range(begin, len(blocks)) if (b := blocks[n]) and isinstance(b, Heading) and b.level <= level),
        len(blocks),
    )
    while end > begin and _is_blank(blocks[end - 1]):
        end -= 1
    return end


def _begin_of_new(blocks: Sequence[Block], group: FilePlace) -> int:
    """Return where a new group goes: into its category, before the next usual category, or to the end."""
    heads = [(n, b) for n, b in enumerate(blocks) if isinstance(b, Heading) and b.level < TOPIC_LEVEL]
    category_heads = [(n, b.group.category) for n, b in heads if b.group.category]
    mine = [n for n, category in category_heads if category is group.category]
    if mine:
        return _end_of_body(blocks, mine[-1] + 1, CATEGORY_LEVEL)
    order = _order(FilePlace(group.category, Topic.OTHER))
    later = [n for n, category in category_heads if _order(FilePlace(category, Topic.OTHER)) > order]
    if later:
        return later[0]
    return _end_of_body(blocks, category_heads[-1][0] + 1, CATEGORY_LEVEL) if category_heads else len(blocks)
