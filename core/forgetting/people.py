"""Reads of whom a statement or a description speaks: relatives and roles, and names. Pure."""

from __future__ import annotations

from typing import Final

from core.language import languages
from core.language.lazy_regex import lazy_regex

_FORMS: Final = [(language, language.forgetting) for language in languages.ALL if language.forgetting]
_SYNONYMS: Final = {role: other for _, forms in _FORMS for role, other in forms.synonyms.items()}
_ROLE: Final = lazy_regex(
    rf"\b(?P<spaced>{'|'.join(forms.roles for language, forms in _FORMS if not language.has_script)})(?:s(?=\b)|"
    rf"'s)?\b|(?P<unspaced>{'|'.join(forms.roles for language, forms in _FORMS if language.has_script)})"
)
_NAME: Final = lazy_regex("|".join(forms.name for _, forms in _FORMS))


def roles(text: str) -> frozenset[str]:
    """Return the relatives and roles that a text in `text.plain` form mentions."""
    mentioned = (match["spaced"] or match["unspaced"] for match in _ROLE.finditer(text))
    return frozenset(_SYNONYMS.get(role, role) for role in mentioned)


def names(text: str) -> frozenset[str]:
    """Return the words of a text that may be names of people and places; the first word of a sentence may be one."""
    return frozenset(match.group() for match in _NAME.finditer(text))
