"""Clauses of a statement, as punctuation and joining words show them, and a statement without some of them. Pure.

Only what was said is cut: a quotation keeps its frame and its speaker's words, with "…" where some are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from core.language import languages, scripts
from core.statements import quotation

LEAST_LETTERS: Final = 9
"""Size of a clause that can say something by itself; a character of Chinese, Japanese or Korean counts as three."""

CUT: Final = "…"

STOPS: Final = ".!?。！？"

MOST: Final = 6
"""Clauses that are told apart; the last one holds what follows."""

_BREAK: Final = re.compile(r"(?<![,;:.!?])[,;:.!?]+(?=\s)|[，；。！？]+|\s[–—-]\s")
_NAME: Final = re.compile(rf"[{scripts.HAN}·]{{1,4}}")
"""Characters so few that they may be a name alone: no clause ends between them and a joining word."""
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ORDER: Final = re.compile(
    "|".join(
        ".{1,200}?".join(map(re.escape, language.grammar.standing.partition("{wish}")[0].split("{who}")))
        for language in languages.ALL
        if language.grammar
    )
)


class Framed(NamedTuple):
    """The words of a statement, and what stands before and behind them."""

    before: str
    text: str
    behind: str

    @property
    def is_quoted(self) -> bool:
        return self.behind == "”"


def framed(content: str) -> Framed:
    """Return the words of a statement: of a quotation or a standing order what was said, else all of it."""
    quoted = quotation.read(content)
    if quoted:
        return Framed(content.removesuffix(f"{quoted.words}”"), quoted.words, "”")
    order = _ORDER.match(content)
    start, end = order.end() if order else 0, len(content.rstrip(STOPS))
    return Framed(content[:start], content[start:end], content[end:])


def clauses(text: str) -> list[str]:
    """Return the clauses of a text, which together are the text; one if nothing shows several."""
    ends = {match.end() for match in _BREAK.finditer(text)}
    ends |= {match.start() for match in _joins(text) if not _NAME.fullmatch(text, 0, match.start())}
    result: list[str] = []
    sizes: list[int] = []
    begin = 0
    for end in [*sorted(ends - {0}), len(text)]:
        piece = text[begin:end]
        size = _size(piece)
        if result and (len(result) == MOST or size < LEAST_LETTERS or sizes[-1] < LEAST_LETTERS):
            result[-1] += piece
            sizes[-1] += size
        elif piece:
            result.append(piece)
            sizes.append(size)
        begin = end
    return result


def _joins(text: str) -> Iterable[re.Match[str]]:
    joins = languages.of(text).joins
    return joins.finditer(text) if joins else ()


def _size(piece: str) -> int:
    return sum(3 if _WIDE.match(letter) else 1 for letter in piece if letter.isalpha())


def bare(clause: str) -> str:
    """Return a clause without what joins it to others."""
    text = clause.lstrip()
    joined = next((match for match in _joins(text) if match.start() == 0), None)
    return text[joined.end() if joined else 0 :].strip(" \t\n,;:.!?，；。！？–—-")


def common(content: str, rests: Sequence[str]) -> str | None:
    """Return what all of some remainders of a statement hold; None: they are not cut of it, but in other words."""
    pieces = [bare(clause) for clause in clauses(framed(content).text)]
    gone = [{at for at, piece in enumerate(pieces) if piece not in rest} for rest in rests]
    if any(without(content, over) != rest for over, rest in zip(gone, rests, strict=True)):
        return None
    return without(content, set().union(*gone))


def without(content: str, over: Collection[int]) -> str:
    """Return what remains of a statement without the clauses at these places; empty: nothing that can be told.

    A statement in the third person names its subject in its first clause, and is not told without it.
    """
    statement = framed(content)
    if not statement.before and 0 in over:
        return ""
    pieces = clauses(statement.text)
    runs = [
        bare("".join(pieces[position] for position in run))
        for is_over, run in groupby(range(len(pieces)), key=over.__contains__)
        if not is_over
    ]
    if not runs:
        return ""
    if not statement.is_quoted:
        return f"{statement.before}{' '.join(runs)}{statement.behind}"
    rest = f" {CUT} ".join(runs)
    begins, ends = f"{CUT} " if 0 in over else "", f" {CUT}" if len(pieces) - 1 in over else ""
    return f"{statement.before}{begins}{rest}{ends}{statement.behind}"
