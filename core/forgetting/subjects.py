"""Kinds of things that people ask to have forgotten, with the words that name them and those that state them. Pure.

A request says "my salary"; the statement said "They're paying me 58,400 a year".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language import languages
from core.language.lazy_regex import lazy_regex


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """A kind of thing: how requests name it, how statements state it, and how its value looks, if it has one."""

    named: re.Pattern[str]
    stated: re.Pattern[str]
    value: re.Pattern[str] | None = None


def _kind(named: str, stated: str, value: str | None = None) -> SubjectKind:
    pattern = None if value is None else lazy_regex(value, re.IGNORECASE)
    return SubjectKind(
        lazy_regex(named, re.IGNORECASE), lazy_regex(f"(?:{named})|(?:{stated})", re.IGNORECASE), pattern
    )


_CODE_SHAPE: Final = r"(?<![a-z0-9_-])(?=[a-z_-]{0,40}\d)[a-z0-9][a-z0-9_-]{2,40}(?![a-z0-9_])"
"""A code, password or number: three characters or more, with a digit among them."""

_DIGITS: Final = r"(?<![a-z0-9])\+?\d[\d -]{4,20}\d(?![a-z0-9])"


_FORMS: Final = [language.forgetting for language in languages.ALL if language.forgetting]

_MONEY: Final = rf"\d[\d,.]*\d\s?(?:{'|'.join(forms.money_units for forms in _FORMS)})?"

_VALUES: Final[Mapping[str, str]] = {"code": _CODE_SHAPE, "phone": _DIGITS, "identity": _CODE_SHAPE, "pay": _MONEY}
"""How the values of some kinds look in every language."""


def _kind_of(name: str) -> SubjectKind:
    several = [forms.subjects[name] for forms in _FORMS if name in forms.subjects]
    named, stated, value = ("|".join(filter(None, sources)) for sources in zip(*several, strict=True))
    return _kind(named, stated, "|".join(filter(None, (value, _VALUES.get(name)))) or None)


KINDS: Final[Mapping[str, SubjectKind]] = {name: _kind_of(name) for forms in _FORMS for name in forms.subjects}


def named(description: str) -> frozenset[str]:
    """Return the kinds that a description names; it is in `text.plain` form."""
    return frozenset(name for name, kind in KINDS.items() if kind.named.search(description))


def stated(statement: str) -> frozenset[str]:
    """Return the kinds of which a statement may be one; it is in `text.plain` form."""
    return frozenset(name for name, kind in KINDS.items() if kind.stated.search(statement))


def values(kinds: frozenset[str], statement: str) -> list[tuple[int, int]]:
    """Return the places of values of these kinds in a statement in `text.plain` form."""
    patterns = [pattern for name in sorted(kinds) if (pattern := KINDS[name].value) is not None]
    return sorted({match.span() for pattern in patterns for match in pattern.finditer(statement)})
