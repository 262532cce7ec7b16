"""Shortens tool results. Pure.

JSON stays JSON (`json_pruning`). Of any other text whole lines are kept: errors and their surroundings, lines about
the query, definitions, lines with figures, the beginning and the end. Each gap says how much is missing.
"""

from __future__ import annotations

import math
import re
from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import chain, pairwise
from typing import Final

from core.context.json_pruning import MARK, parse_json, smaller
from core.inference.token_counting import Counter, cut
from core.language import languages
from core.language.lazy_regex import either
from core.language.terms import terms

WIDTH: Final = 200
"""Characters of the pieces into which a longer line is cut: a screen line or two."""

ENDS: Final = 3
"""Lines at each end that count as such: a heading or a command here, a total or a result there."""

ANSWER: Final = 8.0
"""Weight of a query term that occurs in one line alone; as much as an error."""

_FORMS: Final = [language.context for language in languages.ALL if language.context]
_ERROR: Final = either(forms.error for forms in _FORMS)
_WARNING: Final = either(forms.warning for forms in _FORMS)
_DEFINED: Final = re.compile(
    r"\s*(?:(?:async|export|public|private|static|pub)\s+)*(?:def|class|function|func|fn|interface|struct|CREATE|SELECT"
    r"|import|from|#+)\s"
)
_FIGURE: Final = re.compile(r"\d")
_RULE: Final = re.compile(r"[\s|+:=_*-]*")
_TAG: Final = re.compile(r"<[^<>]*>")
_MARKUP: Final = re.compile(
    r"</?(?:html|head|body|div|span|p|a|ul|li|table|tr|td|script|style|meta|h[1-6]|br)\b", re.IGNORECASE
)
_HIDDEN: Final = ("script", "style", "noscript", "svg", "template")
_BREAKING: Final = re.compile(r"</?(?:p|div|br|li|tr|h[1-6]|table|ul|ol|section|article|pre)\b", re.IGNORECASE)
_MARKED: Final = 10
"""Tags from which a text counts as markup."""

_SAME: Final = re.compile(r"0x[0-9a-f]+|\d+|\s+", re.IGNORECASE)
"""Differences between lines that a program prints again and again."""


LONGEST_TOKEN: Final = 256
"""Longest token in characters: a run of blanks. A text longer by that factor exceeds the limit uncounted."""

READ: Final = 100_000
"""Characters read of each end of a long result: a request waits for it."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """A result as shown. `left_out`: what is missing, in words; empty if it is whole."""

    text: str
    tokens: int
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, or a part of a long one. `line`: which, from 0."""

    line: int
    text: str


def shorten(result: str, limit: int, counter: Counter, query: str = "", whole: str = "") -> Shortened:
    """Shorten a tool result to `limit` tokens: structure, errors, numbers, both ends, and what `query` speaks of.

    `whole`: how the agent gets the full text (`GET /v1/…`), for the note about what is
    left out. The same arguments always give the same text; a result within the limit comes back as it is.
    """
    if len(result) <= limit * LONGEST_TOKEN and (tokens := counter.count(result)) <= limit:
        return Shortened(result, tokens)
    if len(result) > 2 * READ:
        result = f"{result[:READ]}\n{result[-READ:]}"
    way = f"; the full text: {whole}" if whole else ""
    query_terms = frozenset(terms(query))
    for text, left_out in chain(
        _as_json(result, way, query_terms, limit, counter), _as_text(result, way, query_terms, limit, counter)
    ):
        tokens = counter.count(text)
        if tokens <= limit:
            return Shortened(text, tokens, left_out)
    text = cut(result, limit, counter)
    return Shortened(text, counter.count(text), f"{len(result) - len(text)} of {len(result)} characters")


def _as_json(
    result: str, way: str, query_terms: frozenset[str], limit: int, counter: Counter
) -> Iterator[tuple[str, str]]:
    """Return the largest JSON that has room, if the result is JSON."""
    value = parse_json(result)
    if value is None:
        return
    summary = f"parts of {len(result)} characters of JSON"
    for text in smaller(
        value,
        f"{summary} left out{way}",
        lambda part: len(query_terms.intersection(terms(part))) + 2 * bool(_ERROR.search(part)),
    ):
        if counter.count(text) <= limit:
            yield text, summary
            return


