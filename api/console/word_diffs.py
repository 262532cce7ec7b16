"""Differences between two wordings, word by word; of Chinese and Japanese, character by character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

MOST_WORDS: Final = 600
"""Words, with the spaces between them, above which a wording is shown whole."""

PAIRS: Final = 1_000_000
"""Pairs of words compared for one page, 0.3 seconds at the most; wordings beyond are shown whole."""

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class WordingPart:
    """A piece of text that both have, or only the earlier (`gone`) or the later wording (`new`)."""

    kind: Literal["same", "gone", "new"]
    text: str


class Comparisons:
    """The comparisons of one page, which have a bound together."""

    def __init__(self) -> None:
        self._pairs = PAIRS

    def words(self, before: str, after: str) -> Sequence[WordingPart]:
        """Return the parts of both wordings in order."""
        old, new = _WORD.findall(before), _WORD.findall(after)
        pairs = len(old) * len(new)
        if max(len(old), len(new)) > MOST_WORDS or pairs > self._pairs:
            return [WordingPart("gone", before), WordingPart("new", after)]
        self._pairs -= pairs
        return _parts(old, new)


def _parts(old: Sequence[str], new: Sequence[str]) -> Sequence[WordingPart]:
    parts: list[WordingPart] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(WordingPart("same", "".join(old[i:j])))
            continue
        if i < j:
            parts.append(WordingPart("gone", "".join(old[i:j])))
        if k < m:
            parts.append(WordingPart("new", "".join(new[k:m])))
    return parts
