"""Recognises requests to forget, in any words: a logistic regression over the words and the meaning of sentences. Pure.

Read are single sentences and pairs of neighbours ("I told you about my debts. Let that go."). The weights beside this
module are trained by `python -m bench.forget_recognition`, which also reports how they decide on messages of authors
who were left out. Vectors come from outside, so that no transaction is open while a model runs; without vectors of
the model that the weights were trained with, the words decide alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.forgetting.text import READ, Span, plain, sentences
from core.forgetting.wording import NEGATED
from core.language import ngrams
from core.language.sentences import is_chinese

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]
"""Returns the query vectors of texts, a row each."""

MODEL: Final = "multilingual-e5-small-centred-2"
"""Embedding model of the weights of meaning."""

SURE: Final = 2.0
"""Log-odds from which a message asks: of 100 messages of new authors that only look like requests 1 or 2 reach it."""

LIKELY: Final = 0.7
"""Log-odds from which a message may ask, so that what it means is held for approval."""

SURE_BY_WORDS: Final = 1.5
LIKELY_BY_WORDS: Final = 0.3
"""The same of log-odds by words alone, which are closer together."""

WORDS_LIKELY: Final = -2.5
"""Log-odds by words alone below which a sentence is not embedded: of 100 requests 1 stays below it."""

WINDOWS: Final = 60
"""Sentences and pairs of a message that are read."""

LENGTH_STEP: Final = 20
LENGTHS: Final = 8


@dataclass(frozen=True, slots=True)
class Window:
    """A sentence, or two neighbours: the numbers of the first and the last one, and the text."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Recognised:
    """A message that asks to forget: the numbers of the sentences that ask, and whether that is certain."""

    sentences: Sequence[int]
    sure: bool


NOT_ASKING: Final = Recognised((), sure=True)
"""Result for a message that does not ask."""


def recognise(message: str, embed: Embed | None = None) -> Recognised | None:
    """Return which sentences of a message ask to forget something; None: none does.

    `embed`: query vectors of `MODEL`; None decides by words alone, which finds fewer.
    """
    candidates = [window for window in windows(pieces(message)) if _may_ask(window.text)]
    if not candidates:
        return None
    logits = [by_words(window.text) for window in candidates]
    if embed is not None:
        vectors = embed([window.text for window in candidates])
        logits = [by_meaning(window.text, vector) for window, vector in zip(candidates, vectors, strict=True)]
    sure, likely = (SURE, LIKELY) if embed is not None else (SURE_BY_WORDS, LIKELY_BY_WORDS)
    best = max(logits)
    return None if best < likely else Recognised(_asking(candidates, logits), sure=best >= sure)


def _may_ask(text: str) -> bool:
    """Return whether a text is worth its vector; "don't forget …" asks for the opposite in nearly the same words."""
    return by_words(text) >= WORDS_LIKELY and NEGATED.search(plain(text)) is None


def pieces(message: str) -> list[Span]:
    """Return the sentences of a message, as they are numbered here; what is pasted far behind them is not read."""
    text = message[:READ]
    return [Span(text[piece.start : piece.end], piece.start) for piece in sentences(plain(text))]


def windows(spans: Sequence[Span]) -> list[Window]:
    """Return the sentences of a message and the pairs of neighbours."""
    single = [Window(at, at, span.text) for at, span in enumerate(spans)]
    pairs = [Window(at, at + 1, f"{first.text} {second.text}") for at, (first, second) in enumerate(pairwise(spans))]
    return [*single, *pairs][:WINDOWS]


def by_words(text: str) -> float:
    """Return the log-odds, by words alone, that a text asks."""
    return ngrams.weights(WORDS_ALONE).logit(features(text))


def by_meaning(text: str, vector: Floats) -> float:
    """Return the log-odds, by words and meaning, that a text asks."""
    return ngrams.weights(WORDS).logit(features(text)) + float(_meaning() @ vector)


def features(text: str) -> frozenset[str]:
    """Return the n-grams of a text and its length."""
    folded = plain(text)
    language = "zh" if is_chinese(folded) else "en"
    return frozenset({*ngrams.of(folded, language), f"length {min(len(folded) // LENGTH_STEP, LENGTHS)}"})


def _asking(candidates: Sequence[Window], logits: Sequence[float]) -> list[int]:
    """Return the sentences that ask by themselves; where only a pair does, the more likely sentence of it."""
    own = {window.first: logit for window, logit in zip(candidates, logits, strict=True) if window.first == window.last}
    alone = sorted(at for at, logit in own.items() if logit > 0)
    if alone:
        return alone
    best = candidates[max(range(len(logits)), key=logits.__getitem__)]
    return [max((best.first, best.last), key=lambda at: own.get(at, WORDS_LIKELY))]


WORDS: Final = Path(__file__).with_name("recognition_words.bin")
WORDS_ALONE: Final = Path(__file__).with_name("recognition_words_alone.bin")
MEANING: Final = Path(__file__).with_name("recognition_meaning.npy")


@cache
def _meaning() -> Floats:
    vector: Floats = np.load(MEANING)
    return vector
