"""Probability that a statement ends an older one of another slot or of none: a logistic regression. Pure.

Two regressions over n-grams say how likely a sentence is to end anything, and how likely to be ended; one over a few
features of the pair weighs them with what the two share. `python -m bench.ending` trains all three on labelled
conversations and reports how they decide on those that were left out. `core.statements.revision`'s rules are one
feature.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.covering import number
from core.language import ngrams
from core.language.en import third_person
from core.language.lazy_regex import lazy_regex
from core.language.lexicon import CALENDAR
from core.language.terms import STOPWORDS, stem
from core.language.zh import third_person as third_person_zh
from core.memoize import memoized, memoized_in_scope
from core.statements import quotation, revision
from core.statements.succession import Statement
from core.types import Category

LEAST: Final = 0.5
"""Probability from which a statement counts as ended: about nine of ten of those have ended (`bench.ending`)."""
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


K = TypeVar("K", bound=OlderStatement)
K_co = TypeVar("K_co", bound=OlderStatement, covariant=True)


class OlderStatements(Protocol[K_co]):
    """Older statements as columns, in the same order; a text is read only if it is asked for.

    `marks`: of each what `MARKS` says; `lines`: the numbers of its words in `register`, filled up with 0.
    """

    @property
    def marks(self) -> Places: ...
    @property
    def lines(self) -> Places: ...
    @property
    def likeness(self) -> Numbers: ...
    @property
    def register(self) -> Register: ...
    def __len__(self) -> int: ...
    def traits(self, places: Sequence[int]) -> Sequence[Traits]: ...
    def statements(self, places: Sequence[int]) -> Sequence[K_co]: ...
    def taken(self, mask: Places) -> OlderStatements[K_co]: ...


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

MARKS: Final = [
    ("told", "i8"),
    ("content", "u8"),
    ("subject", "u8"),
    ("attribute", "u8"),
    ("category", "i1"),
    ("chinese", "?"),
    ("long", "?"),
    ("said", "i4"),
]
"""Numbers of a statement.

