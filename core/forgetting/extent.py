"""Reads how much a request to forget covers, and which of its clauses say what stays. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from core.forgetting.asking import DECLARED
from core.forgetting.text import plain
from core.forgetting.wording import COMMAND, SOURCE
from core.language import languages
from core.language.lazy_regex import either


class ForgetScope(StrEnum):
    """Extent of a request: a value or statement, what was said last, a person or topic, or everything.

    `UNNAMED`: a value that was said, without a word of the memory. `SIMILAR`: the statement that is nearest to it in
    meaning, which is a guess. `SUGGESTED`: what a model takes it to mean.
    """

    FACT = "fact"
    LAST = "last"
    ALL_ABOUT = "all_about"
    EVERYTHING = "everything"
    UNNAMED = "unnamed"
    SIMILAR = "similar"
    SUGGESTED = "suggested"


def scope_of(request: str) -> ForgetScope:
    """Return the extent of a request in `text.plain` form."""
    text = SOURCE.sub(" ", request)
    if _EVERYTHING.search(text) and not _SOMEONE_ELSE.search(text):
        return ForgetScope.EVERYTHING
    if _ALL_ABOUT.search(text):
        return ForgetScope.ALL_ABOUT
    if _LAST.search(text):
        return ForgetScope.LAST
    return ForgetScope.FACT


def is_kept(clause: str) -> bool:
    """Return whether a clause of a request says what stays, or names the value that replaces another."""
    text = plain(clause)
    if _NO_LONGER.search(text):
        return False
    asks = COMMAND.search(text) or DECLARED.search(text) or _NOT_KEPT.search(text)
    return _KEEPS.search(text) is not None and not (asks and not _STAYS.search(text))


_FORMS: Final = [language.forgetting.extent for language in languages.ALL if language.forgetting]

_EVERYTHING: Final = either(forms.everything for forms in _FORMS)

_SOMEONE_ELSE: Final = either(forms.someone_else for forms in _FORMS)

_ALL_ABOUT: Final = either(forms.all_about for forms in _FORMS)

_LAST: Final = either(forms.last for forms in _FORMS)

ABOUT_SELF: Final = either(forms.about_self for forms in _FORMS)

_KEEPS: Final = either(forms.keeps for forms in _FORMS)

_NO_LONGER: Final = either(forms.no_longer for forms in _FORMS)

_NOT_KEPT: Final = either(forms.not_kept for forms in _FORMS)

_STAYS: Final = either(forms.stays for forms in _FORMS)

UNSAID: Final = either(forms.unsaid for forms in _FORMS)
"""Statements that something is not to be said again, rather than that it stays."""
