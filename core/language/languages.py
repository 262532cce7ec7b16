"""The languages that are known, and which of them a text is in."""

from __future__ import annotations

from core.language import sentences
from core.language.en.language import ENGLISH
from core.language.language import Language
from core.language.zh.language import CHINESE


def of(text: str) -> Language:
    """Return the language of a text; English stands for those that are not known."""
    return CHINESE if sentences.is_chinese(text) else ENGLISH
