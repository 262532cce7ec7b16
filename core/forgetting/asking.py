"""Decides whether a sentence commands to delete something, or says that something is deleted. Pure."""

from __future__ import annotations

from typing import Final

from core.forgetting.text import READ, plain
from core.forgetting.wording import (
    BARE,
    COMMAND,
    FOREIGN,
    MEMORY_SOURCE,
    NEGATED,
    QUESTION,
    REPORT,
    WRITING,
)
from core.language import languages
from core.language.lazy_regex import either, lazy_regex


def mentions_erasure(message: str) -> bool:
    """Return whether a message may speak of something deleted or outdated, so that it may repeat what was erased."""
    text = plain(message[:READ])
    return COMMAND.search(text) is not None or DECLARED.search(text) is not None or _FORMER.search(text) is not None


def without_quotations(text: str) -> str:
    """Blank quoted speech that contains a request itself; names and values in quotes stay."""
    return _QUOTATION.sub(
        lambda match: " " * len(match.group()) if COMMAND.search(match.group()) else match.group(), text
    )


def commands(sentence: str) -> bool:
    """Return whether a sentence commands to delete, of whatever, but from a place that it names."""
    if any(pattern.search(sentence) for pattern in (NEGATED, QUESTION, WRITING, REPORT)):
        return False
    return BARE.search(sentence) is not None and not _is_elsewhere(sentence)


def declares(sentence: str) -> bool:
    """Return whether a sentence says that something is or was deleted."""
    return DECLARED.search(sentence) is not None and not _UNDONE.search(sentence)


def _is_elsewhere(sentence: str) -> bool:
    """Return whether something is to be taken from anything but the memory: "from the list"."""
    return FOREIGN.search(sentence) is not None and not MEMORY_SOURCE.search(sentence)


_FORMS: Final = [language.forgetting.asking for language in languages.ALL if language.forgetting]

OF_VALUE: Final = either(forms.of_value for forms in _FORMS)
"""A value of a thing."""


_FORMER: Final = either(forms.former for forms in _FORMS)


DECLARED: Final = either(forms.declared for forms in _FORMS)
"""Statements that something is or was deleted."""

_UNDONE: Final = either(forms.undone for forms in _FORMS)
"""Signs that it is not deleted, or not yet, or that somebody asks whether."""

AGREES: Final = either(forms.agrees for forms in _FORMS)

_QUOTATION: Final = lazy_regex(r'"[^"\n]{3,400}"|“[^”\n]{3,400}”|(?<!\w)\'[^\'\n]{8,400}\'(?!\w)')