When it was told in microseconds; digests of content, subject and slot; category and language; whether it is too long to
be compared; the length of its words without the frame of a quotation.
"""
CATEGORIES: Final = (None, *Category)
"""Categories in the order of their numbers."""


def marks_of(statement: NewerStatement, look: Look | None = None) -> tuple[int | bool, ...]:
    """Return the values of `MARKS`."""
    seen = (look or sketch)(statement.content)
    return (
        microseconds(statement.told_at),
        code_of(statement.content),
        code_of(statement.subject),
        code_of(statement.attribute),
        CATEGORIES.index(statement.category),
        seen.language == "zh",
        len(statement.content) > LONGEST,
        len(seen.said),
    )


def microseconds(time: datetime) -> int:
    """Return a time as `MARKS` has it."""
    return (time - _EPOCH) // _MICROSECOND


class ListedStatements(Generic[K]):
    """Columns of a list of statements; `look` makes their sketches."""

    def __init__(self, older: Sequence[K], look: Look | None = None) -> None:
        self._older = older
        self._look = look or sketch
        self._sketches = [self._look(one.content) for one in older]
        self.register = Register()
        self.lines = self.register.lines([one.words for one in self._sketches])
        self.marks = np.array([marks_of(one, look) for one in older], dtype=MARKS)
        self.likeness = _column(one.similarity or 0.0 for one in older)

    def __len__(self) -> int:
        return len(self._older)

    def traits(self, places: Sequence[int]) -> Sequence[Traits]:
        return [self._sketches[place].traits for place in places]

    def statements(self, places: Sequence[int]) -> Sequence[K]:
        return [self._older[place] for place in places]

    def taken(self, mask: Places) -> ListedStatements[K]:
        return ListedStatements([one for one, wanted in zip(self._older, mask, strict=True) if wanted], self._look)


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
    corrects = bool(getattr(new, "corrects", False))
    return _may_end(new.content, new.subject, new.attribute, new.value, corrects)


def ended_statements(new: NewerStatement, older: OlderStatements[K] | list[K]) -> list[tuple[K, float, str | None]]:
    """Return the older statements that a newer one ends, each with its probability, and the reason of a rule."""
    if not may_end(new) or not len(older):
        return []
    columns: OlderStatements[K] = ListedStatements(older) if isinstance(older, list) else older
    compared = columns.taken(_comparable(new.content, columns))
    places, shown = pairs(new, compared)
    if not len(places):
        return []
    logits = log_odds(shown | _category_columns(new, compared.marks["category"][places]))
    # The rules, which cost most, and the texts are asked only where they can decide.
    may_reach = logits + _most_by_rule() >= ngrams.logit(LEAST) - _SLACK
    open_ones = may_be_ended(new, compared.marks.take(places)) & may_reach
    found = [
        (one, *rated)
        for one, logit in zip(compared.statements(places[open_ones].tolist()), logits[open_ones].tolist(), strict=True)
        if (rated := _rate(new, one, logit)) is not None
    ]
    return sorted(found, key=lambda one: -one[1])


def may_be_ended(new: NewerStatement, marks: Places) -> Places:
    """Return which older ones are of the same subject and differ, are not of one slot, and neither is an episode.

    A slot decides by itself. What happens to one person or thing ends nothing that is true of another.
    """
    if new.category is Category.EPISODE:
        return np.zeros(len(marks), dtype=np.bool_)
    allowed = (marks["content"] != code_of(new.content)) & (marks["category"] != CATEGORIES.index(Category.EPISODE))
    allowed &= marks["subject"] == code_of(new.subject)
    if new.attribute:
        allowed &= marks["attribute"] != code_of(new.attribute)
    return np.asarray(allowed)


def _rate(new: NewerStatement, old: OlderStatement, logit: float) -> tuple[float, str | None] | None:
    """Return the probability that a statement ends another, and the reason of a rule; None if it does not.

    `logit`: the log-odds without a rule. What is of another day has happened whatever follows: only a rule ends it.
    """
    if not _relatives(new.content) <= _relatives(old.content):
        return None
    may_by_words = old.category is not Category.EVENT and not _of_other_days(new.content, old.content)
    by_rule = _weights().weights.get(RULE, 0.0)
    why = None
    if ngrams.logistic(logit + max(by_rule, 0.0)) >= LEAST:
        why = _revises(rule_view(new), rule_view(old))
    likely = ngrams.logistic(logit + by_rule * (why is not None))
    return (likely, why) if likely >= LEAST and (why or may_by_words) else None


def _most_by_rule() -> float:
    return max(_weights().weights.get(RULE, 0.0), 0.0)


def log_odds(shown: Columns) -> Numbers:
    """Return the log-odds of each pair, without a rule."""
    weights = _weights().weights
    return np.asarray(weights[""] + sum(weights.get(name, 0.0) * values for name, values in shown.items()))


def pairs(new: NewerStatement, older: OlderStatements[K], look: Look | None = None) -> tuple[Places, Columns]:
    """Return the places of older statements related to a new one, and the features of the pairs."""
    if not len(older):
        return np.zeros(0, dtype=np.int64), {}
    mine = (look or sketch)(new.content)
    places, by_likeness, by_words, words = _related(mine, older)
    others = older.traits(places.tolist())
    marks, likeness = older.marks.take(places), older.likeness[places]
    return places, {
        **_features(new, mine, marks, likeness, others, words),
        **_distance_features(by_likeness, by_words, new, marks["told"]),
    }


def related(new: NewerStatement, older: OlderStatements[K]) -> Places:
    """Return the places of older statements that are compared with a new one closely; none if it ends nothing."""
    if not may_end(new) or not len(older):
        return np.zeros(0, dtype=np.int64)
    return _related(sketch(new.content), older)[0]


def nearest(content: str, others: OlderStatements[K]) -> Places:
    """Return the places of the statements nearest to a content in its language, by similarity and by words."""
    places = np.flatnonzero(_comparable(content, others))
    if len(places) <= NEAREST:
        return places
    return np.asarray(places[_related(sketch(content), others.taken(places))[0]])


def _comparable(content: str, others: OlderStatements[K]) -> Places:
    """Return which statements are in the language of a content, and not too long to be compared."""
    return np.asarray(~others.marks["long"] & (others.marks["chinese"] == _is_chinese(content)))


def _related(mine: Sketch, older: OlderStatements[K]) -> tuple[Places, Places, Places, Columns]:
    """Return the places, their ranks by similarity and by words, and what they share with the new one."""
    rarity = _Rarity(older.register, older.register.numbers(mine.words), older.lines)
    by_likeness = _ranks(older.likeness)
    # Equal sums of words that were added in another order are equal.
    by_words = _ranks(np.round(rarity.shared, 9))
    near = np.flatnonzero((by_likeness < NEAREST) | (by_words < NEAREST))
    return near, by_likeness[near], by_words[near], rarity.of(near)


class Register:
    """Words as digests, numbered from 1."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._usual = _GrowingNumbers()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._usual.values)

    def numbers(self, words: Codes) -> Places:
        """Return the numbers of words."""
        return np.array(self._sorted(words), dtype=np.int32)

    def lines(self, statements: Sequence[Codes]) -> Places:
        """Return of each statement a line with the numbers of its words, filled up with 0."""
        rows = [self._sorted(one) for one in statements]
        filled = np.zeros((len(rows), max(map(len, rows), default=0)), dtype=np.int32)
        for line, row in zip(filled, rows, strict=True):
            line[: len(row)] = row
        return filled

    def usual(self, numbers: Places) -> Numbers:
        """Return the share of labelled statements with these words."""
        return self._usual.values[numbers]

    def lines_of(self, codes: NDArray[np.uint64], counts: Places) -> Places:
        """Return the same of statements whose words stand one behind another, so many of each."""
        every, where = np.unique(codes, return_inverse=True)
        numbers = np.array(self._numbers_of(every.tolist()), dtype=np.int32)
        filled = np.zeros((len(counts), int(counts.max(initial=0))), dtype=np.int32)
        filled[np.arange(filled.shape[1]) < counts[:, None]] = numbers[where]
        # In order, and filled up at the end.
        filled[filled == 0] = _BEHIND
        filled.sort(axis=1)
        filled[filled == _BEHIND] = 0
        return filled

    def kept(self, lines: Places) -> tuple[Register, Places]:
        """Return a register of the words in these lines alone, and the lines in its numbers."""
        numbers, renumbered = np.unique(np.append(lines.ravel(), 0), return_inverse=True)
        left, places = Register(), dict(zip(numbers.tolist(), range(len(numbers)), strict=True))
        left._numbers = {code: places[one] for code, one in self._numbers.items() if one in places}
        left._usual = _GrowingNumbers(self._usual.values[numbers])
        return left, renumbered[:-1].astype(np.int32).reshape(lines.shape)

    def _sorted(self, words: Codes) -> list[int]:
        return sorted(self._numbers_of(words))

    def _numbers_of(self, words: Collection[int]) -> list[int]:
        known = self._numbers
        if not known.keys() >= set(words):
            with self._lock:
                new = [code for code in words if code not in known]
                # Before the numbers, so that no thread finds a number without its share.
                self._usual.add([_usual().get(code, 0.0) for code in new])
                known.update(zip(new, range(len(self) - len(new), len(self)), strict=True))
        return list(map(known.__getitem__, words))


