"""Signals in the query text: times, people, roles, breadth.

Pure. Of a language without a table of questions only the names of speakers are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from core.index.answer_cues import asks_time
from core.index.resident.encoding import ROLES
from core.language import languages
from core.language.lazy_regex import either
from core.language.terms import STOPWORDS, terms
from core.search import time_spans
from core.search.time_spans import TimeSpan

LONGEST: Final = 2_000
"""Characters of a question that are read; a longer text tells a story around the question."""

NARROW: Final = 7
"""Terms, without names of speakers, from which a question asks for one thing however it is phrased."""

BROAD: Final = 3
"""Terms up to which a question is as broad as its form: "What books has Tim read?"."""

_QUESTIONS: Final = [language.questions for language in languages.ALL if language.questions]
_SEVERAL: Final = either(forms.several for forms in _QUESTIONS)
_TOLD_ME: Final = either(forms.told_me for forms in _QUESTIONS)
_REMIND: Final = either(forms.remind for forms in _QUESTIONS)
_TO_ME: Final = either(forms.to_me for forms in _QUESTIONS)
_OF_ME: Final = either(forms.of_me for forms in _QUESTIONS)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Signals of a question. `wants_time`: it asks when. `spans`: the times it names.

    `role`: of a person and an assistant, the one whose words are asked for; empty: unknown. `speaker`: the speaker it
    names; None: nobody, or several, or it asks by `role`. `breadth` (0 … 1): number of places in which the answer is
    likely found: 0 for one, 1 for every mention.
    """

    wants_time: bool = False
    spans: tuple[TimeSpan, ...] = ()
    role: Literal["", "user", "assistant"] = ""
    speaker: str | None = None
    breadth: float = 0.0


PLAIN = Analysis()
"""A question without signals besides its words."""


def analyse(question: str, now: datetime, speakers: Iterable[str]) -> Analysis:
    """Analyse a question asked at `now` about what these speakers said."""
    text = question[:LONGEST].replace("\u2019", "'")
    speakers_named = _named_speakers(text, speakers)
    when = asks_time(text)
    spans = tuple(time_spans.spans(text, now))
    role = _role(text)
    return Analysis(
        wants_time=when,
        spans=spans,
        role=role,
        # "What did I tell Ann?" asks for what was told to her.
        speaker=speakers_named[0] if len(speakers_named) == 1 and not role else None,
        breadth=0.0 if when or spans else _breadth(text, speakers_named),
    )


def asks_assistant(question: str) -> bool:
    """Return whether a question may ask for what an assistant said: "What did you recommend?", "Remind me …"."""
    text = question[:LONGEST].replace("\u2019", "'")
    return bool(_TOLD_ME.search(text) or _REMIND.search(text))


def _role(text: str) -> Literal["", "user", "assistant"]:
    """Return whose words are asked for: "you" asks for the assistant's, "I" for the user's own.

    "Remind me" may mean either.
    """
    if _TOLD_ME.search(text):
        return "assistant"
    if _REMIND.search(text):
        return ""
    return "user" if _OF_ME.search(_TO_ME.sub(" ", text)) else ""


def _named_speakers(text: str, speakers: Iterable[str]) -> list[str]:
    """Return the speakers named in `text`, in the same case: a name may be a word too ("Will", "May")."""
    careless = text.islower()
    return [speaker for speaker in speakers if _is_name(speaker) and _occurs(speaker, text, careless=careless)]


def _is_name(speaker: str) -> bool:
    return bool(speaker.strip()) and speaker.lower() not in ROLES


def _occurs(name: str, text: str, *, careless: bool) -> bool:
    if careless and name.lower() not in STOPWORDS:
        name = name.lower()
    # Not as a pattern: `re` keeps those it was given. And most names are in no question.
    start = text.find(name)
    while start >= 0:
        if not (_LETTER.match(text[start - 1 : start]) or _LETTER.match(text, start + len(name))):
            return True
        start = text.find(name, start + 1)
    return False


_LETTER: Final = re.compile("[a-zA-Z]")


def _breadth(text: str, names: Sequence[str]) -> float:
    """Return 0 … 1: the fewer terms, the broader; half as broad unless its form asks for several things."""
    query_terms = _distinct(terms(text)) - {term for name in names for term in terms(name)}
    short = min(max((NARROW - len(query_terms)) / (NARROW - BROAD), 0.0), 1.0) if query_terms else 0.0
    return short if _SEVERAL.search(text) else short / 2


def _distinct(query_terms: Sequence[str]) -> set[str]:
    """Return terms that are part of no longer one: parts of Chinese words and of ids narrow nothing down."""
    once = set(query_terms)
    if len(once) > 4 * NARROW:
        return once
    whole = [term for term in once if not (term.isascii() and term.isalpha())]
    return {term for term in once if not any(term != other and term in other for other in whole)}
