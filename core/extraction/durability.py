"""Log-odds that a sentence matters for months: a regression over n-grams, and a trained reader beside it. Pure.

The weights of the regression are in `durability_en.bin` and `durability_zh.bin`. `python -m bench.durability` trains
them on labelled sentences and reports how they decide on conversations that were left out of the training. The reader
(`core.inference.local_reader`) knows every language of its encoder; in the two of the regression both count alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.language import ngrams

Floats = NDArray[np.float32]

LONGEST_OF_QUESTION: Final = 2
"""Words of an n-gram of the question before a sentence."""
LENGTH_STEP: Final = {"en": 15, "zh": 5}
LENGTHS, PLACES = 10, 2


BEFORE: Final = 150
"""Characters of what was said before a sentence that the reader reads with it."""


class Reader(Protocol):
    """Tells which sentences matter for months."""

    def matters(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each sentence matters; with each goes the end of what was said before it."""


def log_odds(sentence: str, language: str, *, question: str = "", position: int = 0) -> float:
    """Return the log-odds, by its words alone, that `sentence` states something that matters for months.

    `language`: "en" or "zh"; `question`: what it may answer; `position`: its number in the message, from 0.
    """
    active_features = features(sentence, language, question=question, position=position)
    return ngrams.weights(file_of(language)).logit(active_features)


def features(sentence: str, language: str, *, question: str = "", position: int = 0) -> frozenset[str]:
    """Return the n-grams of a sentence, those of the question before it marked, its length and its place."""
    grams = ngrams.of(sentence, language) | (ngrams.shapes(sentence) if language == "en" else set())
    before = ngrams.of(question, language, LONGEST_OF_QUESTION) if question else set()
    length = min(len(sentence) // LENGTH_STEP[language], LENGTHS)
    around = {f"length {length}", f"place {min(position, PLACES)}", *({"asked"} if question else ())}
    return frozenset({*grams, *(f"q:{gram}" for gram in before), *around})


def file_of(language: str) -> Path:
    return Path(__file__).with_name(f"durability_{language}.bin")
