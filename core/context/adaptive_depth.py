"""Chooses the number of memories for a query. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.language.terms import has_han

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


@dataclass(frozen=True, slots=True)
class _Cue:
    """A sign of how much is asked for. `adds`: memories, once however often it matches."""

    adds: int
    reason: str
    pattern: re.Pattern[str]


def _cue(adds: int, reason: str, english: str, chinese: str) -> _Cue:
    return _Cue(adds, reason, re.compile(rf"\b(?:{english})\b|(?:{chinese})", re.IGNORECASE))


_CUES: Final = (
    _cue(
        6,
        "asks for all there is",
        r"list|enumerate|all|every|each|everything|everyone|both|which .{0,30}\bha(?:ve|s)\b|in total|altogether"
        r"|what (?:kinds?|types?|sorts?) of|what (?:\w+ )?(?:activities|hobbies|books|places|events|things|people)",
        r"所有|全部|一切|列出|列举|哪些|有哪|都(?:有|去|做|买|喜欢|说|提)|一共|总共|各(?:个|种)|每(?:个|次|一)",
    ),
    _cue(
        5,
        "counts or adds up",
        r"how many|how often|how much|number of|count|total|sum|average|how long altogether|most often|usually",
        r"多少(?:次|个|人|本|种|天|年|钱)|几(?:次|个|人|本|种|天|年|位|家)|总数|平均|多久一次|最常|通常",
    ),
    _cue(
        4,
        "compares",
        r"compare|compared|versus|vs\.?|difference|differ|than|rather|better|worse|similar(?:ly)?|same|in common"
        r"|prefer",
        r"比较|对比|相比|区别|不同|差别|哪个更|更(?:好|喜欢|多|少)|还是|一样|相同|共同",
    ),
    _cue(
        3,
        "asks what changed over time",
        r"between|since|over the (?:years|months|weeks|past|last)|during|changed?|evolv\w+|used to|history|timeline"
        r"|from .{1,40} (?:to|until|till) |before|after|when did .{0,60} (?:and|then)|progress\w*|so far"
        r"|last (?:year|month)",
        r"变化|改变|变了|期间|之间|以来|从.{1,20}到|过去(?:几|的)|以前|之前|之后|后来|历史|经过|至今|去年|上个月",
    ),
    _cue(
        3,
        "asks for reasons or a judgement",
        r"why|how come|reasons?|because|explain|cause[sd]?|would|might|likely|probably|considered|personality"
        r"|what (?:does|do) .{1,40} (?:think|feel)|recommend|suggest|advice|should|summari[sz]e|overview|tell me about",
        r"为什么|为何|原因|理由|怎么会|解释|可能会|会不会|推荐|建议|应该|总结|概括|评价|性格|介绍一下|说说",
    ),
    _cue(
        2,
        "goes from one thing to another",
        r"who(?:se)? .{1,60} (?:who|that|which)|the \w+ (?:who|that|where|whose)|\w+'s \w+'s|(?:friend|sister|brother"
        r"|mother|father|boss|colleague|partner|wife|husband|teacher|company|team) of",
        r"的[^的，。？]{1,8}的[^的，。？]{1,8}的|那个.{1,20}的|其中|在那里|当时",
    ),
)

READ: Final = 2_000
"""Characters of a query that are read; a longer text tells a story around the question."""

_ASKED: Final = re.compile(
    r"\b(?:who|whose|whom|what|when|where|which|why|how)\b"
    r"|谁|什么|何时|什么时候|哪里|哪儿|哪个|哪些|怎么|怎样|为什么|多少|几(?=[个次年天])",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(
    r"\b(?:and|or|as well as|also|plus|but)\b|[;；、]|以及|并且|而且|还有|和|与|或", re.IGNORECASE
)
_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


def depth(query: str) -> Depth:
    """Return the number of memories that `query` (English, Chinese) asks for by its words."""
    query = query[:READ]
    findings = [(cue.adds, cue.reason) for cue in _CUES if cue.pattern.search(query)]
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