_BEHIND: Final = np.iinfo(np.int32).max
"""Behind every number of a word."""


class _GrowingNumbers:
    """Numbers that grow at their end."""

    def __init__(self, values: Numbers | None = None) -> None:
        self.values: Numbers = np.ones(1) if values is None else values
        self._room = self.values

    def add(self, more: Sequence[float]) -> None:
        count = len(self.values)
        if count + len(more) > len(self._room):
            self._room = np.empty(2 * (count + len(more)))
            self._room[:count] = self.values
        self._room[count : count + len(more)] = more
        self.values = self._room[: count + len(more)]


class _Rarity:
    """Rarity of words: the negative log of the share of statements that hold one, here or usually.

    `shared`: of each older statement the sum over the words that it shares with the new one.
    """

    def __init__(self, register: Register, own: Places, lines: Places) -> None:
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


def _distance_features(by_likeness: Places, by_words: Places, new: NewerStatement, told: Places) -> Columns:
    """Return the ranks of older statements by similarity and by words, and the time between."""
    seconds = (microseconds(new.told_at) - told) / 1e6
    return {
        "rank by likeness": np.log1p(by_likeness),
        "rank by words": np.log1p(by_words),
        "days between": np.log1p(np.maximum(seconds, 0) / DAY),
        "right before": (seconds < RIGHT_BEFORE).astype(np.float64),
    }


