"""What a sentence needs that was said before it, to be understood when it is quoted by itself.

With the trained reader: whether it leans on anything, and which earlier sentence explains it, in any language. Without
it, words that refer back decide, in the languages whose words are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.extraction import durability
from core.extraction.speakers import REACH, HeardMessage
from core.language import languages
from core.language.language import Grammar
from core.statements import clauses

LEAST: Final = 0.0
"""Log-odds from which a sentence leans on what was said before it."""

LAST: Final = 0.5
"""Log-odds by which the sentence said last is likelier to explain the next."""

SHORTER: Final = 1.0
"""Log-odds by which a clause may explain a sentence less likely than all of its own sentence, and stand for it."""

BY_WORDS: Final = 0.5
"""Log-odds by which a sentence with words that refer back is likelier to lean."""

Floats = NDArray[np.float32]

LocatedSentence = tuple[HeardMessage, int, Grammar]
"""A message, the number of a sentence in it, and its language."""


class Reader(Protocol):
    """The trained judgements about references."""

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each sentence is understood only with what was said before it, its end beside it."""
        ...

    def explains(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that the first text of each pair says who or what the second one means."""
        ...


def contexts(located: Sequence[LocatedSentence], reader: Reader | None) -> list[str | None]:
    """Return for each sentence what explains it of an earlier one, "" if nothing does; None: it stands alone."""
    if reader is None or not located:
        return [
            by_words(heard, position, language) if language.refers_back(heard.sentences[position]) else None
            for heard, position, language in located
        ]
    leads = [heard.before_sentence(position, durability.BEFORE).strip() for heard, position, _ in located]
    texts = [(heard.sentences[position], lead) for (heard, position, _), lead in zip(located, leads, strict=True)]
    leaning = [
        value + (BY_WORDS if language.refers_back(text) else 0) >= LEAST or languages.begins_with_somebody(text)
        for value, (text, _), (*_, language) in zip(reader.leans(texts).tolist(), texts, located, strict=True)
    ]
    earlier = [
        _earlier(heard, position) if leans else () for (heard, position, _), leans in zip(located, leaning, strict=True)
    ]
    pairs = [(before, text) for (text, _), several in zip(texts, earlier, strict=True) for before in several]
    log_odds = iter(reader.explains(pairs).tolist())
    likeliest = [
        max(
            ((next(log_odds) + (LAST if at == len(several) else 0), before) for at, before in enumerate(several, 1)),
            default=(0.0, ""),
        )
        for several in earlier
    ]
    explained = [(before, text, value) for (value, before), (text, _) in zip(likeliest, texts, strict=True)]
    return [before if leans else None for before, leans in zip(_clauses(explained, reader), leaning, strict=True)]


def _clauses(explained: Sequence[tuple[str, str, float]], reader: Reader) -> list[str]:
    """Return of each earlier sentence the clause that explains the later one about as well as all of it, if one does.

    "Svenja is coming, she studies geography in Leipzig" tells who is vegan by its first clause; the second one is a
    fact of its own, which may end.

    `explained`: earlier sentences with the later one and the log-odds of explaining it.
    """
    several = [clauses.clauses(before) for before, *_ in explained]
    parts = [[clauses.bare(clause) for clause in those] if len(those) > 1 else [] for those in several]
    pairs = [(part, text) for (_, text, _), those in zip(explained, parts, strict=True) for part in those]
    log_odds = iter(reader.explains(pairs).tolist())
    result = []
    for (before, _, whole), those in zip(explained, parts, strict=True):
        value, part = max(((next(log_odds), part) for part in those), default=(-np.inf, before))
        result.append(part if value >= whole - SHORTER else before)
    return result


def by_words(heard: HeardMessage, position: int, language: Grammar) -> str:
    """Return the sentence before `position` that explains it: the last with a name for “she”, or the last clear one."""
    earlier = _earlier(heard, position)
    refers = language.somebody and language.somebody.search(heard.sentences[position].lower())
    naming = [sentence for sentence in earlier if language.names.search(sentence)] if refers and language.names else []
    clear = naming or [sentence for sentence in earlier if not language.refers_back(sentence)] or earlier
    return clear[-1] if clear else ""


def _earlier(heard: HeardMessage, position: int) -> Sequence[str]:
    return [*heard.before, *heard.sentences[:position]][-REACH:]
