"""Chooses the number of memories for a query. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.language import languages
from core.language.lazy_regex import either
from core.language.scripts import has_han

FEWEST: Final = 3
"""Memories for the plainest question: the answer, and a few more in case the best hit is wrong."""

MOST: Final = 15
"""Most memories: more would hide the answer rather than contain it."""

LONG: Final = (60, 150)
"""Characters from which a question counts as a story around what it asks, and as a long one."""

HAN_WEIGHT: Final = 3
"""Characters of English that say as much as one of Chinese."""


@dataclass(frozen=True, slots=True)
class Depth:
    """How many memories the question calls for, and why."""

    k: int
    reasons: tuple[str, ...]


_FORMS: Final = [language.context for language in languages.ALL if language.context]
_CUES: Final = tuple(
    (adds, reason, either(forms.depth[cue] for forms in _FORMS))
    for cue, adds, reason in (
        ("all", 6, "asks for all there is"),
        ("counts", 5, "counts or adds up"),
        ("compares", 4, "compares"),
        ("over_time", 3, "asks what changed over time"),
        ("reasons", 3, "asks for reasons or a judgement"),
        ("one_to_another", 2, "goes from one thing to another"),
    )
)
"""Signs of how much is asked for: the memories that each adds, once however often it matches."""

_ASKED: Final = either(forms.question_words for forms in _FORMS)
_JOINED: Final = either(forms.joined for forms in _FORMS)

READ: Final = 2_000
"""Characters of a query that are read; a longer text tells a story around the question."""

_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


def depth(query: str) -> Depth:
    """Return the number of memories that `query` asks for by its words."""
    query = query[:READ]
    findings = [(adds, reason) for adds, reason, cue in _CUES if cue.search(query)]
    findings += [
        finding for finding in (_things(query), _conjunctions(query), _names(query), _length(query)) if finding
    ]
    k = min(MOST, FEWEST + sum(adds for adds, _ in findings))
    return Depth(k, tuple(f"{reason} (+{adds})" for adds, reason in findings) or ("asks for one thing",))


def _things(query: str) -> tuple[int, str] | None:
    """Return the question words and question marks beyond the first."""
    questions = max(len(_ASKED.findall(query)), len(re.findall(r"[?？]+", query)))
    return (min(4, 2 * (questions - 1)), f"asks {questions} things") if questions > 1 else None


def _conjunctions(query: str) -> tuple[int, str] | None:
    joints = len(_JOINED.findall(query))
    return (min(3, joints), f"joins {joints + 1} parts") if joints else None


def _names(query: str) -> tuple[int, str] | None:
    names = len(set(_NAME.findall(query)))
    return (min(3, names - 1), f"names {names} people, places or things") if names > 1 else None


def _length(query: str) -> tuple[int, str] | None:
    han = sum(map(has_han, query)) if has_han(query) else 0
    length = len(query) + (HAN_WEIGHT - 1) * han
    adds = sum(length >= long for long in LONG)
    return (adds, "is long" if adds == 1 else "is very long") if adds else None
