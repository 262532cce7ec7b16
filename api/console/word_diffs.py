"""Differences between two wordings, word by word; of Chinese and Japanese, character by character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

MOST_WORDS: Final = 2_000
"""Words above which a wording is shown whole: comparing takes the square of them."""

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text that both have, or only the earlier (`gone`) or the later wording (`new`)."""

    kind: Literal["same", "gone", "new"]
    text: str


def words(before: str, after: str) -> Sequence[Part]:
    """Return the parts of both wordings in order."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > MOST_WORDS:
        return [Part("gone", before), Part("new", after)]
    found: list[Part] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Part("same", "".join(old[i:j])))
            continue
        if i < j:
            found.append(Part("gone", "".join(old[i:j])))
        if k < m:
            found.append(Part("new", "".join(new[k:m])))
    return found
