"""Recognises requests to forget, in any words. Pure.

A trained model reads the message (`core.inference.local_reader`, head `asks`). It comes from outside, so that no
transaction is open while it runs. Words count beside it, and decide alone where it is not installed: a logistic
regression, whose weights `python -m bench.forget_recognition` trains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.forgetting.text import READ, TextSpan, clauses, long_tokens, plain, sentences
from core.forgetting.wording import NEGATED
from core.language import languages, ngrams

Floats = NDArray[np.float32]
Asks = Callable[[Sequence[str]], Floats]
"""Returns the log-odds that each text asks to forget something."""

SURE: Final = 2.35
"""Log-odds from which a message asks."""

LIKELY: Final = 0.5
"""Log-odds from which a message may ask, so that what it means is held for approval."""

WORDS_COUNT: Final = 0.3
"""Weight of the log-odds by words beside those of the model."""

PLAIN: Final = 3.5
"""Log-odds by words from which a message may ask, whatever the model says."""

SURE_BY_WORDS: Final = 1.5
LIKELY_BY_WORDS: Final = 0.3
"""The same of log-odds by words alone, which are closer together."""

WINDOWS: Final = 60
"""Sentences and pairs of a message that are looked at."""

STRETCH: Final = 350
"""Characters that the model reads at once: what lies further apart in a message is read by itself."""

AROUND: Final = 2
"""Sentences before and after a likely one that are read with it, where the message is longer than a stretch."""

LENGTH_STEP: Final = 20
LENGTHS: Final = 8


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence, or neighbouring ones: the numbers of the first and the last one, and the text."""

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


def recognise(message: str, asks: Asks | None = None) -> Recognised | None:
    """Return which sentences of a message ask to forget something; None: none does.

    `asks`: the trained model; None decides by words alone, which recognises half as many.
    """
    spans = pieces(message)
    candidates = [*windows(message, spans), *_naming_values(message, spans)]
    logits = {window: by_words(window.text) for window in candidates if not _is_negated(window.text)}
    if not logits:
        return None
    if asks is None:
        best = max(logits.values())
        asking = _asking(list(logits), list(logits.values()))
        return Recognised(asking, sure=best >= SURE_BY_WORDS) if best >= LIKELY_BY_WORDS else None
    return _read(message, spans, logits, asks)


def _read(message: str, spans: Sequence[TextSpan], logits: Mapping[Stretch, float], asks: Asks) -> Recognised | None:
    """Return what the model says of the likeliest sentence and of all around it, and where the words agree with it."""
    candidates = list(logits)
    own = asks([window.text for window in candidates]).tolist()
    best = max(range(len(own)), key=own.__getitem__)
    whole = float(asks([stretch(message, spans, candidates[best])])[0])
    score = (own[best] + whole) / 2 + WORDS_COUNT * logits[candidates[best]]
    is_likely = score >= LIKELY or max(logits.values()) >= PLAIN
    return Recognised(_asking(candidates, own), sure=score >= SURE) if is_likely else None


def _is_negated(text: str) -> bool:
    """Return whether a text asks for the opposite, "don't forget …", in nearly the same words."""
    return NEGATED.search(plain(text)) is not None


def stretch(message: str, spans: Sequence[TextSpan], window: Stretch) -> str:
    """Return what is read around a window: the whole message if it is short, else its neighbours."""
    whole = _joined(message, spans, 0, len(spans) - 1).text
    first, last = max(0, window.first - AROUND), min(len(spans) - 1, window.last + AROUND)
    return whole if len(whole) <= STRETCH else _joined(message, spans, first, last).text


def _joined(message: str, spans: Sequence[TextSpan], first: int, last: int) -> Stretch:
    return Stretch(first, last, message[spans[first].start : spans[last].end])


def pieces(message: str) -> list[TextSpan]:
    """Return the sentences of a message, as they are numbered here; what is pasted far behind them is not read."""
    text = message[:READ]
    return [TextSpan(text[piece.start : piece.end], piece.start) for piece in sentences(plain(text))]


def windows(message: str, spans: Sequence[TextSpan]) -> list[Stretch]:
    """Return the sentences of a message and the pairs of neighbours."""
    single = [_joined(message, spans, at, at) for at in range(len(spans))]
    pairs = [_joined(message, spans, at, at + 1) for at in range(len(spans) - 1)]
    return [*single, *pairs][:WINDOWS]


def _naming_values(message: str, spans: Sequence[TextSpan]) -> list[Stretch]:
    """Return the clauses that name a value beside others: "Forget 4711" of "Forget 4711, the new code is 4712"."""
    parts = [(at, clause) for at, span in enumerate(spans[:WINDOWS]) for clause in _clauses(message, span)]
    return [Stretch(at, at, clause) for at, clause in parts if long_tokens(clause)][:WINDOWS]


def _clauses(message: str, span: TextSpan) -> list[str]:
    sentence = message[span.start : span.end]
    parts = clauses(sentence)
    return [sentence[part.start : part.end] for part in parts] if len(parts) > 1 else []


def by_words(text: str) -> float:
    """Return the log-odds, by words alone, that a text asks."""
    return ngrams.weights(WORDS).logit(features(text))


def features(text: str) -> frozenset[str]:
    """Return the n-grams of a text and its length."""
    folded = plain(text)
    language = languages.grammar_of(folded).code
    return frozenset({*ngrams.of(folded, language), f"length {min(len(folded) // LENGTH_STEP, LENGTHS)}"})


def _asking(likely: Sequence[Stretch], logits: Sequence[float]) -> list[int]:
    """Return the sentences that ask by themselves; where only a pair does, the more likely sentence of it."""
    own = dict[int, float]()
    for window, logit in zip(likely, logits, strict=True):
        if window.first == window.last:
            own[window.first] = max(logit, own.get(window.first, logit))
    alone = sorted(at for at, logit in own.items() if logit > 0)
    if alone:
        return alone
    best = likely[max(range(len(logits)), key=logits.__getitem__)]
    return [max((best.first, best.last), key=lambda at: own.get(at, -np.inf))]


WORDS: Final = Path(__file__).with_name("recognition_words.bin")
