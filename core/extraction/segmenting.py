"""Sentences of people who write without full stops: a trained reader tells where they end. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LONG: Final = 50
"""Weight of a piece from which the reader looks for sentences in it: characters, a wide one counts as several."""

WIDE: Final = 3
"""What a character of a script without spaces weighs."""

ENDS: Final = 0.5
"""Log-odds from which a sentence ends."""

_WIDE = re.compile(r"[\u2e80-\uffff]")
_EMOJI: Final = "\U0001f300-\U0001faff\u2600-\u27bf\ufe0f"
_PLACES = re.compile(
    rf"(?<=\S)\s+|(?<=[，、；：～…])(?![，、；：～…\s])|(?<=[,;~])(?=[\u2e80-\uffff])|(?<=[{_EMOJI}])(?![{_EMOJI}\s])"
)


class Reader(Protocol):
    """Tells where sentences end."""

    def breaks(self, chunks: Sequence[str]) -> Floats:
        """Return the log-odds that a sentence ends behind each chunk of a text but the last of those that it can read.

        It reads as many as fit, at least one: one more than it answers.
        """


def chunks(text: str) -> list[str]:
    """Return a text cut wherever a sentence might end: between words, and behind a comma or an emoji; all of it."""
    ends = [match.end() for match in _PLACES.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *(end for end in ends if 0 < end < len(text)), len(text)])]


def segments(text: str, reader: Reader) -> list[str]:
    """Return the sentences of a text without full stops; a short one is one sentence."""
    if len(text) + (WIDE - 1) * len(_WIDE.findall(text)) < LONG:
        return [text]
    left, result = chunks(text), list[str]()
    while left:
        log_odds = reader.breaks(left)
        read = len(log_odds) + 1
        ends = [int(place) + 1 for place in np.flatnonzero(log_odds >= ENDS)]
        if read < len(left):  # What comes behind the last end is read again, with what follows it.
            done = ends[-1] if ends else read
            ends = [*ends[:-1], done]
        else:
            done = read
            ends = [*ends, done]
        result += ["".join(left[start:end]).strip() for start, end in pairwise([0, *ends])]
        left = left[done:]
    return [segment for segment in result if segment]


def starts(parts: Sequence[str]) -> list[int]:
    """Return where each part of a text begins in it."""
    return [0, *accumulate(map(len, parts))][:-1]
