"""Part of a person's memory that is shown while they work on a project, beside the memory of that project. Pure."""

from __future__ import annotations

from typing import Any, Final

from core.language import languages
from core.language.lazy_regex import either, lazy_regex
from core.language.terms import STOPWORDS, terms
from core.types import Category, Message, Topic

PERSONAL: Final = frozenset(
    {Topic.PERSONAL, Topic.LOCATION, Topic.HEALTH, Topic.RELATIONSHIP, Topic.CONTACT, Topic.FINANCE}
)
"""Topics of statements about the person, wherever they were made."""

SAME_QUESTION: Final = 0.5
"""Share of the terms of an earlier question from which it counts as the same one in other words."""

_WORD: Final = lazy_regex(r"\w+")

_FORMS: Final = [language.context for language in languages.ALL if language.context]
_OF_THE_PROJECT: Final = either(forms.of_project for forms in _FORMS)


def is_shown(row: Any, group_id: str | None) -> bool:
    """Return whether a memory of the user is shown at work on this project.

    What was said of another project is not, except standing wishes that do not name it and statements about the person.
    """
    if row.group_id in {None, group_id}:
        return True
    if row.category == Category.INSTRUCTION:
        return not _OF_THE_PROJECT.search(row.content.lower())
    return row.topic in PERSONAL


def is_heard(message: Message, group_id: str | None) -> bool:
    """Return whether a message was said to this project, or to no group."""
    return message.group_id in {None, group_id}


def repeats(message: Message, question: str) -> bool:
    """Return whether a message only asks what is asked now, and so cannot answer it."""
    if message.role != "user":
        return False
    if _WORD.findall(message.content.casefold()) == _WORD.findall(question.casefold()):
        return True
    if not message.content.rstrip().endswith(("?", "？")):
        return False
    earlier, now = (frozenset(terms(text)) - STOPWORDS for text in (message.content, question))
    return len(earlier & now) >= SAME_QUESTION * len(earlier)
