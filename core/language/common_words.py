"""Everyday words that never make a topic."""

from __future__ import annotations

from functools import cache
from typing import Final

from core.language import languages
from core.language.lexicon import CALENDAR, NUMBER_WORDS
from core.language.terms import STOPWORDS, terms

PLAIN: Final = (STOPWORDS | CALENDAR | frozenset(NUMBER_WORDS)).union(
    *(language.lexicon.common for language in languages.ALL if language.lexicon and not language.has_script)
)
"""Words common in all conversations: of people, time, feeling, saying, wanting, and generic nouns."""

PLAIN_UNSPACED: Final = frozenset[str]().union(
    *(language.lexicon.common for language in languages.ALL if language.lexicon and language.has_script)
)
"""Common words, in scripts without spaces, that the dictionary's counts do not reveal."""


@cache
def plain_stems() -> frozenset[str]:
    """Return the stems of the English words of `PLAIN`; those of Chinese ones would load the Chinese dictionary."""
    return frozenset(term for word in PLAIN if word.isascii() for term in terms(word))
