"""Scores whether a statement is worth keeping.

The weights are those of a logistic regression on the cues over two people's everyday conversations, rounded: a message
cited by a reader's notes against one that is not. `bench/extract.py` measures what they are worth together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from core.language import languages
from core.language.lazy_regex import either, lazy_regex

THRESHOLD = -0.15
"""A message below it is small talk."""

LIGHTEST = 1.0
"""A statement below it is dropped even if its message is kept."""

BRIEF, LIGHTEST_BRIEF = 4, 1.6
"""Minimum weight by number of words: "My tea got cold" says nothing, "My grandmother died" does."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Context of the statements of a message."""

    message: str
    position: int
    answers: bool
    dated: bool
    novelty: float


BIAS = -2.2
LENGTH, OPENING, ANSWER, DATE, NOVELTY = 0.5, 0.5, 0.5, 0.8, 0.9


_HAN = lazy_regex(r"[\u4e00-\u9fff]")


_FORMS: Final = [language.salience for language in languages.ALL if language.salience]
_DEFAULT: Final = _FORMS[0]
_MESSAGE: Final = [cue for forms in _FORMS for cue in forms.message]
_TAKES_BACK: Final = either(forms.takes_back for forms in _FORMS)


def is_statement(plain: str) -> bool:
    """Return whether a plain sentence can be understood alone: no courtesy, not addressed to the listener."""
    return (languages.of(plain).salience or _DEFAULT).is_statement(plain)


def is_told(plain: str) -> bool:
    """Return whether a sentence tells something of its speaker that can be understood alone."""
    return (languages.by_script(plain).salience or _DEFAULT).is_told(plain)


def weigh(statement: str) -> float:
    """Return the weight of one statement (plain words) without its context."""
    own = (forms for forms in _FORMS if forms.own and forms.own.search(statement))
    cues = next(own, _DEFAULT).cues
    return LENGTH * math.log1p(_words(statement)) + sum(cue.weight for cue in cues if cue.regex.search(statement))


def takes_back(statement: str) -> bool:
    """Return whether a statement says that something is over; dropping it would leave the old fact in force."""
    return bool(_TAKES_BACK.search(statement))


def is_worth_a_line(statement: str) -> bool:
    """Return whether a statement may be stored by itself if its message is kept."""
    return weigh(statement) >= (LIGHTEST_BRIEF if 1 < len(statement.split()) <= BRIEF else LIGHTEST)


def _words(text: str) -> float:
    """Return the number of words; a Han character counts as two thirds of a word."""
    return len(text.split()) + len(_HAN.findall(text)) / 1.5


def message_weight(statements: list[str], setting: Setting) -> float:
    """Return the weight of a message with these `statements`, kept from `THRESHOLD`."""
    total = BIAS + weigh(" ".join(statements))
    total += OPENING / setting.position + ANSWER * setting.answers + DATE * setting.dated + NOVELTY * setting.novelty
    return total + sum(cue.weight for cue in _MESSAGE if cue.regex.search(setting.message))
