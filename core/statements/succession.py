"""Statements that replace others without repeating them: an end, a new number, a closed past. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Final, Protocol

from core.language import languages
from core.language.lazy_regex import either
from core.language.lexicon import CALENDAR, NUMBER_WORDS
from core.language.spelling import american
from core.memoize import memoized_in_scope
from core.statements.comparison import read

OPPOSITE: Final = {"likes": "dislikes", "dislikes": "likes"}
"""Pairs of lists that deny each other."""


OPEN_SLOTS: Final = ("number.", "date.", "place.", "have.", "count.", "item.", "habit.", "plan.", "id.", "year.")
"""Slots of things of which one may have several: a second value replaces the first only where a change is announced."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The values that a statement adds to a list, or denies."""

    attribute: str
    values: tuple[str, ...]
    negated: bool = False

    @property
    def folded(self) -> frozenset[str]:
        return frozenset(map(normal_value, self.values))


class Statement(Protocol):
    """Common fields of a candidate, a known memory and its row."""

    @property
    def content(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def attribute(self) -> str | None: ...
    @property
    def value(self) -> str | None: ...


def plain(value: str | None) -> str:
    """Return a value in which case, width and spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", value or "").casefold().split())


def normal_value(value: str | None) -> str:
    """Return a value for comparison: case, width, spaces and British or American spelling do not count."""
    return _WORD.sub(lambda word: _american(word.group()), plain(value))


@memoized_in_scope
def folded(subject: str) -> str:
    """Return a subject as `statement_key` reads it: a user `ada` may be "Ada" elsewhere."""
    return unicodedata.normalize("NFKC", subject).casefold()


def slot_name(attribute: str | None) -> str | None:
    """Return a slot's name in one spelling: `preference.colour` and `preference.color` are one slot."""
    return attribute and _WORD.sub(lambda word: american(word.group()), attribute)


def gathered_list(structured: dict[str, Any]) -> Gathered | None:
    """Return the list that a memory adds to, if `structured` contains one; it may contain anything."""
    name, values = structured.get("attribute"), structured.get("values")
    if not isinstance(name, str) or not isinstance(values, list):
        return None
    texts = tuple(value for value in values if isinstance(value, str) and value)
    return Gathered(name, texts, bool(structured.get("negated"))) if name and texts else None


def ends(new: Statement, new_list: Gathered | None, old: Statement, old_list: Gathered | None) -> str | None:
    """Return the part of an older statement that a new one ends permanently; None if it ends nothing."""
    if (
        new_list
        and new_list.negated
        and old.attribute == new_list.attribute
        and normal_value(old.value) in new_list.folded
    ):
        return f"{old.attribute} is no longer {old.value}"
    if new_list is None or old_list is None or not old_list.folded <= new_list.folded | _denied_phrases(new.content):
        return None
    values = ", ".join(old_list.values)
    if _are_opposite(new_list, old_list) and read(new.content).ended:
        return f"{old_list.attribute} no longer holds {values}"
    if (new_list.attribute, new_list.negated) == (
        old_list.attribute,
        old_list.negated,
    ) and old_list.folded <= _denied_phrases(new.content):
        return f"{old_list.attribute} holds {', '.join(new_list.values)} instead of {values}"
    return None


def denies(new_list: Gathered | None, old_list: Gathered | None) -> str | None:
    """Return values on which two statements disagree, although neither says that something is over."""
    if new_list is None or old_list is None or not _are_opposite(new_list, old_list):
        return None
    both = new_list.folded & old_list.folded
    return f"one denies of {', '.join(sorted(both))} what the other says" if both else None


def number_change(new: str, old: str) -> str | None:
    """Return the two numbers if a statement gives another number of a thing ("my room is 204 now"); None: it does not.

    Only a bare number with its unit counts, because a thing may have several dates, times and places; and, but for an
    age, only where a change is announced, because one may have several rooms.
    """
    new_number = _numbered_thing(new)
    if new_number is None or not (announces_change(new) or new_number[0].endswith(_AGES)):
        return None
    old_number = _numbered_thing(old)
    if old_number is None or new_number[0] != old_number[0] or new_number[1] == old_number[1]:
        return None
    return f"{old_number[1]} → {new_number[1]}"


def has_number(content: str) -> bool:
    """Return whether a statement gives one number of one thing."""
    return _numbered_thing(content) is not None


def announces_change(content: str) -> bool:
    """Return whether a statement says that something is not as it was ("now", "moved to")."""
    return bool(_CHANGE.search(content))


def stands_beside(new: Statement, old: Statement) -> bool:
    """Return whether two values of one slot may both hold: of two lockers, or of a town and a district."""
    if new.attribute is None or announces_change(new.content) or getattr(new, "corrects", False):
        return False
    is_part = new.attribute == "home.city" and bool(_DISTRICT.search(new.value or ""))
    return is_part or (new.attribute.startswith(OPEN_SLOTS) and normal_value(new.value) != normal_value(old.value))


def is_past(statement: Statement) -> bool:
    """Return whether the words around a slot's value put it in the past ("used to live in Paris")."""
    value = (statement.value or "").casefold()
    clauses = _CLAUSE.split(statement.content)
    return bool(value) and any(value in clause.casefold() and bool(_PAST.search(clause)) for clause in clauses)


def _are_opposite(new_list: Gathered, old_list: Gathered) -> bool:
    if new_list.attribute == old_list.attribute:
        return new_list.negated != old_list.negated
    return OPPOSITE.get(new_list.attribute) == old_list.attribute and new_list.negated == old_list.negated


def _denied_phrases(content: str) -> frozenset[str]:
    """Return the phrases after "not" or "instead of"."""
    phrases = (phrase for pattern in _DENIED for phrase in pattern.findall(content))
    return frozenset(normal_value(phrase.strip(" .!。！")) for phrase in phrases)


@memoized_in_scope
def _numbered_thing(content: str) -> tuple[str, str] | None:
    """Return the thing with its unit, and its number."""
    for forms in reversed(_FORMS):  # The strictest first.
        match = forms.numbered.match(content)
        if match is None:
            continue
        if forms.numbers_alone:
            return f"{match['thing']}/{match['unit'] or ''}", match["number"]
        unit = (match["unit"] or "").casefold().split()
        if _is_number(match["number"]) and not any(word in CALENDAR for word in unit):
            return f"{normal_value(match['thing'])}/{' '.join(unit)}", normal_value(match["number"])
    return None


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) or word.casefold() in NUMBER_WORDS or word.casefold() == "one"


_WORD = re.compile(r"[a-z]+")

_american = memoized_in_scope(american)

_FORMS: Final = [language.statements for language in languages.ALL if language.statements]
_AGES: Final = tuple(f"/{forms.age}" for forms in _FORMS)
_CHANGE: Final = either(forms.change for forms in _FORMS)
_PAST: Final = either(forms.past for forms in _FORMS)
_DENIED: Final = [forms.denied for forms in _FORMS if forms.denied]
_DISTRICT: Final = either(forms.district for forms in _FORMS if forms.district)
_CLAUSE: Final = re.compile(rf"[,;.!?，；。！？]|{'|'.join(forms.clause.pattern for forms in _FORMS)}", re.IGNORECASE)
