"""Signals in the query text: times, people, roles, breadth.

Pure. English and Chinese; of other languages only the names of speakers are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from core.index.answer_cues import asks_time
from core.index.resident.encoding import ROLES
from core.language.terms import STOPWORDS, has_han, terms
from core.search import time_spans
from core.search.time_spans import TimeSpan

LONGEST: Final = 2_000
"""Characters of a question that are read; a longer text tells a story around the question."""

NARROW: Final = 7
"""Terms, without names of speakers, from which a question asks for one thing however it is phrased."""

BROAD: Final = 3
"""Terms up to which a question is as broad as its form: "What books has Tim read?"."""

_NO_LIST = r"(?:this|was|is|does|has|as|its|us|yes|always|besides|perhaps|news|\w*(?:ss|ous))\b"
_SEVERAL: Final = re.compile(
    rf"\b(?:what|which) (?:[\w'-]+ )?(?:(?!{_NO_LIST})[a-z]{{3,}}s|people)\b|\b(?:kind|type|sort)s of\b"
    r"|\bhow (?:many|often)\b|\b(?:both|in common|share|has|have)\b",
    re.IGNORECASE,
)
_SEVERAL_ZH: Final = re.compile(
    r"哪[些几]|几[个次本种位家部场项条只处]|多少[个次本种位家部场项条只处人]|所有|全部|一共|总共|分别|各自|共同"
    r"|都[有去做买喜读看玩学养参说提]|[去看读做学玩买吃养见听用]过"
)
"""Forms that ask for several things. The perfect is among them: "has been to" asks for all there ever was."""

_TOLD_ME: Final = re.compile(
    r"\byou(?:'d|'ve| had| have)?(?: \w+)? (?:told|said|gave|recommended|suggested|mentioned|provided|listed|explained"
    r"|described|advised|wrote|named|showed|shared|offered|helped|proposed|came up)\b"
    r"|\bdid you (?:\w+ )?(?:tell|say|give|recommend|suggest|mention|provide|list|explain|describe|advise|write|name"
    r"|show|share|offer|propose)\b"
    r"|\bour (?:\w+ )?(?:conversation|chat|discussion|talk|session)s?\b"
    r"|\b(?:previous|earlier|last|past) (?:conversation|chat|discussion)s?\b|\bas you said\b",
    re.IGNORECASE,
)
_TOLD_ME_ZH: Final = re.compile(
    r"[你您](?:之前|上次|刚才|曾经|曾|以前|当时|跟我|给我|向我|还|也){0,3}"
    r"(?:说|讲|提|告诉|推荐|建议|列|介绍|解释|给)(?:过|到|了|的|我)"
    r"|我们(?:之前|上次|以前|刚才)的?(?:聊天|对话|谈话|讨论)"
)
_REMIND: Final = re.compile(r"\bremind me\b|提醒我", re.IGNORECASE)
_TO_ME: Final = re.compile(r"\b(?:tell|show|help|give) me\b|(?:告诉|帮)我", re.IGNORECASE)
_OF_ME: Final = re.compile(r"\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Oo]ur|[Oo]urs|us)\b|我|咱")


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


def _role(text: str) -> Literal["", "user", "assistant"]:
    """Return whose words are asked for: "you" asks for the assistant's, "I" for the user's own.

    "Remind me" may mean either.
    """
    if _asks(text, _TOLD_ME, _TOLD_ME_ZH):
        return "assistant"
    if _REMIND.search(text):
        return ""
    return "user" if _OF_ME.search(_TO_ME.sub(" ", text)) else ""


def _asks(text: str, english: re.Pattern[str], chinese: re.Pattern[str]) -> bool:
    return bool(english.search(text)) or (has_han(text) and bool(chinese.search(text)))


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
    return short if _asks(text, _SEVERAL, _SEVERAL_ZH) else short / 2


def _distinct(query_terms: Sequence[str]) -> set[str]:
    """Return terms that are part of no longer one: parts of Chinese words and of ids narrow nothing down."""
    once = set(query_terms)
    if len(once) > 4 * NARROW:
        return once
    whole = [term for term in once if not (term.isascii() and term.isalpha())]
    return {term for term in once if not any(term != other and term in other for other in whole)}