def _features(
    new: NewerStatement, mine: Sketch, marks: Places, likeness: Numbers, others: Sequence[Traits], words: Columns
) -> Columns:
    traits, rarest, one_value = mine.traits, words["rarest word"], np.ones(len(marks))
    ends, ended = traits.ends * one_value, _column(one.ended for one in others)
    values = _value_columns(traits, others)
    differs = np.minimum(sum(values[f"other {sort}"] for sort in _SORTS["en"]), 1.0)
    people = _people_columns(traits.who, [one.who for one in others])
    has_slot = (marks["attribute"] != 0) & (marks["attribute"] != code_of(""))
    return {
        "likeness": likeness,
        **words,
        "one subject": (marks["subject"] == code_of(new.subject)).astype(np.float64),
        "old has slot": has_slot.astype(np.float64),
        "new has slot": bool(new.attribute) * one_value,
        "new corrects": bool(getattr(new, "corrects", False)) * one_value,
        "new ends": ends,
        "old is ended": ended,
        "new is ended": traits.ended * one_value,
        "old ends": _column(one.ends for one in others),
        "length of old": np.log1p(marks["said"].astype(np.float64)),
        "length of new": np.log1p(len(mine.said) * one_value),
        **people,
        **values,
        "ends × overlap of old": ends * words["overlap of old"],
        "ends × rarest word": ends * rarest,
        "ends × likeness": ends * likeness,
        "ends × ended": ends * ended,
        "ends × people": ends * people["people in common"],
        "ended × overlap of old": ended * words["overlap of old"],
        "ended × rarest word": ended * rarest,
        "likeness × rarest word": likeness * rarest,
        "ends × other value": ends * differs,
        "other value × rarest word": rarest * differs,
    }


def _people_columns(mine: Codes, others: Sequence[Codes]) -> Columns:
    rows = [
        (shared := len(mine & one), len(one) > shared, len(mine) > shared, bool(mine and one and not shared))
        for one in others
    ]
    shown = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return dict(zip(("people in common", "others in old", "others in new", "people apart"), shown, strict=True))


def _value_columns(mine: Traits, others: Sequence[Traits]) -> Columns:
    """Return for each sort of values whether both have some without agreeing ("other"), and whether they agree."""
    none = np.zeros(len(others))
    found = {f"{kind} {sort}": none for kind in ("other", "same") for sort in _SORTS["en"]}
    for sort, values in mine.values.items():
        if values:
            same = _column(not values.isdisjoint(one.values[sort]) for one in others)
            both = _column(bool(one.values[sort]) for one in others)
            found |= {f"same {sort}": same, f"other {sort}": both - same}
    return found


def _column(values: Iterable[float]) -> Numbers:
    return np.fromiter(values, dtype=np.float64)


def _category_columns(new: NewerStatement, old: Places) -> Columns:
    kinds = {number: of_categories(new.category, CATEGORIES[number]) for number in set(old.tolist())}
    names = next(iter(kinds.values()))
    return {name: _column(kinds[number][name] for number in old.tolist()) for name in names}


def of_categories(new: Category | None, old: Category | None) -> Features:
    return {
        "old is an instruction": float(old is Category.INSTRUCTION),
        "new is an instruction": float(new is Category.INSTRUCTION),
        "both are instructions": float(old is Category.INSTRUCTION is new),
        "old is a plan": float(old is Category.PLAN),
        "old is an event": float(old is Category.EVENT),
        "new is an event": float(new is Category.EVENT),
    }


def rule_view(statement: Statement) -> RuleView:
    """Return a statement as `core.statements.revision` reads it."""
    quoted = quotation.read(statement.content)
    content = statement.content
    if quoted:
        third = third_person_zh if quotation.language_of(content) == "zh" else third_person
        content = third.third_person(quoted.words, quoted.speaker)
    corrects = bool(getattr(statement, "corrects", False))
    return RuleView(content, statement.subject, statement.attribute, statement.value, corrects)


sketch = memoized_in_scope(Sketch)
"""Return the sketch of a statement, cached within a unit of work."""

_revises = memoized_in_scope(revision.revises)

_stem = memoized_in_scope(stem)


@memoized_in_scope
def _may_end(content: str, subject: str, attribute: str | None, value: str | None, corrects: bool) -> bool:
    if len(content) > LONGEST:
        return False
    if sketch(content).traits.ends >= SLIGHTEST:
        return True
    return revision.may_revise(rule_view(_RuleFields(content, subject, attribute, value, corrects)))


