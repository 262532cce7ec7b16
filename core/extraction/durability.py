"""Probability that a sentence is worth remembering for months: a logistic regression over n-grams. Pure.

The weights are in `durability_en.bin` and `durability_zh.bin`. `python -m bench.durability` trains them on labelled
sentences and reports how they decide on conversations that were left out of the training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from core.language import ngrams

LONGEST_OF_QUESTION: Final = 2
"""Words of an n-gram of the question before a sentence."""
LENGTH_STEP: Final = {"en": 15, "zh": 5}
LENGTHS, PLACES = 10, 2


def probability(sentence: str, language: str, *, question: str = "", position: int = 0) -> float:
    """Return the probability, 0 to 1, that `sentence` states something that matters for months.

    `language`: "en" or "zh"; `question`: what it may answer; `position`: its number in the message, from 0.
    """
    active_features = features(sentence, language, question=question, position=position)
    return ngrams.logistic(ngrams.weights(file_of(language)).logit(active_features))


def features(sentence: str, language: str, *, question: str = "", position: int = 0) -> frozenset[str]:
    """Return the n-grams of a sentence, those of the question before it marked, its length and its place."""
    grams = ngrams.of(sentence, language) | (ngrams.shapes(sentence) if language == "en" else set())
    before = ngrams.of(question, language, LONGEST_OF_QUESTION) if question else set()
    length = min(len(sentence) // LENGTH_STEP[language], LENGTHS)
    around = {f"length {length}", f"place {min(position, PLACES)}", *({"asked"} if question else ())}
    return frozenset({*grams, *(f"q:{gram}" for gram in before), *around})


def file_of(language: str) -> Path:
    return Path(__file__).with_name(f"durability_{language}.bin")
