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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

from core.language import ngrams, third_person
from core.language.lexicon import CALENDAR
from core.language.terms import STOPWORDS, stem
from core.memoize import digest, memoized, memoized_in_scope
from core.statements import quotation, revision
from core.statements.succession import Statement
from core.types import Category

LEAST: Final = 0.2
"""Probability from which a statement counts as ended: three of four of those have ended (`bench.ending`)."""
LEAST_OF_FEW: Final = 0.4
"""The same if fewer than `NEAREST` older statements are known: being the nearest of a few says little."""
SLIGHTEST: Final = -1.0
"""Log-odds of ending anything below which a statement is compared with nothing."""
NEAREST: Final = 10
"""Number of older statements examined, by similarity and by shared words."""
OTHERS: Final = 150
"""Pseudo-statements added to those of a user, so that rarity is meaningful for few statements."""
DAY, RIGHT_BEFORE = 86_400, 120
"""Seconds within which statements belong to the same utterance."""
KEPT: Final = 16_384
"""Statements whose words and traits are cached as digests and numbers: 20 MB."""
LONGEST: Final = revision.LONGEST
Features = dict[str, float]
Codes = frozenset[int]
"""Words as digests of this process."""


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
    @property
    def sketch(self) -> Sketch: ...


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
    def words(self) -> Codes:
        """Its content words."""
        return _word_codes(self.content, self.language, self.speaker)

    @cached_property
    def traits(self) -> Traits:
        return _traits(self.content, self.language, self.said)

    @property
    def grams(self) -> frozenset[str]:
        return _grams(self.said, self.language)


@dataclass(frozen=True, slots=True)
class Traits:
    """What else of a statement is compared. `values`: numbers, days and sums, by sort.

    `ends`: log-odds that it ends another statement; `ended`: that another one ends it.
    """

    who: Codes
    values: Mapping[str, Codes]
    ends: float
    ended: float


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
    return sketch(new.content).traits.ends >= SLIGHTEST or revision.may_revise(rule_view(new))


def ended_statements(new: NewerStatement, older: Sequence[K]) -> list[tuple[K, float, str | None]]:
    """Return the older statements that a newer one ends, each with its probability, and the reason of a rule."""
    if not may_end(new):
        return []
    language = quotation.language_of(new.content)
    compared = [one for one in older if len(one.content) <= LONGEST and one.sketch.language == language]
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
    why = _revises(rule_view(new), rule_view(old))
    features = shown | of_categories(new.category, old.category) | {"a rule": float(why is not None)}
    return probability(features), why


def probability(features: Features) -> float:
    weights = _weights().weights
    return ngrams.logistic(weights[""] + sum(weights.get(name, 0.0) * value for name, value in features.items()))


def pairs(new: NewerStatement, older: Sequence[K], look: Look | None = None) -> list[tuple[K, Features]]:
    """Return the features of a statement with each related older one; `look` makes their sketches."""
    new_sketch = (look or sketch)(new.content)
    old_sketches = [look(one.content) for one in older] if look else [one.sketch for one in older]
    new_words, old_words = new_sketch.words, [one.words for one in old_sketches]
    rarity = _Rarity(Counter(chain(new_words, *old_words)), len(older) + 1 + OTHERS)
    rarities = {word: rarity[word] for word in new_words}
    shared = [sum(map(rarities.__getitem__, new_words & words)) for words in old_words]
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


@dataclass(slots=True)
class _Rarity:
    """Rarity of each word: the negative log of the share of statements that hold it, here or usually."""

    seen: Mapping[int, int]
    total: int
    _known: dict[int, float] = field(default_factory=dict)

    def __getitem__(self, word: int) -> float:
        if word not in self._known:
            self._known[word] = -math.log(max(self.seen[word] / self.total, _usual().get(word, 0.0)))
        return self._known[word]


def _ranks(values: Sequence[float]) -> list[int]:
    ranks = [0] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__, reverse=True)):
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
    new: NewerStatement, old: OlderStatement, new_sketch: Sketch, old_sketch: Sketch, rarity: _Rarity
) -> Features:
    common = new_sketch.words & old_sketch.words
    overlap = sum(rarity[word] for word in common)
    of_new = overlap / (1 + sum(rarity[word] for word in new_sketch.words))
    of_old = overlap / (1 + sum(rarity[word] for word in old_sketch.words))
    rarest = max((rarity[word] for word in common), default=0.0)
    likeness = old.similarity or 0.0
    new_traits, old_traits = new_sketch.traits, old_sketch.traits
    both, differ = _compare_values(new_traits, old_traits)
    people = len(new_traits.who & old_traits.who)
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
        "new ends": new_traits.ends,
        "old is ended": old_traits.ended,
        "new is ended": new_traits.ended,
        "old ends": old_traits.ends,
        "length of old": math.log1p(len(old_sketch.said)),
        "length of new": math.log1p(len(new_sketch.said)),
        "people in common": people,
        "others in old": float(bool(old_traits.who - new_traits.who)),
        "others in new": float(bool(new_traits.who - old_traits.who)),
        "people apart": float(bool(new_traits.who and old_traits.who and not people)),
        **{f"other {sort}": float(sort in differ) for sort in _SORTS["en"]},
        **{f"same {sort}": float(sort in both) for sort in _SORTS["en"]},
        "ends × overlap of old": new_traits.ends * of_old,
        "ends × rarest word": new_traits.ends * rarest,
        "ends × likeness": new_traits.ends * likeness,
        "ends × ended": new_traits.ends * old_traits.ended,
        "ends × people": new_traits.ends * people,
        "ended × overlap of old": old_traits.ended * of_old,
        "ended × rarest word": old_traits.ended * rarest,
        "likeness × rarest word": likeness * rarest,
        "ends × other value": new_traits.ends * bool(differ),
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


def _compare_values(one: Traits, other: Traits) -> tuple[set[str], set[str]]:
    """Return the sorts of values that agree, and the sorts that both have without agreeing."""
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
"""Return the sketch of a statement, cached within a unit of work."""

_revises = memoized_in_scope(revision.revises)


@memoized(KEPT)
def _word_codes(content: str, language: str, speaker: str) -> Codes:
    return _codes(words_of(content, language, speaker))


@memoized(KEPT)
def _traits(content: str, language: str, said: str) -> Traits:
    grams = _grams(said, language)
    return Traits(
        who=_codes(_people(content, language)),
        values={sort: _codes(map(str.lower, way.findall(said))) for sort, way in _SORTS[language].items()},
        ends=ngrams.weights(file_of("ends", language)).logit(grams),
        ended=ngrams.weights(file_of("ended", language)).logit(grams),
    )


def _codes(words: Iterable[str]) -> Codes:
    """Return words as digests, which are cached beyond a unit of work because they do not show the words."""
    return frozenset(int.from_bytes(digest(word, size=8)) for word in words)


def _grams(said: str, language: str) -> frozenset[str]:
    return frozenset(ngrams.of(said, language))


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


@cache
def _usual() -> Mapping[int, float]:
    """Return the share of labelled statements with a word, by its code."""
    return {code: share for word, share in _weights().usual.items() for code in _codes([word])}


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
"""Sorts of values in which two statements of one thing agree or differ."""
