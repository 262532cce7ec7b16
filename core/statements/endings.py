"""Probability that a statement ends an older one of another slot or of none: a logistic regression. Pure.

Two regressions over n-grams say how likely a sentence is to end anything, and how likely to be ended; one over a few
features of the pair weighs them with what the two share. `python -m bench.ending` trains all three on labelled
conversations and reports how they decide on those that were left out. `core.statements.revision`'s rules are one
feature.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

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
Columns = dict[str, NDArray[np.float64]]
"""A feature of several pairs, by name."""
Numbers = NDArray[np.float64]
Places = NDArray[Any]
RULE: Final = "a rule"
"""Feature of a pair of which a rule says that the newer statement ends the older one."""
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
    least = LEAST if len(compared) >= NEAREST else LEAST_OF_FEW
    related, shown = pairs(new, compared)
    if not related:
        return []
    logits = log_odds(shown | _category_columns(new, related))
    found = [
        (one, *rated)
        for one, logit in zip(related, logits.tolist(), strict=True)
        if may_be_ended(new, one) and (rated := _rate(new, one, logit, least)) is not None
    ]
    return sorted(found, key=lambda one: -one[1])


def may_be_ended(new: NewerStatement, old: OlderStatement) -> bool:
    """Return whether two statements differ, are not of one slot (that decides by itself), and neither is an episode."""
    return (
        new.content != old.content
        and not (new.attribute and new.attribute == old.attribute and new.subject == old.subject)
        and Category.EPISODE not in {new.category, old.category}
    )


def _rate(new: NewerStatement, old: OlderStatement, logit: float, least: float) -> tuple[float, str | None] | None:
    """Return the probability that a statement ends another, and the reason of a rule; None if it is below `least`.

    `logit`: the log-odds without a rule. The rules, which cost most, are asked only where they can decide.
    """
    by_rule, view = _weights().weights.get(RULE, 0.0), rule_view(new)
    why = None
    if ngrams.logistic(logit + max(by_rule, 0.0)) >= least:
        why = _revises(view, rule_view(old))
    likely = ngrams.logistic(logit + by_rule * (why is not None))
    return (likely, why) if likely >= least else None


def log_odds(shown: Columns) -> Numbers:
    """Return the log-odds of each pair, without a rule."""
    weights = _weights().weights
    return np.asarray(weights[""] + sum(weights.get(name, 0.0) * values for name, values in shown.items()))


def pairs(new: NewerStatement, older: Sequence[K], look: Look | None = None) -> tuple[list[K], Columns]:
    """Return the older statements related to a new one, and the features of the pairs; `look` makes their sketches."""
    if not older:
        return [], {}
    new_sketch = (look or sketch)(new.content)
    old_sketches = [look(one.content) for one in older] if look else [one.sketch for one in older]
    register = _register()
    own, lines = register.words(new_sketch), register.lines(old_sketches)
    rarity = _Rarity(register, own, lines)
    by_likeness = _ranks(np.array([one.similarity or 0.0 for one in older]))
    # Equal sums of words that were added in another order are equal.
    by_words = _ranks(np.round(rarity.shared, 9))
    near = np.flatnonzero((by_likeness < NEAREST) | (by_words < NEAREST))
    related = [older[place] for place in near.tolist()]
    return related, {
        **_features(new, related, new_sketch, [old_sketches[place] for place in near.tolist()], rarity.of(near)),
        **_distance_features(by_likeness[near], by_words[near], new, related),
    }


class _Register:
    """Words of the sketches of a unit of work, numbered from 1; of each sketch a line of them, filled up with 0."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._usual: list[float] = [1.0]
        self._places: dict[Sketch, int] = {}
        self._lines = np.zeros((0, 0), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._usual)

    def words(self, one: Sketch) -> Places:
        """Return the numbers of a sketch's words."""
        return np.array(self._words(one), dtype=np.int32)

    def lines(self, sketches: Sequence[Sketch]) -> Places:
        """Return the lines of sketches."""
        missing = [one for one in dict.fromkeys(sketches) if one not in self._places]
        if missing:
            self._add(missing)
        return self._lines[[self._places[one] for one in sketches]]

    def usual(self, numbers: Places) -> Numbers:
        """Return the share of labelled statements with these words."""
        return np.array(self._usual)[numbers]

    def _words(self, one: Sketch) -> list[int]:
        known = self._numbers
        for code in one.words:
            if code not in known:
                known[code] = len(self._usual)
                self._usual.append(_usual().get(code, 0.0))
        return sorted(known[code] for code in one.words)

    def _add(self, sketches: Sequence[Sketch]) -> None:
        rows = [self._words(one) for one in sketches]
        height, width = self._lines.shape
        grown = np.zeros((height + len(rows), max(width, *map(len, rows))), dtype=np.int32)
        grown[:height, :width] = self._lines
        for place, (one, row) in enumerate(zip(sketches, rows, strict=True), height):
            grown[place, : len(row)] = row
            self._places[one] = place
        self._lines = grown


