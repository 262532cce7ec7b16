"""Statements that replace others without repeating them: an end, a new number, a closed past. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Final, Protocol

from core.language.lazy_regex import lazy_regex
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
    """Common fields of a candidate and a known memory."""

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
    if new_number is None or not (announces_change(new) or new_number[0].endswith(("/years old", "/岁"))):
        return None
    old_number = _numbered_thing(old)
    if old_number is None or new_number[0] != old_number[0] or new_number[1] == old_number[1]:
        return None
    return f"{old_number[1]} → {new_number[1]}"


def has_number(content: str) -> bool:
    """Return whether a statement gives one number of one thing."""
    return _numbered_thing(content) is not None


def announces_change(content: str) -> bool:
    """Return whether a statement says that something is not as it was ("now", "moved to", "改成")."""
    return bool(_CHANGE.search(content))


def stands_beside(new: Statement, old: Statement) -> bool:
    """Return whether two values of one slot may both hold: of two lockers, or of a town and a district."""
    if new.attribute is None or announces_change(new.content) or getattr(new, "corrects", False):
        return False
    is_part = new.attribute == "home.city" and bool(_DISTRICT.search(new.value or ""))
    return is_part or (new.attribute.startswith(OPEN_SLOTS) and normal_value(new.value) != normal_value(old.value))


def is_past(statement: Statement) -> bool:
    """Return whether the words around a slot's value put it in the past ("used to live in Paris", "以前住在上海")."""
    value = (statement.value or "").casefold()
    clauses = _CLAUSE.split(statement.content)
    return bool(value) and any(
        value in clause.casefold() and bool(_PAST.search(clause) or _PAST_ZH.search(clause)) for clause in clauses
    )


def _are_opposite(new_list: Gathered, old_list: Gathered) -> bool:
    if new_list.attribute == old_list.attribute:
        return new_list.negated != old_list.negated
    return OPPOSITE.get(new_list.attribute) == old_list.attribute and new_list.negated == old_list.negated


def _denied_phrases(content: str) -> frozenset[str]:
    """Return the phrases after "not" or "instead of"."""
    return frozenset(normal_value(found.strip(" .!。！")) for found in _INSTEAD_OF.findall(content))


@memoized_in_scope
def _numbered_thing(content: str) -> tuple[str, str] | None:
    """Return the thing with its unit, and its number."""
    if found := _NUMBERED_ZH.match(content):
        return f"{found['thing']}/{found['unit'] or ''}", found["number"]
    found = _NUMBERED.match(content)
    if found is None or not _is_number(found["number"]):
        return None
    unit = (found["unit"] or "").casefold().split()
    if any(word in CALENDAR for word in unit):
        return None
    return f"{normal_value(found['thing'])}/{' '.join(unit)}", normal_value(found["number"])


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) or word.casefold() in NUMBER_WORDS or word.casefold() == "one"


_WORD = re.compile(r"[a-z]+")

_american = memoized_in_scope(american)

_CLAUSE = re.compile(r"[,;.!?，；。！？]|\b(?:but|and) (?:now|then|today|since)\b|\bbut\b|现在|后来", re.IGNORECASE)

_CHANGE = lazy_regex(
    r"\b(?:now|these days|new|instead|no longer|any ?more|rather than|chang(?:ed|ing)|mov(?:ed|ing)|switched|swapped|"
    r"replaced|rescheduled|postponed|delayed|pushed|brought forward|put (?:back|off)|up to|down to|back to|raised|"
    r"cut to|sold|gave (?:up|back)|given up|handed in|returned|turned in|cancell?ed|called off|stopped|quit|gone)\b|"
    r"现在|如今|目前|改|换|新|变|不再|不用|搬|调|升|推迟|提前|延期|挪|取消|更正|其实|不是|退|卖|没有了|去世|走了|停",
    re.IGNORECASE,
)
_DISTRICT = re.compile(r"(?:区|路|街|镇|乡|小区|新村|巷|弄|花园|公寓)$")

_PAST = re.compile(
    r"\bused to\b|\bformerly\b|\bpreviously\b|\bin the past\b|\bback then\b|\bat (?:the|that) time\b"
    r"|\bbefore (?:that|this)\b"
    r"|\bas an? (?:child|kid|boy|girl|teenager|student)\b|\bwhen (?:I|he|she|they|we|\w+) (?:was|were)\b"
    r"|(?<!have )(?<!has )(?<!ve )\b(?:lived|resided|worked)\b"
    r"|\b(?:was|were) an? .*\b(?:until|till|from .+ (?:to|until|till)|between)\b",
    re.IGNORECASE,
)

_PAST_ZH = re.compile(r"以前|从前|曾经|曾在|之前|小时候|那时候?|当时|过去(?!了)")

_INSTEAD_OF = re.compile(r"\b(?:not|instead of|rather than|no longer)\s+([^,.;!?]+)", re.IGNORECASE)

_NUMBERED = re.compile(
    r"^(?P<thing>(?:.{1,60}?['’]s?|my|our|his|her|their) \S.{0,60}?) is (?:now |only |already )?(?P<number>[^\s,;]+?)"
    r"(?P<unit>(?: (?!at\b|in\b|on\b|of\b|to\b|and\b|or\b|by\b)[a-z]+){0,2})[.!]?$",
    re.IGNORECASE,
)

_NUMBERED_ZH = re.compile(
    r"^(?P<thing>[^，。,]{1,24}?(?:的[^，。,]{1,12}?)?)(?:现在|今年|已经)*(?:是)?"
    r"(?P<number>\d+|[一二两三四五六七八九十百]+)(?P<unit>岁|号|楼|层|室)?了?[。！]?$"
)