class _RuleFields(NamedTuple):
    """Fields of a statement that its rule view is made of."""

    content: str
    subject: str
    attribute: str | None
    value: str | None
    corrects: bool


def _is_chinese(content: str) -> bool:
    return quotation.language_of(content) == "zh"


@memoized_in_scope
def code_of(said: str | None) -> int:
    """Return a digest of a text as a number; 0 for None."""
    return 0 if said is None else number(said)


@memoized(KEPT)
def _word_codes(content: str, language: str, speaker: str) -> Codes:
    return _codes(words_of(content, language, speaker))


@memoized(KEPT)
def _traits(content: str, language: str, said: str) -> Traits:
    grams = ngrams.buckets(_grams(said, language))
    return Traits(
        who=_codes(_people(content, language)),
        values={sort: _codes(map(str.lower, way.findall(said))) for sort, way in _SORTS[language].items()},
        ends=_gram_weights("ends", language).logit_of(grams),
        ended=_gram_weights("ended", language).logit_of(grams),
    )


def _codes(words: Iterable[str]) -> Codes:
    """Return words as digests, which are cached beyond a unit of work because they do not show the words."""
    return frozenset(map(_code, words))


@memoized_in_scope
def _code(word: str) -> int:
    return number(word)


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
    names = {one for one in _NAME.findall(content) if one.lower().removesuffix("s") not in CALENDAR}
    kin = _kin(content, language)
    return kin if language == "zh" else kin | names


def _kin(content: str, language: str) -> frozenset[str]:
    return frozenset(map(str.lower, (_KIN_ZH if language == "zh" else _KIN_EN).findall(content)))


def _of_other_days(one: str, other: str) -> bool:
    """Return whether two statements name different days or months."""
    values, other_values = sketch(one).traits.values, sketch(other).traits.values
    return any(
        values[sort] and other_values[sort] and values[sort].isdisjoint(other_values[sort])
        for sort in ("weekday", "month", "day")
    )


@memoized_in_scope
def _relatives(content: str) -> frozenset[str]:
    """Return the relatives, animals and colleagues of whom the words of a statement speak, without its frame."""
    seen = sketch(content)
    return _kin(seen.said, seen.language)


def file_of(what: str, language: str) -> Path:
    return Path(__file__).with_name(f"endings_{what}_{language}.bin")


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SLACK: Final = 1e-9
"""Difference of log-odds within which probabilities are compared themselves."""


@cache
def _gram_weights(what: str, language: str) -> ngrams.Weights:
    return ngrams.weights(file_of(what, language))


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
_KIN_EN = lazy_regex(
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
        "weekday": lazy_regex(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)(?=days?\b)", re.IGNORECASE),
        "month": lazy_regex(
            r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
            re.IGNORECASE,
        ),
        "day": lazy_regex(r"\b\d{1,2}(?=st|nd|rd|th)\b|\bthe \d{1,2}\b", re.IGNORECASE),
        "time": lazy_regex(
            r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm)\b|\bat (?:noon|[a-z]+(?= o['’]clock))", re.IGNORECASE
        ),
        "sum": lazy_regex(r"[$€£]\s?[\d,.]+|\b\d[\d,]* ?(?:dollars|euros|pounds|quid|bucks|k)\b", re.IGNORECASE),
        "number": lazy_regex(
            r"\b\d[\d,.]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
            r"forty|fifty|sixty)\b",
            re.IGNORECASE,
        ),
    },
    "zh": {
        "weekday": lazy_regex(r"(?:周|星期|礼拜)[一二三四五六日天末]"),
        "month": lazy_regex(rf"{_COUNT_ZH}月"),
        "day": lazy_regex(rf"{_COUNT_ZH}[号日]"),
        "time": lazy_regex(rf"{_COUNT_ZH}点半?|\d+:\d\d"),
        "sum": lazy_regex(rf"{_COUNT_ZH}(?:元|块|万)"),
        "number": lazy_regex(r"\d[\d.]*|[一二两三四五六七八九十百]+(?=[个岁公斤年天周次楼路层件条只间位斤米毫])"),
    },
}
"""Sorts of values in which two statements of one thing agree or differ."""

SORTS: Final = tuple(_SORTS["en"])
"""Their names, which both languages share."""