def _as_text(
    result: str, way: str, query_terms: frozenset[str], limit: int, counter: Counter
) -> Iterator[tuple[str, str]]:
    """Return the highest scored lines, fewer and fewer; sizes that surely have no room are skipped."""
    readable = _readable(result)
    pieces = list(_pieces(readable))
    if readable != result and counter.count(readable) <= limit:
        yield f"{readable}\n[markup left out{way}]", "markup"
    ranked = _rank_pieces(pieces, query_terms)
    room, taken = limit, 0
    for position in ranked:
        room -= max(1, counter.count(pieces[position].text) * 3 // 4)
        if room < 0:
            break
        taken += 1
    while taken:
        kept = sorted(ranked[:taken])
        left_out = _left_out(pieces, kept, len(readable))
        yield f"{_join_pieces(pieces, kept)}\n[{left_out} left out{way}]", left_out
        taken = min(taken - 1, taken * 15 // 16)


def _readable(text: str) -> str:
    """Return the text of markup without its tags; any other text unchanged."""
    if len(_MARKUP.findall(text)) < _MARKED:
        return text
    parts: list[str] = []
    hidden_tag, position = "", 0
    for tag in _TAG.finditer(text):
        if not hidden_tag:
            parts.append(text[position : tag.start()])
            parts.append("\n" if _BREAKING.match(tag.group()) else " ")
        name = tag.group()[1:-1].strip().lower().partition(" ")[0]
        hidden_tag = "" if name == f"/{hidden_tag}" else hidden_tag or (name if name in _HIDDEN else "")
        position = tag.end()
    parts.append("" if hidden_tag else text[position:])
    lines = (" ".join(line.split()) for line in unescape("".join(parts)).splitlines())
    return "\n".join(line for line in lines if line)


def _pieces(text: str) -> Iterator[_Piece]:
    for number, line in enumerate(text.splitlines()):
        start = 0
        while len(line) - start > WIDTH + WIDTH // 4:
            space = line.rfind(" ", start + WIDTH // 2, start + WIDTH)
            end = space + 1 if space > 0 else start + WIDTH
            yield _Piece(number, line[start:end])
            start = end
        yield _Piece(number, line[start:])


def _rank_pieces(pieces: Sequence[_Piece], query_terms: frozenset[str]) -> list[int]:
    """Rank the pieces; one printed before in the same words counts less each time."""
    seen: Tally[str] = Tally()
    weights: list[float] = []
    answers = _answers(pieces, query_terms)
    for position, piece in enumerate(pieces):
        form = _SAME.sub("0", piece.text)
        ends = max(0, ENDS - min(position, len(pieces) - 1 - position))
        weights.append(answers[position] + ends + _weight(piece.text) / (1 + seen[form]))
        seen[form] += 1
    around = list(weights)
    for position, (own, other) in enumerate(pairwise(weights)):  # What stands beside an error or an answer explains it.
        around[position] += other / 4
        around[position + 1] += own / 4
    return sorted(range(len(pieces)), key=lambda position: (-around[position], position))


def _answers(pieces: Sequence[_Piece], query_terms: frozenset[str]) -> list[float]:
    """Return the relevance of each piece: a term counts the less, the more pieces it occurs in."""
    met = [query_terms.intersection(terms(piece.text)) if query_terms else frozenset[str]() for piece in pieces]
    counts = Tally(term for matched in met for term in matched)
    return [math.fsum(ANSWER / (1 + math.log2(counts[term])) for term in matched) for matched in met]


def _weight(text: str) -> float:
    if _RULE.fullmatch(text):
        return 0
    weight = 0.5 * bool(_FIGURE.search(text))
    if _ERROR.search(text):
        return weight + 8
    return weight + (3 if _WARNING.search(text) else 2 if _DEFINED.match(text) else 0)


def _join_pieces(pieces: Sequence[_Piece], kept: Sequence[int]) -> str:
    """Join the shown pieces in order, with a mark for each gap that says how many lines are missing."""
    parts: list[str] = []
    before = _Piece(-1, "")
    last = -1
    for position in kept:
        piece = pieces[position]
        if position > last + 1:
            missing = piece.line - before.line - 1
            parts.append(f"\n{MARK} {missing} lines\n" if missing else MARK)
        elif piece.line != before.line and parts:
            parts.append("\n")
        parts.append(piece.text)
        before, last = piece, position
    missing = pieces[-1].line - before.line
    return "".join(parts).strip("\n") + (
        f"\n{MARK} {missing} lines" if missing else "" if last == len(pieces) - 1 else MARK
    )


def _left_out(pieces: Sequence[_Piece], kept: Sequence[int], length: int) -> str:
    lines = pieces[-1].line + 1
    missing = lines - len({pieces[position].line for position in kept})
    if missing:
        return f"{missing} of {lines} lines"
    return f"{length - sum(len(pieces[position].text) for position in kept)} of {length} characters"
