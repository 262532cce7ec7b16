"""Token counts by tokenizer, else an upper bound.

The estimate cuts a text where tokenizers cut it (words with the space before them, numbers, punctuation, single
characters of other scripts) and adds up the maximum cost of each piece in the vocabularies it represents. These
costs were measured (docs/context.md): words that are one token everywhere are listed, any other run of letters or
punctuation is bounded by its pairs of neighbours, and every other character has its own cost.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import json
import os
import re
import tempfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

from core.inference.model_catalog import vocabulary

ANY: Final = "any"
"""Estimate for a model with an unpublished vocabulary: the maximum of all measured ones."""

_PIECE: Final = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)(?![A-Za-z])"  # the end of a contraction
    r"| ?(?:[A-Z]?[a-z]+|[A-Z]+(?![a-z]))"  # a word, or a part of one likeThis
    r"| ?[!-/:-@\[-`{-~]+"
    r"|[0-9]+"
    r"| +(?= \S)|\t+(?=\t\S)"  # indentation, but for its last sign, which stands alone or belongs to what follows
    r"| +|\t+|\n+"
    r"|[\s\S]"
)

_RUN: Final = 4
"""Tabs, or line ends, in a row that cost one token at the most in every vocabulary."""

_SPACES: Final = 32
"""Spaces in a row, likewise; a vocabulary has tokens for up to 64 or more, but not for every number."""

_CHARACTERS: Final = (range(0x80, 0xD800), range(0xE000, 0x10000), range(0x1F000, 0x1FB00))
"""Characters with a cost of their own. Any other one costs its bytes."""


_BETWEEN: Final = (*" \n\t", "\n\n", *"0123456789")
"""Other pieces that are in most texts."""

_UNIT: Final = 20
"""Fractions of a token in which pairs are weighed."""

_WIDEST: Final = 256
"""Characters that one token holds at the most, in any vocabulary: where to begin to look for a cut."""

_SENTENCE: Final = re.compile(r"[.!?…]+[\"')\]”’]*(?=\s)|[。！？]+[”’」』）]*|\n")
_SPACE: Final = re.compile(r"\s+")

_FILES: Final = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""Vocabularies that tiktoken can open, and the SHA-256 of their files: it downloads mismatching ones again."""

_ORIGIN: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""Source of tiktoken's files; their names in its cache are derived from it."""

ESTIMATED: Final = frozenset("o200k_base cl100k_base llama3 llama4 qwen deepseek tekken".split())


class Counter(Protocol):
    """Counts tokens. `name`: the vocabulary (`o200k_base`), or what is estimated (`estimate of o200k_base`)."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int:
        """Return the tokens of a text; an estimate is never below the real count."""
        ...


class Vocabulary:
    """Counts by tiktoken."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding
        self.name: str = encoding.name

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))


class Estimate:
    """Counts without a vocabulary: an upper bound for one of `ESTIMATED`, or for all of them (`ANY`)."""

    def __init__(self, of: str = ANY) -> None:
        self.name = "estimate" if of == ANY else f"estimate of {of}"
        self._costs = _Costs(of)

    def count(self, text: str) -> int:
        return sum(map(self._costs.__getitem__, _PIECE.findall(text)))


def counter(model: str | None = None) -> Counter:
    """Return the token counter of a model: its vocabulary if tiktoken and that are installed, else the estimate.

    The network is never used: a vocabulary must be in tiktoken's cache (`TIKTOKEN_CACHE_DIR`).
    """
    name = vocabulary(model) if model else None
    return (_open_vocabulary(name) if name in _FILES else None) or _estimate(name if name in ESTIMATED else ANY)


def cut(text: str, limit: int, counter: Counter, mark: str = "…") -> str:
    """Return a beginning of `text` within `limit` tokens, including `mark` if something is cut off.

    It ends after a sentence if one ends in the last third of the room, else after a word, else anywhere; empty if not
    even the mark fits.
    """
    if counter.count(text) <= limit:
        return text
    room = longest_fit(text, limit, counter, mark)
    for end in (*_ends(text, room), room):
        shortened = text[:end].rstrip() + mark
        if counter.count(shortened) <= limit:
            return shortened
    return mark if counter.count(mark) <= limit else ""


