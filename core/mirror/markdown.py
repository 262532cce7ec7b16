"""Markdown file format of the mirror. Pure.

Everything that is not changed is kept byte by byte: `render(parse(text)) == text` for every text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from core.mirror import front_matter as matter
from core.mirror.escaping import PIN, escape, escape_tag, unescape, unescape_tag
from core.mirror.front_matter import Front, UnreadableFile
from core.types import Category, Topic

MEMORY: Final = "memory.md"
LEARNINGS: Final = "learnings.md"
FILES: Final = (MEMORY, LEARNINGS)

LEARNT: Final = frozenset({Category.SKILL, Category.PATTERN, Category.INSTRUCTION})
"""Categories in `learnings.md`: how to do things. Facts and events are in `memory.md`."""

IMPORTANCE: Final = 0.5
"""Importance of a line that does not state one."""

TITLES: Final[Mapping[Category, str]] = {
    Category.FACT: "Facts",
    Category.PREFERENCE: "Preferences",
    Category.KNOWLEDGE: "Knowledge",
    Category.PROJECT: "Projects",
    Category.PATTERN: "Patterns",
    Category.SKILL: "Skills",
    Category.EPISODE: "Episodes",
    Category.EVENT: "Events",
    Category.INSTRUCTION: "Instructions",
    Category.PLAN: "Plans",
}

DECIMALS: Final = 3
"""Decimals of an importance: finer differences have no meaning to people."""

TOPIC_LEVEL = 3

_CATEGORIES = {name: c for c, title in TITLES.items() for name in (title.lower(), c.value)}
_TOPICS = {name: t for t in Topic for name in (t.value, f"{t.value}s")}
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?\n?")
_ITEM = re.compile(r"(\s*)[-*+][ \t]+(.*?)\s*")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\r?\n?")
_TASK = re.compile(r"\[[ xX]\](?:\s|$)")
_GOES_ON = re.compile(r"[ \t]{2,}(?![-*+][ \t]|\d+[.)][ \t])\S.*", re.DOTALL)
_MARK = re.compile(r"(?<!\\)<!--\s*(?P<word>id|not kept):\s*(?P<said>.*?)\s*-->")
_ATTRIBUTES = re.compile(r"(?<!\\)\{([^{}\\]*)\}$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_CONFLICT = re.compile(r"^(?:<{7} |={7}\r?$|>{7} )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """Fields of a memory shown in a line. `importance` is None where it cannot be read."""

    content: str
    importance: float | None = IMPORTANCE
    tags: tuple[str, ...] = ()
    pinned: bool = False
    disputed: bool = False


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Headings above a line; None: a person's own heading, or none."""

    category: Category | None = None
    topic: Topic | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """A line without a memory; it belongs to whoever wrote it."""

    raw: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, and the group of the lines below it."""

    raw: str
    level: int
    group: FilePlace


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """The line of a memory, or one that should become a memory.

    `note`: why it has not become one. `own`: it is in a section of a person's notes, and should not.
    """

    raw: str
    displayed: ShownMemory
    group: FilePlace
    id: UUID | None = None
    note: str | None = None
    own: bool = False


Block = Prose | Heading | MemoryLine


@dataclass(frozen=True, slots=True)
class Document:
    """A file in parts."""

    front: Front
    blocks: tuple[Block, ...]

    @property
    def newline(self) -> str:
        """Return the line ending of the file."""
        return "\r\n" if self.front.raw[0].endswith("\r\n") else "\n"

    def lines(self) -> Iterator[tuple[int, MemoryLine]]:
        """Return the lines of memories with their positions among the blocks."""
        return ((at, block) for at, block in enumerate(self.blocks) if isinstance(block, MemoryLine))


def render(document: Document) -> str:
    return document.front.text() + "".join(block.raw for block in document.blocks)


def parse(text: str) -> Document:
    """Parse a file. UnreadableFile: it is not a mirror file, or contains markers of an unfinished merge."""
    if _CONFLICT.search(text) and len(set(_CONFLICT.findall(text))) > 1:
        raise UnreadableFile("It contains the markers of an unfinished merge (`<<<<<<<`); resolve it first.")
    lines = _LINES.findall(text)
    front, begun = matter.parse(lines)
    return Document(front, tuple(_own(_blocks(lines[begun:]))))


def file_of(category: Category) -> str:
    """Return the file of a new memory of a category."""
    return LEARNINGS if category in LEARNT else MEMORY


def memory_line(displayed: ShownMemory, memory_id: UUID, newline: str = "\n") -> str:
    """Return the line of a memory."""
    pinned = f"{PIN} " if displayed.pinned else ""
    attributes = _attributes(displayed)
    return f"- {pinned}{escape(displayed.content)}{attributes} <!-- id:{memory_id} -->{newline}"


def heading(level: int, title: str, group: FilePlace, newline: str) -> Heading:
    return Heading(f"{'#' * level} {title}{newline}", level, group)


def title_of(topic: Topic) -> str:
    return topic.value.capitalize()


def with_id(line: MemoryLine, memory_id: UUID) -> MemoryLine:
    """Return the line as written, with the id of its memory."""
    return replace(line, raw=_with_mark(line.raw, f"id:{memory_id}"), id=memory_id, note=None)


def with_note(line: MemoryLine, why: str) -> MemoryLine:
    """Return the line as written, with a note why it has no memory."""
    note = " ".join(why.replace("--", "—").replace(">", "›").split())
    return replace(line, raw=_with_mark(line.raw, f"not kept: {note}"), id=None, note=note)


def _with_mark(raw: str, mark: str) -> str:
    bare = _MARK.sub("", raw)
    body = bare.rstrip()
    end = raw[len(raw.rstrip("\r\n")) :] or "\n"
    return f"{body} <!-- {mark} -->{end}"


def _attributes(displayed: ShownMemory) -> str:
    attributes = ["disputed"] if displayed.disputed else []
    if displayed.importance is not None and displayed.importance != IMPORTANCE:
        attributes.append(f"importance={round(displayed.importance, DECIMALS)}")
    if displayed.tags:
        attributes.append(f"tags={','.join(escape_tag(tag) for tag in displayed.tags)}")
    return f" {{{' '.join(attributes)}}}" if attributes else ""


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Return the blocks after the front matter; a wrapped item without an id is one block."""
    group, fenced, at = FilePlace(), _code_lines(lines), 0
    while at < len(lines):
        raw, code = lines[at], at in fenced
        at += 1
        match = None if code else _HEADING.fullmatch(raw)
        if match:
            group = _place_below(group, len(match[1]), match[2])
            yield Heading(raw, len(match[1]), group)
            continue
        if not _MARK.search(raw) and _is_item(raw, code):
            while at < len(lines) and _GOES_ON.fullmatch(lines[at]) and not _MARK.search(raw):
                raw += lines[at]
                at += 1
        yield _line(raw, group, code) or Prose(raw)


