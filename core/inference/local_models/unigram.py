"""Unigram tokenizer (Kudo 2018): of all ways to cut a word into pieces, the most probable one.

A library's tokenizer with 250,000 pieces takes 270 MB in each process; this one takes 6 (`pieces.py`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from core.inference.local_models.pieces import PieceTable

LONGEST_PIECE: Final = 16
"""Characters of a piece."""

SPACE: Final = "▁"
"""Begins each word; no piece has it elsewhere, so words are cut one by one."""

_UNKNOWN_PENALTY: Final = 10.0
"""How far a character without a piece lies below the least probable piece; the value of SentencePiece."""

_DECOMPOSED: Final = 4
"""Characters into which one is decomposed at the most."""

_WORDS: Final = re.compile(r"[^ ]+|\A\Z")
"""A text without words is one empty word."""


class Unigram:
    """Cuts texts into ids of pieces. Safe to share between threads."""

    def __init__(self, pieces: Iterable[str], scores: Sequence[float], unknown: int, normal: Mapping[int, str]) -> None:
        """`pieces` in the order of ids; `scores`: log probabilities by id; `normal`: replacements of characters."""
        self._pieces, self._scores = PieceTable(pieces, len(scores)), scores
        self._unknown, self._normal = unknown, dict(normal)
        self._unknown_score = min(scores) - _UNKNOWN_PENALTY

    def ids(self, text: str, most: int) -> list[int]:
        """Return the ids of a text's pieces, at most so many."""
        return [piece for piece, _, _ in self.places(self.normalised(text[: most * LONGEST_PIECE * _DECOMPOSED]), most)]

    def places(self, normalised: str, most: int) -> list[tuple[int, int, int]]:
        """Return the pieces of a normalised text, at most so many: id, start, and end, without the space before it."""
        pieces: list[tuple[int, int, int]] = []
        for match in _WORDS.finditer(normalised[: most * LONGEST_PIECE]):
            before = match.start() - len(SPACE)
            cut = self._cut(SPACE + match.group())
            pieces += [(piece, max(before + start, match.start()), before + end) for piece, start, end in cut]
            if len(pieces) >= most:
                return pieces[:most]
        return pieces

    def normalised(self, text: str) -> str:
        """Return a text with the characters of the pieces: replaced one by one, then composed.

        The model's table holds NFKC for single characters; composed afterwards (NFC), a text has the same pieces in
        every form, also where its marks stand in another order.
        """
        return unicodedata.normalize("NFC", text.translate(self._normal)).strip(" ")

    def _cut(self, word: str) -> list[tuple[int, int, int]]:
        """Return the most probable pieces of a word (Viterbi 1967) and their places; unknown neighbours become one."""
        piece_at, scores = self._pieces.get, self._scores
        best = [0.0] + [-float("inf")] * len(word)
        steps: list[tuple[int, int]] = [(0, self._unknown)] * (len(word) + 1)
        for start in range(len(word)):
            here = best[start]
            for end in range(start + 1, min(start + LONGEST_PIECE, len(word)) + 1):
                piece = piece_at(word[start:end])
                if piece is not None and here + scores[piece] > best[end]:
                    best[end], steps[end] = here + scores[piece], (start, piece)
            if here + self._unknown_score > best[start + 1]:
                best[start + 1], steps[start + 1] = here + self._unknown_score, (start, self._unknown)
        cut: list[tuple[int, int, int]] = []
        end = len(word)
        while end:
            start, piece = steps[end]
            if piece == self._unknown and cut and cut[-1][0] == self._unknown:
                cut[-1] = piece, start, cut[-1][2]
            else:
                cut.append((piece, start, end))
            end = start
        return cut[::-1]