class _Rarity:
    """Rarity of words: the negative log of the share of statements that hold one, here or usually.

    `shared`: of each older statement the sum over the words that it shares with the new one.
    """

    def __init__(self, register: _Register, own: Places, lines: Places) -> None:
        self._register, self._lines = register, lines
        self._seen = np.bincount(lines.ravel(), minlength=len(register))
        self._seen[own] += 1
        self._total = len(lines) + 1 + OTHERS
        self._of_own = np.zeros(len(register))
        self._of_own[own] = self._rarities(own)
        self._is_own = np.zeros(len(register), dtype=np.bool_)
        self._is_own[own] = True
        self.shared: Numbers = self._of_own[lines].sum(axis=1)

    def _rarities(self, words: Places) -> Numbers:
        shares = np.maximum(self._seen[words] / self._total, self._register.usual(words))
        return np.where(words > 0, -np.log(shares), 0.0)

    def of(self, places: Places) -> Columns:
        """Return what some older statements share with the new one."""
        lines, overlap = self._lines[places], self.shared[places]
        rarest = self._of_own[lines].max(axis=1, initial=0.0)
        return {
            "overlap": overlap,
            "overlap of new": overlap / (1 + self._of_own.sum()),
            "overlap of old": overlap / (1 + self._rarities(lines).sum(axis=1)),
            "rarest word": rarest,
            "rarest word squared": rarest * rarest,
            "words in common": self._is_own[lines].sum(axis=1).astype(np.float64),
        }


def _ranks(values: Numbers) -> Places:
    """Return the rank of each value, the highest first, of equals the first."""
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return ranks


def _distance_features(
    by_likeness: Places, by_words: Places, new: NewerStatement, related: Sequence[OlderStatement]
) -> Columns:
    """Return the ranks of older statements by similarity and by words, and the time between."""
    seconds = np.array([(new.told_at - one.told_at).total_seconds() for one in related])
    return {
        "rank by likeness": np.log1p(by_likeness),
        "rank by words": np.log1p(by_words),
        "days between": np.log1p(np.maximum(seconds, 0) / DAY),
        "right before": (seconds < RIGHT_BEFORE).astype(np.float64),
    }


def _features(
    new: NewerStatement,
    related: Sequence[OlderStatement],
    new_sketch: Sketch,
    old_sketches: Sequence[Sketch],
    words: Columns,
) -> Columns:
    likeness, rarest = _column(one.similarity or 0.0 for one in related), words["rarest word"]
    traits, others = new_sketch.traits, [one.traits for one in old_sketches]
    ends, ended = _column([traits.ends] * len(related)), _column(one.ended for one in others)
    values = [_compare_values(traits, one) for one in others]
    shared = [len(traits.who & one.who) for one in others]
    people, differs = _column(shared), _column(bool(differ) for _, differ in values)
    return {
        "likeness": likeness,
        **words,
        "one subject": _column(new.subject == one.subject for one in related),
        "old has slot": _column(bool(one.attribute) for one in related),
        "new has slot": _column([bool(new.attribute)] * len(related)),
        "new corrects": _column([bool(getattr(new, "corrects", False))] * len(related)),
        "new ends": ends,
        "old is ended": ended,
        "new is ended": _column([traits.ended] * len(related)),
        "old ends": _column(one.ends for one in others),
        "length of old": np.log1p(_column(len(one.said) for one in old_sketches)),
        "length of new": np.log1p(_column([len(new_sketch.said)] * len(related))),
        "people in common": people,
        "others in old": _column(bool(one.who - traits.who) for one in others),
        "others in new": _column(bool(traits.who - one.who) for one in others),
        "people apart": _column(
            bool(traits.who and one.who and not both) for one, both in zip(others, shared, strict=True)
        ),
        **{f"other {sort}": _column(sort in differ for _, differ in values) for sort in _SORTS["en"]},
        **{f"same {sort}": _column(sort in both for both, _ in values) for sort in _SORTS["en"]},
        "ends × overlap of old": ends * words["overlap of old"],
        "ends × rarest word": ends * rarest,
        "ends × likeness": ends * likeness,
        "ends × ended": ends * ended,
        "ends × people": ends * people,
        "ended × overlap of old": ended * words["overlap of old"],
        "ended × rarest word": ended * rarest,
        "likeness × rarest word": likeness * rarest,
        "ends × other value": ends * differs,
        "other value × rarest word": rarest * differs,
    }


def _column(values: Iterable[float]) -> Numbers:
    return np.fromiter(values, dtype=np.float64)


def _category_columns(new: NewerStatement, related: Sequence[OlderStatement]) -> Columns:
    rows = [of_categories(new.category, one.category) for one in related]
    return {name: _column(row[name] for row in rows) for name in rows[0]}


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

_register = memoized_in_scope(_Register)

_stem = memoized_in_scope(stem)


@memoized(KEPT)
def _word_codes(content: str, language: str, speaker: str) -> Codes:
    return _codes(words_of(content, language, speaker))


@memoized(KEPT)
def _traits(content: str, language: str, said: str) -> Traits:
    grams = ngrams.buckets(_grams(said, language))
    return Traits(
        who=_codes(_people(content, language)),
        values={sort: _codes(map(str.lower, way.findall(said))) for sort, way in _SORTS[language].items()},
        ends=ngrams.weights(file_of("ends", language)).logit_of(grams),
        ended=ngrams.weights(file_of("ended", language)).logit_of(grams),
    )


def _codes(words: Iterable[str]) -> Codes:
    """Return words as digests, which are cached beyond a unit of work because they do not show the words."""
    return frozenset(map(_code, words))


@memoized_in_scope
def _code(word: str) -> int:
    return int.from_bytes(digest(word, size=8))


def _grams(said: str, language: str) -> frozenset[str]:
    return frozenset(ngrams.of(said, language))


def words_of(content: str, language: str, speaker: str) -> frozenset[str]:
    """Return the content words of a statement: English stems, pairs of Chinese characters, numbers."""
    unframed = _FRAME.sub(" ", content.replace(speaker, " ") if speaker else content)
    if language == "en":
        return frozenset(_stem(one) for one in _WORD.findall(unframed.lower()) if len(one) > 1 and one not in STOPWORDS)
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
