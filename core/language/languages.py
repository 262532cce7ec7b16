"""The languages that are known, and which of them a text is in."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from core.language.de.language import GERMAN
from core.language.en.dates import DATES as ENGLISH_DATES
from core.language.en.language import ENGLISH
from core.language.en.language import GRAMMAR as ENGLISH_GRAMMAR
from core.language.en.phrases import PHRASES as ENGLISH_PHRASES
from core.language.language import Grammar, Language
from core.language.parts import Phrases
from core.language.zh.language import CHINESE

ALL: Final = (ENGLISH, CHINESE, GERMAN)

DEFAULT: Final = ENGLISH
"""Stands for the languages that are not known."""

BEGINNING: Final = 4
"""Characters before a pronoun that begins a sentence, such as "and "."""

_SEVERAL_WAYS: Final = [language.written_plainly for language in ALL if language.written_plainly]
_TOLD_APART: Final = [(language, language.is_of) for language in ALL if language.is_of]


def of(text: str) -> Language:
    """Return the language of a text."""
    for language, is_of in _TOLD_APART:
        if is_of(text):
            return language
    return DEFAULT


def grammar_of(text: str) -> Grammar:
    """Return the grammar of the language of a text; that of English stands for those without."""
    return of(text).grammar or ENGLISH_GRAMMAR


def phrases(language: Language) -> Phrases:
    """Return the sentences that the rooms write in a language; those of English for one without."""
    return language.phrases or ENGLISH_PHRASES


def day(when: datetime, language: Language) -> str:
    """Return a day in words."""
    return (language.dates or ENGLISH_DATES).day(when)


def plainly_written(text: str) -> str:
    """Return a text in the characters that are searched for, where a language has several for one."""
    for write in _SEVERAL_WAYS:
        text = write(text)
    return text


def by_script(text: str) -> Language:
    """Return the language whose letters stand in a text, be they few, else that of the text."""
    return next((language for language in ALL if language.has_script and language.has_script(text)), None) or of(text)


def begins_with_somebody(sentence: str) -> bool:
    """Return whether a sentence begins with "she" or "they", whom only another one can name."""
    somebody = grammar_of(sentence).somebody
    match = somebody.search(sentence.lower()) if somebody else None
    return match is not None and match.start() <= BEGINNING
