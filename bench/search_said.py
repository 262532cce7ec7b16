"""Texts of the memories that `bench.search` looks for.

Drawn by chance: one of some thousand sentences about what someone did with whom, a part of another one, and words of a
large vocabulary, as frequent as Zipf has it. A vector is made of the local model's vectors of the two sentences, and
noise.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector, SparseVector

from bench.write import statement
from core.inference.local_embedder import LocalEmbedder
from core.language.terms import TERM_IDS, term_id, terms

SENTENCES: Final = 3_000
"""Embedded by the local model in half a minute of one core."""

ZIPF: Final = 1.05
"""The exponent. The ten most frequent ranks are left out: words like "the" are no terms."""

EXTRA: Final = 5
"""Words of the vocabulary in one memory, beside some ten of its sentences."""

OTHER, NOISE = 0.45, 0.3
"""Weights of the second sentence and the noise in a vector, beside 1 for the first."""

SYLLABLES: Final = [a + b for a in "b d f g k l m n p r s t v z".split() for b in "a e i o u ai on er".split()]
WORDS: Final = [
    "".join(syllables) for syllables in itertools.islice(itertools.product(SYLLABLES, repeat=3), 0, None, 37)
]
"""Some thirty thousand, the first ones the most frequent."""

_FREQUENCIES: Final = list(itertools.accumulate((rank + 10) ** -ZIPF for rank in range(1, len(WORDS) + 1)))

Floats = NDArray[np.float32]


class Said(NamedTuple):
    """A memory: what it says, its terms, and the sentences that it is made of."""

    content: str
    words: list[str]
    first: int
    second: int


def nth_memory(user: str, n: int) -> Said:
    """The nth memory of a user, the same each time: a load goes on where it ended, and questions know what is there."""
    chance = random.Random(f"{user} {n}")
    first, second = chance.randrange(SENTENCES), chance.randrange(SENTENCES)
    words = " ".join(chance.choices(WORDS, cum_weights=_FREQUENCIES, k=EXTRA))
    about = " ".join(statement(second).split()[1:5])
    return Said(
        f"{statement(first)[:-1]}; {about}, {words}.",
        [*_terms(statement(first)), *_terms(about), *(term for word in words.split() for term in _terms(word))],
        first,
        second,
    )


@cache
def _terms(part: str) -> list[str]:
    return terms(part)


@cache
def _id(term: str) -> int:
    return term_id(term)


def ids(words: Sequence[str]) -> list[int]:
    """The terms of a row."""
    return sorted({_id(word) for word in words})


def sparse(weights: Mapping[int, float]) -> bytes:
    """The weights of a row's terms as the database takes them, which counts from nought."""
    return SparseVector({term - 1: weight for term, weight in weights.items()}, TERM_IDS).to_binary()


def embedded(path: Path, model: LocalEmbedder) -> Floats:
    """The vectors of all sentences; they are kept in a file."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, model.embed([statement(n) for n in range(SENTENCES)]))
    kept: Floats = np.load(path)
    return kept


def vectors(of: Floats, statements: Sequence[Said], chance: np.random.Generator) -> list[bytes]:
    """The vectors of statements as the database takes them, made of those of the sentences."""
    noise = chance.standard_normal((len(statements), of.shape[1]), dtype=np.float32) / np.sqrt(of.shape[1])
    mixed = of[[s.first for s in statements]] + OTHER * of[[s.second for s in statements]] + NOISE * noise
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return [HalfVector(row).to_binary() for row in mixed.astype(np.float16)]
