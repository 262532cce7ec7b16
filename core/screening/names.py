"""Tells names from sentences: the name of a speaker stands before what they say, in memories and prompts. Pure."""

from __future__ import annotations

import re
from typing import Final

from core.memoize import memoized
from core.screening import screen

LONGEST: Final = 64
"""Characters of a name."""

WORDS: Final = 6
"""Words of a name."""

LOWER_WORDS: Final = 3
"""Words of a name in lower case."""

HAN_LETTERS: Final = 16
"""Chinese characters of a name; without spaces between words, a longer run is a sentence."""

_NEVER = re.compile(r"[\x00-\x1f\x7f()\[\]{}<>（）【】「」『』《》〈〉［］｛｝*`|#\"“”„«»：；。！？，、…\u2028\u2029]")
_SENTENCE = re.compile(r"[.!?,:;]")
_SHORT = re.compile(r"\b(?:\w|dr|mr|mrs|ms|prof|st|jr|sr|von|v)\.", re.IGNORECASE)
_HAN = re.compile(rf"[\u3400-\u9fff]{{{HAN_LETTERS + 1},}}")
_PARTICLES = frozenset(
    "a al and ap bin bint da das de del della der di do dos du e el ibn la le of the van von y zu".split()
)


@memoized(8192)
def is_name(text: str) -> bool:
    """Return whether a text can be a name: short, without marks of sentences or markup, and no command."""
    if not text.strip() or len(text) > LONGEST or _NEVER.search(text) or _HAN.search(text):
        return False
    words = text.split()
    if len(words) > 1 and (_SENTENCE.search(_SHORT.sub("", text)) or not _are_words_of_a_name(words)):
        return False
    return not screen.screen(text).hostile


def _are_words_of_a_name(words: list[str]) -> bool:
    """Return whether all words but particles begin with capitals or signs, or at most three are all in lower case."""
    lower = [word for word in words if word[0].islower() and word.lower() not in _PARTICLES]
    return len(words) <= WORDS if not lower else len(lower) == len(words) <= LOWER_WORDS