def _code_lines(lines: Sequence[str]) -> set[int]:
    """Return the lines within code blocks; an unclosed fence does not count, since it would swallow the file."""
    fences = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    pairs = zip(fences[::2], fences[1::2], strict=False)
    return {at for begin, end in pairs for at in range(begin, end + 1)}


def _is_item(raw: str, fenced: bool) -> bool:
    """Return whether it is an unindented list item of the kind that may become a memory."""
    match = _ITEM.fullmatch(raw.split("\n", 1)[0])
    return not fenced and match is not None and not match[1] and not _RULE.fullmatch(raw) and not _TASK.match(match[2])


def _line(raw: str, group: FilePlace, fenced: bool) -> MemoryLine | None:
    """Parse a list item as the line of a memory; with an id it is one anywhere."""
    marks = {match["word"]: match["said"] for match in _MARK.finditer(raw)}
    body = " ".join(part.strip() for part in _MARK.sub(" ", raw).splitlines() if part.strip())
    match = _ITEM.fullmatch(body) or (re.fullmatch(r"()[-*+]()", body) if "id" in marks else None)
    if match is None or not ("id" in marks or _is_item(raw, fenced)):
        return None
    displayed = _parse_body(match[2])
    if not displayed.content and "id" not in marks:
        return None
    return MemoryLine(raw, displayed, group, _id(marks.get("id", "")), marks.get("not kept"))


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _parse_body(body: str) -> ShownMemory:
    pinned = body.startswith(PIN)
    body = body.removeprefix(PIN).removeprefix("\ufe0f").lstrip() if pinned else body
    match = _ATTRIBUTES.search(body)
    attributes = _read_attributes(match[1]) if match else None
    if match is None or attributes is None:
        return ShownMemory(unescape(body), pinned=pinned)
    content = unescape(body[: match.start()].rstrip())
    return ShownMemory(
        content, attributes.importance, attributes.tags, pinned or attributes.pinned, attributes.disputed
    )


def _read_attributes(text: str) -> ShownMemory | None:
    """Parse the braces at the end of a line; None: they belong to the statement."""
    attributes: dict[str, str] = {}
    for attribute in text.split():
        key, _, value = attribute.partition("=")
        attributes[key] = value
    if not attributes or not attributes.keys() <= {"pinned", "disputed", "importance", "tags"}:
        return None
    tags = tuple(tag for part in attributes.get("tags", "").split(",") if (tag := unescape_tag(part)))
    importance = _share(attributes["importance"]) if "importance" in attributes else IMPORTANCE
    return ShownMemory("", importance, tags, "pinned" in attributes, "disputed" in attributes)


def _share(text: str) -> float | None:
    return float(text) if re.fullmatch(r"0(?:\.\d+)?|1(?:\.0+)?|\.\d+", text) else None


def _place_below(before: FilePlace, level: int, title: str) -> FilePlace:
    """Return the group of the lines below a heading."""
    name = title.strip().rstrip(":").lower()
    if level < TOPIC_LEVEL:
        category = _CATEGORIES.get(name)
        return FilePlace(category, Topic.OTHER if category else None)
    if level == TOPIC_LEVEL:
        return FilePlace(before.category, _TOPICS.get(name) if before.category else None)
    return before


def _own(blocks: Iterator[Block]) -> Iterator[Block]:
    """Mark the items of a person's own sections: outside of groups, below a heading, without memories."""
    sections: list[list[Block]] = [[]]
    for block in blocks:
        if isinstance(block, Heading) and block.level < TOPIC_LEVEL:
            sections.append([])
        sections[-1].append(block)
    for section in sections:
        head = section[0] if section else None
        notes = isinstance(head, Heading) and head.level > 1 and head.group.category is None
        notes = notes and not any(isinstance(block, MemoryLine) and block.id for block in section)
        for block in section:
            yield replace(block, own=True) if notes and isinstance(block, MemoryLine) else block
