"""Probability that a statement ends an older one of another slot or of none: a logistic regression. Pure.

Two regressions over n-grams say how likely a sentence is to end anything, and how likely to be ended; one over a few
features of the pair weighs them with what the two share. `python -m bench.ending` trains all three on labelled
conversations and reports how they decide on those that were left out. `core.statements.revision`'s rules are one
feature.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

from core.language import ngrams, third_person
from core.language.lexicon import CALENDAR
from core.language.terms import STOPWORDS, stem
from core.memoize import memoized_in_scope
from core.statements import quotation, revision
from core.statements.succession import Statement
from core.types import Category

LEAST: Final = 0.2
"""The probability from which a statement counts as ended: of those that do, three of four have (`bench.ending`)."""
LEAST_OF_FEW: Final = 0.4
"""The same where fewer than `NEAREST` older statements are known: to be the nearest of a few says little."""
SLIGHTEST: Final = -1.0
"""The log-odds of ending anything below which a statement is compared with nothing."""
NEAREST: Final = 10
"""Older statements, by likeness and by shared words, that are looked at."""
OTHERS: Final = 150
"""Statements that nobody has made yet are taken to stand beside those of a user, so that few look like many."""
DAY, RIGHT_BEFORE = 86_400, 120
"""Seconds; what was said so shortly before is of the same breath."""
LONGEST: Final = revision.LONGEST
Features = dict[str, float]


class NewerStatement(Statement, Protocol):
    """A statement that may end others."""

    @property
    def category(self) -> Category | None: ...
    @property
    def told_at(self) -> datetime: ...


class OlderStatement(NewerStatement, Protocol):
    """A statement that may be ended. `similarity`: the cosine of the two, None where it is not known."""

    @property
    def similarity(self) -> float | None: ...


K = TypeVar("K", bound=OlderStatement)


class Sketch:
    """Features of one statement; expensive ones are computed on demand."""

    def __init__(self, content: str) -> None:
        quoted = quotation.read(content)
        self.content = content
        self.speaker = quoted.speaker if quoted else ""
        self.said = quoted.words if quoted else content
        self.language = quotation.language_of(content)

    @cached_property
    def words(self) -> frozenset[str]:
        return words_of(self.content, self.language, self.speaker)

    @cached_property
    def who(self) -> frozenset[str]:
        return _people(self.content, self.language)

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """Its numbers, days and sums, by sort."""
        return {sort: frozenset(map(str.lower, way.findall(self.said))) for sort, way in _SORTS[self.language].items()}

    @cached_property
    def ends(self) -> float:
        """The log-odds that it ends another statement."""
        return ngrams.weights(file_of("ends", self.language)).logit(self.grams)

    @cached_property
    def ended(self) -> float:
        """The log-odds that another statement ends it."""
        return ngrams.weights(file_of("ended", self.language)).logit(self.grams)

    @cached_property
    def grams(self) -> frozenset[str]:
        return frozenset(ngrams.of(self.said, self.language))


Look = Callable[[str], Sketch]


@dataclass(frozen=True, slots=True)
class RuleView:
    """A statement as the rules read it: in the third person, without the frame of a quotation."""

    content: str
    subject: str
    attribute: str | None
    value: str | None
    corrects: bool = False


def may_end(new: Statement) -> bool:
    """Return whether a statement may end anything, so that it must be compared with more than those nearest to it."""
    if len(new.content) > LONGEST:
        return False
    return sketch(new.content).ends >= SLIGHTEST or revision.may_revise(rule_view(new))


def ended_statements(new: NewerStatement, older: Sequence[K]) -> list[tuple[K, float, str | None]]:
    """Return the older statements that a newer one ends: each with how likely that is, and why where a rule says so."""
    if not may_end(new):
        return []
    new_sketch = sketch(new.content)
    compared = [
        one for one in older if len(one.content) <= LONGEST and sketch(one.content).language == new_sketch.language
    ]
    rated = [(one, *_rate(new, one, shown)) for one, shown in pairs(new, compared) if may_be_ended(new, one)]
    least = LEAST if len(compared) >= NEAREST else LEAST_OF_FEW
    return [found for found in sorted(rated, key=lambda found: -found[1]) if found[1] >= least]


def may_be_ended(new: NewerStatement, old: OlderStatement) -> bool:
    """Return whether two statements differ, are not of one slot (that decides by itself), and neither is an episode."""
    return (
        new.content != old.content
        and not (new.attribute and new.attribute == old.attribute and new.subject == old.subject)
        and Category.EPISODE not in {new.category, old.category}
    )


def _rate(new: NewerStatement, old: OlderStatement, shown: Features) -> tuple[float, str | None]:
    why = revision.revises(rule_view(new), rule_view(old))
    features = shown | of_categories(new.category, old.category) | {"a rule": float(why is not None)}
    return probability(features), why


def probability(features: Features) -> float:
    weights = _weights().weights
    return ngrams.logistic(weights[""] + sum(weights.get(name, 0.0) * value for name, value in features.items()))


def pairs(new: NewerStatement, older: Sequence[K], look: Look | None = None) -> list[tuple[K, Features]]:
    """Return the features of a statement with each related older one; `look` makes their sketches."""
    look = look or sketch
    new_sketch, old_sketches = look(new.content), [look(one.content) for one in older]
    rarity = _rarity([new_sketch, *old_sketches])
    shared = [sum(rarity[word] for word in new_sketch.words & one.words) for one in old_sketches]
    by_likeness = _ranks([one.similarity or 0.0 for one in older])
    by_words = _ranks(shared)
    return [
        (
            one,
            _features(new, one, new_sketch, old_sketches[index], rarity)
            | _distance_features(by_likeness[index], by_words[index], new, one),
        )
        for index, one in enumerate(older)
        if by_likeness[index] < NEAREST or by_words[index] < NEAREST
    ]


def _rarity(statements: Sequence[Sketch]) -> Mapping[str, float]:
    """Return the rarity of each word: the negative log of the share of statements that hold it, here or usually."""
    seen = Counter(word for one in statements for word in one.words)
    usual, total = _weights().usual, len(statements) + OTHERS
    return {word: -math.log(max(count / total, usual.get(word, 0.0))) for word, count in seen.items()}


def _ranks(values: Sequence[float]) -> list[int]:
    ranks = [0] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=lambda index: -values[index])):
        ranks[index] = rank
    return ranks


def _distance_features(by_likeness: int, by_words: int, new: NewerStatement, old: OlderStatement) -> Features:
    """Return the ranks of an older statement by similarity and by words, and the time between the two."""
    seconds = (new.told_at - old.told_at).total_seconds()
    return {
        "rank by likeness": math.log1p(by_likeness),
        "rank by words": math.log1p(by_words),
        "days between": math.log1p(max(seconds, 0) / DAY),
        "right before": float(seconds < RIGHT_BEFORE),
    }


def _features(
    new: NewerStatement, old: OlderStatement, new_sketch: Sketch, old_sketch: Sketch, rarity: Mapping[str, float]
) -> Features:
    common = new_sketch.words & old_sketch.words
    overlap = sum(rarity[word] for word in common)
    of_new = overlap / (1 + sum(rarity[word] for word in new_sketch.words))
    of_old = overlap / (1 + sum(rarity[word] for word in old_sketch.words))
    rarest = max((rarity[word] for word in common), default=0.0)
    likeness = old.similarity or 0.0
    both, differ = _compare_values(new_sketch, old_sketch)
    people = len(new_sketch.who & old_sketch.who)
    return {
        "likeness": likeness,
        "overlap": overlap,
        "overlap of new": of_new,
        "overlap of old": of_old,
        "rarest word": rarest,
        "rarest word squared": rarest * rarest,
        "words in common": len(common),
        "one subject": float(new.subject == old.subject),
        "old has slot": float(bool(old.attribute)),
        "new has slot": float(bool(new.attribute)),
        "new corrects": float(bool(getattr(new, "corrects", False))),
        "new ends": new_sketch.ends,
        "old is ended": old_sketch.ended,
        "new is ended": new_sketch.ended,
        "old ends": old_sketch.ends,
        "length of old": math.log1p(len(old_sketch.said)),
        "length of new": math.log1p(len(new_sketch.said)),
        "people in common": people,
        "others in old": float(bool(old_sketch.who - new_sketch.who)),
        "others in new": float(bool(new_sketch.who - old_sketch.who)),
        "people apart": float(bool(new_sketch.who and old_sketch.who and not people)),
        **{f"other {sort}": float(sort in differ) for sort in _SORTS["en"]},
        **{f"same {sort}": float(sort in both) for sort in _SORTS["en"]},
        "ends × overlap of old": new_sketch.ends * of_old,
        "ends × rarest word": new_sketch.ends * rarest,
        "ends × likeness": new_sketch.ends * likeness,
        "ends × ended": new_sketch.ends * old_sketch.ended,
        "ends × people": new_sketch.ends * people,
        "ended × overlap of old": old_sketch.ended * of_old,
        "ended × rarest word": old_sketch.ended * rarest,
        "likeness × rarest word": likeness * rarest,
        "ends × other value": new_sketch.ends * bool(differ),
        "other value × rarest word": rarest * bool(differ),
    }


def of_categories(new: Category | None, old: Category | None) -> Features:
    return {
        "old is an instruction": float(old is Category.INSTRUCTION),
        "new is an instruction": float(new is Category.INSTRUCTION),
        "both are instructions": float(old is Category.INSTRUCTION is new),
        "old is a plan": float(old is Category.PLAN),
        "old is an event": float(old is Category.EVENT),
        "new is an event": float(new is Category.EVENT),
    }


def _compare_values(one: Sketch, other: Sketch) -> tuple[set[str], set[str]]:
    """Return the sorts of values of which both have one alike, and those of which both have one and none alike."""
    both = {sort for sort in one.values if one.values[sort] & other.values[sort]}
    differ = {sort for sort in one.values if one.values[sort] and other.values[sort] and sort not in both}
    return both, differ


def rule_view(statement: Statement) -> RuleView:
    """Return a statement as `core.statements.revision` reads it."""
    quoted = quotation.read(statement.content)
    content = statement.content
    if quoted:
        third = third_person.third_person_zh if quotation.language_of(content) == "zh" else third_person.third_person
        content = third(quoted.words, quoted.speaker)
    corrects = bool(getattr(statement, "corrects", False))
    return RuleView(content, statement.subject, statement.attribute, statement.value, corrects)


sketch = memoized_in_scope(Sketch)
"""The sketch of a statement, made once for a piece of work."""


def words_of(content: str, language: str, speaker: str) -> frozenset[str]:
    """Return the content words of a statement: English stems, pairs of Chinese characters, numbers."""
    unframed = _FRAME.sub(" ", content.replace(speaker, " ") if speaker else content)
    if language == "en":
        return frozenset(stem(one) for one in _WORD.findall(unframed.lower()) if len(one) > 1 and one not in STOPWORDS)
    runs = _HAN_RUN.findall(unframed)
    return frozenset(
        [*(run[start : start + 2] for run in runs for start in range(len(run) - 1)), *_LATIN.findall(unframed)]
    )


def _people(content: str, language: str) -> frozenset[str]:
    """Return the people in a statement, by name or as a relative."""
    if language == "zh":
        return frozenset(_KIN_ZH.findall(content))
    names = {one for one in _NAME.findall(content) if one.lower().removesuffix("s") not in CALENDAR}
    return frozenset([*names, *(one.lower() for one in _KIN_EN.findall(content))])


def file_of(what: str, language: str) -> Path:
    return Path(__file__).with_name(f"endings_{what}_{language}.bin")


WEIGHTS_FILE = Path(__file__).with_name("endings.json")


class TrainedWeights(NamedTuple):
    """`weights` by feature, that of the empty name counts always; `usual`: the share of statements with a word."""

    weights: Mapping[str, float]
    usual: Mapping[str, float]


@cache
def _weights() -> TrainedWeights:
    return TrainedWeights(**json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")))


_FRAME = re.compile(r"\b(?:After|[Aa]sked|said(?: on \d+ \w+ \d+)?:?)(?= “|:)|在\d+年\d+月\d+日说：|被问到|说：|之后，")
_WORD = re.compile(r"[a-z]+|\d+")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
_LATIN = re.compile(r"\d+|[A-Za-z]{2,}")
_NAME = re.compile(r"(?<![.!?“] )(?<!^)(?<!“)\b[A-Z][a-z]+|\b[A-Z][a-z]+(?=['’]s)")
_KIN_EN = re.compile(
    r"\b(?:mum|mom|mam|dad|mother|father|wife|husband|son|daughter|sister|brother|boss|manager|nan|gran|grandma|"
    r"grandad|aunt|uncle|cousin|girlfriend|boyfriend|partner|fianc\w+|neighbou?r|landlord|doctor|dentist|physio|cat|"
    r"dog|puppy|kitten|rabbit|parrot|hamster)(?=s?\b)",
    re.IGNORECASE,
)
_KIN_ZH = re.compile(
    "妈|爸|老公|老婆|儿子|女儿|姐|妹|哥|弟|奶奶|爷爷|外婆|外公|婆婆|岳|舅|姑|姨|叔|老板|经理|主管|领导|同事|室友|房东|"
    "邻居|医生|老师|猫|狗|鹦鹉|仓鼠|兔|闺蜜|男友|女友|对象|发小|同学"
)
_COUNT_ZH = r"(?:\d[\d.]*|[一二两三四五六七八九十百千万]+)"
_SORTS: Final = {
    "en": {
        "weekday": re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)(?=days?\b)", re.IGNORECASE),
        "month": re.compile(
            r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
            re.IGNORECASE,
        ),
        "day": re.compile(r"\b\d{1,2}(?=st|nd|rd|th)\b|\bthe \d{1,2}\b", re.IGNORECASE),
        "time": re.compile(
            r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm)\b|\bat (?:noon|[a-z]+(?= o['’]clock))", re.IGNORECASE
        ),
        "sum": re.compile(r"[$€£]\s?[\d,.]+|\b\d[\d,]* ?(?:dollars|euros|pounds|quid|bucks|k)\b", re.IGNORECASE),
        "number": re.compile(
            r"\b\d[\d,.]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
            r"forty|fifty|sixty)\b",
            re.IGNORECASE,
        ),
    },
    "zh": {
        "weekday": re.compile(r"(?:周|星期|礼拜)[一二三四五六日天末]"),
        "month": re.compile(rf"{_COUNT_ZH}月"),
        "day": re.compile(rf"{_COUNT_ZH}[号日]"),
        "time": re.compile(rf"{_COUNT_ZH}点半?|\d+:\d\d"),
        "sum": re.compile(rf"{_COUNT_ZH}(?:元|块|万)"),
        "number": re.compile(r"\d[\d.]*|[一二两三四五六七八九十百]+(?=[个岁公斤年天周次楼路层件条只间位斤米毫])"),
    },
}
"""Values of which two statements of one thing have the same or another."""
