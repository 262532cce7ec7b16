"""Structure-aware chunking. Pure.

A passage never crosses a top-level heading. A paragraph, list, table or code block stays whole if it fits;
otherwise it is cut between lines or sentences, then between words, then anywhere except within a grapheme.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from markdown_it import MarkdownIt
from markdown_it.token import Token
from numpy.typing import NDArray

MediaType = Literal["text/markdown", "text/plain"]

MARKDOWN: Final[MediaType] = "text/markdown"
PLAIN: Final[MediaType] = "text/plain"

MOST_LINES: Final = 200_000
"""Lines above which Markdown is read as plain text: its parser takes up to 25 µs for each, so 5 s."""

HEADING_CHARACTERS: Final = 200
"""Maximum characters of a heading above passages, and of a title taken from the text."""

TITLE_READ: Final = 64 * 1024
"""Characters at the beginning in which a title is looked for."""

ASCII: Final = 128


@dataclass(frozen=True, slots=True)
class Chunk:
    """`content[start:end]` of a document, under these headings; `position` counts from 1 in reading order."""

    position: int
    headings: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Block:
    """Text from `start` up to the next block, under `path`. `lines`: it is structured by lines, not by sentences."""

    start: int
    path: tuple[str, ...]
    heading: bool = False
    lines: bool = False


def split(content: str, media_type: MediaType, tokens: int) -> list[Chunk]:
    """Return the passages of a document in order, each of at most `tokens` by `core.language.terms.token_estimate`.

    Every non-blank character is in exactly one of them.
    """
    blocks = _blocks(content, media_type)
    cutter = _Cutter(content, blocks, tokens)
    ranges = [span for start, end in _sections(content, blocks) for span in cutter.cut(start, end)]
    return [Chunk(n, cutter.path(start, end), start, end) for n, (start, end) in enumerate(ranges, 1)]


def guess_media_type(content: str) -> MediaType:
    """Return Markdown if the text has a heading, fence, table, link or front matter; else plain text."""
    return MARKDOWN if _MARKED.search(content) else PLAIN


def title_of(content: str, media_type: MediaType) -> str:
    """Return the document's title: from its front matter, its first heading, or its first words."""
    front = _FRONT.match(content) if media_type == MARKDOWN else None
    named = _TITLE.search(front[0]) if front else None
    if named:
        return _shorten(named[1].strip("\"' "))
    blocks = _blocks(content[:TITLE_READ], media_type)
    headings = (block.path[-1] for block in blocks if block.heading and block.path[-1])
    return next(headings, None) or _shorten(_first_words(content))


def _first_words(content: str) -> str:
    match = _WORDS.search(content)
    return match[0] if match else ""


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= HEADING_CHARACTERS else text[: HEADING_CHARACTERS - 1] + "…"


def _blocks(content: str, media_type: MediaType) -> list[_Block]:
    """Return all blocks in order; text between two blocks belongs to the first."""
    bom = int(content.startswith("\ufeff"))
    begin = max(content.rfind("\n", 0, _after_blanks(content, bom, len(content))) + 1, bom)
    if media_type == MARKDOWN and content.count("\n") + content.count("\r") <= MOST_LINES:
        return _markdown_blocks(content, begin)
    return [_Block(begin, ()), *(_Block(gap.end(), ()) for gap in _GAP.finditer(content, begin))]


def _markdown_blocks(content: str, begin: int) -> list[_Block]:
    """Return the top-level Markdown blocks with the headings above each."""
    front = _FRONT.match(content, begin)
    blocks = [_Block(begin, (), lines=True)] if front else []
    begin = front.end() if front else begin
    starts = [begin, *(line.end() for line in _LINE.finditer(content, begin))]
    over: list[tuple[int, str]] = []
    tokens = _parser().parse(content[begin:])
    for at, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        start = starts[token.map[0]]
        is_item = _ITEM.match(content, start) is not None
        heading = token.type == "heading_open" and not is_item
        if heading:
            level = int(token.tag[1])
            over = [*((n, title) for n, title in over if n < level), (level, _heading(tokens[at + 1]))]
        by_lines = is_item or token.type != "paragraph_open"
        blocks.append(_Block(start, tuple(title for _, title in over), heading, lines=by_lines))
    return blocks if blocks and blocks[0].start <= begin else [_Block(begin, ()), *blocks]


def _after_blanks(content: str, start: int, end: int) -> int:
    match = _BLANK.match(content, start, end)
    return match.end() if match else start


def _heading(inline: Token) -> str:
    """Return the text of a heading without its markup."""
    return _shorten(_SIGNS.sub("", _LINK.sub(r"\1", inline.content)))