def longest_fit(text: str, limit: int, counter: Counter, mark: str = "") -> int:
    """Return how many characters of `text` fit into `limit` tokens together with `mark` behind them."""
    low, high = 0, min(len(text), max(0, limit) * _WIDEST)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.count(text[:middle] + mark) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str, room: int) -> tuple[int, ...]:
    """Return places to cut within `room` characters, the best first."""
    sentences = [match.end() for match in _SENTENCE.finditer(text, room * 2 // 3, room)]
    spaces = [match.start() for match in _SPACE.finditer(text, room // 3, room)]
    return tuple(places[-1] for places in (sentences, spaces) if places)


@lru_cache(maxsize=len(_FILES))
def _open_vocabulary(name: str) -> Counter | None:
    """Return a vocabulary of tiktoken if installed and cached; tiktoken would download a missing one."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    directory = Path(tempfile.gettempdir(), "data-gym-cache") if folder is None else Path(folder)
    file = directory / hashlib.sha1(_ORIGIN.format(name).encode(), usedforsecurity=False).hexdigest()
    if not importlib.util.find_spec("tiktoken") or folder == "" or not file.is_file():
        return None
    if hashlib.sha256(file.read_bytes()).hexdigest() != _FILES[name]:
        return None
    return Vocabulary(importlib.import_module("tiktoken").get_encoding(name))


@lru_cache(maxsize=len(ESTIMATED) + 1)
def _estimate(of: str) -> Estimate:
    return Estimate(of)


class _Costs(dict[str, int]):
    """Upper bounds of the tokens of pieces of text: measured ones at once, all others on first use.

    Costs computed on use are not cached: they would hold what people say.
    """

    def __init__(self, of: str) -> None:
        super().__init__(_weights().characters(of))
        self._digits = _weights().digits[of]
        measured = (piece for word in _weights().words for piece in (word, f" {word}"))
        self.update({piece: self[piece] for piece in (*measured, *_weights().marks, *_BETWEEN)})

    def __missing__(self, piece: str) -> int:
        last = piece[-1]
        if last > "\x7f":
            return len(last.encode("utf-8", "surrogatepass"))
        if last.isdigit():
            return -(-len(piece) // self._digits)
        if last.isspace() or last < " ":
            return -(-len(piece) // (_SPACES if last == " " else _RUN))
        return _word(piece) if last.isalpha() else _weights().marks.get(piece) or _run(piece, "punctuation")


def _word(piece: str) -> int:
    """Return the cost of a word, with or without the space before it."""
    word = piece.lstrip(" '")
    costs = _weights().words.get(word)
    if piece[0] == "'":
        return 1
    if costs:
        return costs[piece[0] != " "]
    if word.isupper():
        return _run(word.lower(), "upper") if len(word) > 1 else 1
    return _run(word, "lower") if word.islower() else 1 + _run(word[1:], "lower")


def _run(run: str, kind: str) -> int:
    """Return the cost of a run by its pairs of neighbours."""
    first, pairs = _weights().pairs[kind]
    return max(1, -(-(first + sum(pairs[left + right] for left, right in pairwise(run))) // _UNIT))


class _Weights:
    """The weights measured into `token_weights.json`: the maximum tokens in any vocabulary.

    `words`: tokens of a word with the space before it, and without. `marks`: of frequent punctuation. `pairs`: of other
    runs, by their neighbours, in `_UNIT`ths of a token. `digits`: how many one token holds.
    """

    def __init__(self, measured: Mapping[str, Any]) -> None:
        self._measured = measured
        self.words = {
            w: (int(cost[0]), int(cost[1])) for cost, words in measured["words"].items() for w in words.split()
        }
        self.marks = {mark: int(cost) for cost, marks in measured["marks"].items() for mark in marks}
        self.digits: Mapping[str, int] = measured["digits"]
        self.pairs = {kind: _pairs(**entry) for kind, entry in measured["pairs"].items()}

    def characters(self, of: str) -> dict[str, int]:
        """Characters that a vocabulary encodes in fewer tokens than bytes, or in more after normalization."""
        costs = zlib.decompress(base64.b64decode(self._measured["characters"][of]))
        codes = (code for codes in _CHARACTERS for code in codes)
        return {chr(code): cost for code, cost in zip(codes, costs, strict=True)}


def _pairs(signs: str, first: int, weights: list[int]) -> tuple[int, dict[str, int]]:
    return first, dict(zip((left + right for left in signs for right in signs), weights, strict=True))


@lru_cache(maxsize=1)
def _weights() -> _Weights:
    return _Weights(json.loads(Path(__file__).with_name("token_weights.json").read_text("utf-8")))
