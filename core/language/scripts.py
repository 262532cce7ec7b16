"""Compares the scripts of two texts (Latin, Han, Cyrillic, …), by the Unicode names of their letters. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import Final

TOGETHER: Final = {"CJK": "HAN", "HIRAGANA": "HAN", "KATAKANA": "HAN"}
"""Scripts that one language mixes, under one name."""

LEAST_LETTERS: Final = 2
"""Letters below which nothing is said about a text."""

LEAST_SHARE: Final = 0.2
"""Share of the letters from which a text is written in a script."""

HAN: Final = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as a set of a pattern."""

_WORD: Final = re.compile(r"[^\W\d_]+")


def is_foreign(text: str, source: str) -> bool:
    """Return whether a text is mostly in a script that its source hardly uses; words of both (names) do not count.

    A text in another language of the same script is not recognised.
    """
    held, own = _letters(_without(source, text)), _letters(_without(text, source))
    if min(held.total(), own.total()) < LEAST_LETTERS:
        return False
    script, count = own.most_common(1)[0]
    return count > own.total() / 2 and held[script] < LEAST_SHARE * held.total()


def _without(text: str, other: str) -> str:
    return _WORD.sub(lambda word: "" if word.group() in other else word.group(), text)


def _letters(text: str) -> Counter[str]:
    return Counter(script for script in map(_script, text) if script)


@cache
def _script(character: str) -> str:
    """Return the script of a letter, empty for anything else."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").partition(" ")[0]
    return TOGETHER.get(name, name)


def has_han(text: str) -> bool:
    """Return whether Chinese characters (or the kanji of Japanese) are in it."""
    return re.search(f"[{HAN}]", text) is not None