def _parser() -> MarkdownIt:
    """Return a parser of blocks only. Lists and tables are found by their lines: parsing them costs ten times more."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.disable(["list", "reference"])


def _sections(content: str, blocks: Sequence[_Block]) -> Iterator[tuple[int, int]]:
    starts = [blocks[0].start, *(b.start for b in blocks[1:] if b.heading and len(b.path) == 1), len(content)]
    return pairwise(starts)


class _Cutter:
    """Cuts ranges of one document into passages."""

    def __init__(self, content: str, blocks: Sequence[_Block], tokens: int) -> None:
        self._content = content
        self._blocks = blocks
        self._starts = [block.start for block in blocks]
        self._tokens = tokens
        wide = np.frombuffer(content.encode("utf-32-le", "surrogatepass"), dtype=np.uint32) >= ASCII
        self._wide: NDArray[np.int32] = np.concatenate(([0], np.cumsum(wide))).astype(np.int32)

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Return the passages of a range without surrounding blank lines."""
        while (start := self._begin(start, end)) < end:
            stop = self._stop(start, end)
            yield start, start + len(self._content[start:stop].rstrip(_BLANKS))
            start = stop

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """Return the headings that apply to all of a passage; headings within it apply only to what follows them."""
        first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, end)
        shared, begins = self._blocks[first].path, self._blocks[first].heading
        for block in self._blocks[first + 1 : last]:
            begins = begins and block.heading and shared == block.path[: len(shared)]
            while shared != block.path[: len(shared)]:
                shared = shared[:-1]
            shared = block.path if begins else shared
        return shared

    def _begin(self, start: int, end: int) -> int:
        """Return the position of the first non-blank character, or of its indentation at the beginning of a line."""
        first = _after_blanks(self._content, start, end)
        line = max(self._content.rfind("\n", 0, first) + 1, start)
        whole = line == 0 or self._content[line - 1] == "\n"
        return line if whole and first < end and self._estimate(line, first + 1) <= self._tokens // 2 else first

    def _stop(self, start: int, end: int) -> int:
        """Return the best end of a passage that begins at `start`."""
        furthest = self._furthest(start, end)
        if _after_blanks(self._content, furthest, end) >= end:
            return end
        half = start + (furthest - start) // 2
        index = bisect_right(self._starts, furthest) - 1
        block = self._starts[index]
        after = self._starts[index + 1] if index + 1 < len(self._starts) else end
        if block > start and (block > half or self._fits(block, min(after, end))):
            return self._between(start, half, index)
        return self._within(start, half, furthest, lines=self._blocks[index].lines)

    def _fits(self, start: int, end: int) -> bool:
        return self._furthest(start, end) >= end

    def _between(self, start: int, half: int, index: int) -> int:
        """Return a boundary before the block at `index`, or before a heading above it, which stays with its text."""
        for at in range(index, 0, -1):
            if self._starts[at] <= start:
                break
            if self._blocks[at].heading and not self._blocks[at - 1].heading and self._starts[at] > half:
                return self._starts[at]
        first = index
        while self._blocks[first - 1].heading and self._starts[first - 1] > start:
            first -= 1
        return self._starts[index if self._blocks[first - 1].heading else first]

    def _within(self, start: int, half: int, furthest: int, *, lines: bool) -> int:
        """Return a boundary within a block: after the last line, sentence, clause or word that leaves at least half."""
        for pattern in _BY_LINES if lines else _BY_SENTENCES:
            ends = [match.end() for match in pattern.finditer(self._content, half, furthest)]
            if ends and ends[-1] > start:
                return ends[-1]
        stop = furthest
        while stop > start and _is_one_grapheme(self._content[stop - 1], self._content[stop]):
            stop -= 1
        return stop if stop > start else furthest

    def _furthest(self, start: int, end: int) -> int:
        """Return the last position at which a passage from `start` still fits."""
        last = min(end, start + 4 * self._tokens)
        return start + bisect_right(range(start + 1, last + 1), self._tokens, key=lambda to: self._estimate(start, to))

    def _estimate(self, start: int, end: int) -> int:
        """Estimate tokens like `core.language.terms.token_estimate`, without reading the text again."""
        wide = int(self._wide[end] - self._wide[start])
        return -(-(end - start - wide) // 4) + wide


def _is_one_grapheme(before: str, after: str) -> bool:
    return (
        before + after == "\r\n"
        or _JOINER in (before, after)
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


_JOINER = "\u200d"
_BLANKS = " \t\n\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_BLANKS += "\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
_BLANK = re.compile(f"[{_BLANKS}]*")
_WORDS = re.compile(rf"[^{_BLANKS}][^\r\n]{{0,{HEADING_CHARACTERS}}}")
_LINE = re.compile(r"\r\n?|\n")
_GAP = re.compile(r"(?:\r\n?|\n)(?:[ \t\f\v\u3000]*(?:\r\n?|\n))+")
_FRONT = re.compile(r"---[ \t]*(?:\r\n?|\n)(?:.*?(?:\r\n?|\n))??(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(\S[^\r\n]*)", re.MULTILINE | re.IGNORECASE)
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|[^\r\n]*\|", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_SIGNS = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)")
_MARKED = re.compile(
    r"\A\ufeff?---[ \t]*$|^ {0,3}#{1,6}[ \t]+\S|^ {0,3}(?:```|~~~)|^ *(?:[|:][ :]*)?-{3,}[ :]*\||\]\([^\s()]+\)",
    re.MULTILINE,
)
_GAPS = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)\s*")
_SENTENCE = re.compile(r"[.!?…][\"')\]”’]*\s+|[。！？；…][”’」』）】]*\s*")
_CLAUSE = re.compile(r"[,;:]\s+|[，、：]\s*|\s[–—]\s")
_WORD = re.compile(r"\s+|[\u200b]")
_BY_LINES = (_GAPS, _LINE, _SENTENCE, _CLAUSE, _WORD)
_BY_SENTENCES = (_GAPS, _SENTENCE, _LINE, _CLAUSE, _WORD)
"""Boundaries at which a block may be cut, best first."""
