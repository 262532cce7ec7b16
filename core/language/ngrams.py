"""Logistic regressions over the n-grams of a sentence: features, hashing, weights in files. Pure.

`bench.regression` trains such weights; a file holds a scale and a bias, then one signed byte a bucket.
"""

from __future__ import annotations

import itertools
import math
import re
import struct
import zlib
from array import array
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from core.language import languages

BUCKETS: Final = 1 << 16
"""N-grams are hashed into so many weights (Weinberger et al. 2009, "Feature hashing")."""
HEADER: Final = struct.Struct("<ff")
LEAST_LOGIT: Final = -500.0
"""Below it the exponential overflows."""
LONGEST_WORDS: Final = 3
LONGEST_CHARACTERS: Final = 3

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!,.;]")
_CASED = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
_OF_ONESELF = frozenset({"i", "i'm", "i've", "i'll", "i'd"})
_QUANTITIES: Final = {
    language.code: language.lexicon.quantity
    for language in languages.ALL
    if language.lexicon and language.lexicon.quantity
}
"""Numbers, of languages without spaces between words."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Weights:
    """A trained regression; `scale` turns a stored byte into a weight."""

    scale: float
    bias: float
    bytes: array[int]

    def logit(self, features: AbstractSet[str]) -> float:
        """Return the log-odds of a sentence with these features, each of which counts 1/√n."""
        indexes = buckets(features)
        total = sum(map(self.bytes.__getitem__, indexes))
        return self.bias + self.scale * total / math.sqrt(max(len(indexes), 1))


def logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-max(logit, LEAST_LOGIT)))


@cache
def weights(file: Path) -> Weights:
    content = file.read_bytes()
    scale, bias = HEADER.unpack_from(content)
    return Weights(scale, bias, array("b", content[HEADER.size :]))


def buckets(features: Iterable[str]) -> list[int]:
    return [zlib.crc32(one.encode()) % BUCKETS for one in features]


def of(text: str, language: str, longest: int = LONGEST_WORDS) -> set[str]:
    """Return the n-grams of a sentence: words, or characters where no spaces part words; numbers are alike."""
    if quantity := _QUANTITIES.get(language):
        plain = quantity.sub("#", _SPACE.sub(" ", text))
        return {one.replace(" ", "") or "_" for one in _grams(["^", *plain, "$"], LONGEST_CHARACTERS)}
    words = ["#" if one[0].isdigit() else one for one in _WORD.findall(text.lower().replace("’", "'"))]
    return _grams(["^", *words, "$"], longest)


def shapes(text: str) -> set[str]:
    """Return pairs of English words after the first, in which all names are alike."""
    words = [_shape(one) for one in _CASED.findall(text)[1:]]
    return {f"shape {pair[0]} {pair[1]}" for pair in itertools.pairwise(words)}


def _shape(word: str) -> str:
    lower = word.lower().replace("’", "'")
    return "Name" if word[0].isupper() and lower not in _OF_ONESELF else lower


def _grams(parts: list[str], longest: int) -> set[str]:
    return {" ".join(parts[at : at + n]) for n in range(1, longest + 1) for at in range(len(parts) - n + 1)}
