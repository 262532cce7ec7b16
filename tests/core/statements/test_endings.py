"""What a newer statement ends, by what was trained."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language import ngrams
from core.memoize import memo_scope
from core.statements import endings, revision
from core.types import Category

AT = datetime(2026, 5, 20, 15, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """A statement as it is compared."""

    content: str
    told_at: datetime = AT
    subject: str = "Ada"
    attribute: str | None = None
    value: str | None = None
    category: Category | None = Category.FACT
    similarity: float | None = 0.5

    @property
    def sketch(self) -> endings.Sketch:
        return endings.sketch(self.content)


BESIDE = [
    "Ada said: “I'm allergic to peanuts, badly.”",
    "Ada said: “My sister Nadia is a paramedic in Leeds.”",
    "Ada said: “The Yaris is a silver one from 2012.”",
    "Ada said: “I swim on Sundays.”",
]


def ended(new: str, old: str, beside: list[str]) -> list[str]:
    older = [Said(one, AT - timedelta(days=day)) for day, one in enumerate([old, *beside], 1)]
    return [one.content for one, _, _ in endings.ended_statements(Said(new), older)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ada said: “I go to the gym on Mondays and Fridays.”", "Ada said: “I quit the gym last week.”"),
        ("Ada said: “I have piano lessons on Tuesdays.”", "Ada said: “The piano lessons moved to Thursdays.”"),
        ("Ada said: “We have a caravan in Wales.”", "Ada said: “We sold the caravan in the end.”"),
        ("Ada said: “The dentist is on Tuesday at 9:30.”", "Ada said: “The dentist moved me to Thursday at 10:15.”"),
    ],
)
def test_what_is_no_longer_so_is_ended_and_nothing_else(old: str, new: str) -> None:
    assert ended(new, old, BESIDE) == [old]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ada lives in Suzhou.", "Ada's cousin has moved away from Suzhou."),
        ("Ada said: “I take warfarin every morning.”", "Ada said: “They've taken my mum off the warfarin.”"),
        ("Ada said: “In April the bill came to £118.”", "Ada said: “The May bill was only £86 now.”"),
        ("Ada在学日语。", "Ada说：“妈妈不学日语了。”"),
    ],
)
def test_what_is_of_somebody_else_or_of_another_day_ends_nothing(old: str, new: str) -> None:
    assert ended(new, old, []) == []


def test_another_subject_ends_nothing() -> None:
    sold = Said("Ada's brother sold the caravan.", subject="Ada's brother")
    assert endings.ended_statements(sold, [Said("Ada has a caravan.", AT - timedelta(days=1))]) == []


def test_an_event_of_the_past_has_happened_whatever_follows() -> None:
    event = Said("Ada said: “I did parkrun in 27:55.”", AT - timedelta(days=9), category=Category.EVENT, similarity=0.9)
    assert endings.ended_statements(Said("Ada said: “I ran 26:48 at parkrun now!”"), [event]) == []


@pytest.mark.parametrize("new", ["Ada said: “I love the sea.”", "Ada said: “The library is open on Mondays.”"])
def test_what_is_merely_new_ends_nothing(new: str) -> None:
    assert ended(new, "Ada said: “I have pottery on Wednesdays with Claire.”", BESIDE) == []


def test_languages_are_not_compared_and_documents_are_not() -> None:
    new = "Ada said: “I've stopped the pottery, it's no fun.”"
    assert ended(new, "Ada说：“每周三晚上学陶艺 pottery。”", []) == []
    assert ended(f"{new} {'pottery ' * 100}", "Ada said: “I have pottery on Wednesdays.”", []) == []


def test_the_likeliest_comes_first_and_says_how_likely() -> None:
    older = [Said(one, AT - timedelta(days=2)) for one in ["Ada said: “I do pottery on Wednesdays.”", *BESIDE]]
    found = endings.ended_statements(Said("Ada said: “I've stopped the pottery on Wednesdays.”"), older)
    assert [likely for _, likely, _ in found] == sorted((likely for _, likely, _ in found), reverse=True)
    assert all(endings.LEAST <= likely <= 1 for _, likely, _ in found)


POOL = [
    *(one for one in BESIDE),
    *(f"Ada said: “{words}.”" for words in (
        "I go to the gym on Mondays and Fridays", "I quit the gym last week", "I have piano lessons on Tuesdays",
        "The piano lessons moved to Thursdays", "We have a caravan in Wales", "We sold the caravan in the end",
        "The dentist is on Tuesday at 9:30", "The dentist moved me to Thursday at 10:15", "My boss is Olga",
        "My boss is Marek now", "Nadia no longer works in Leeds", "The Yaris costs $900 a year",
    )),
    "Ada lives in Lisbon.", "Ada moved to Porto.", "Ada is allergic to peanuts.", "Ada's boss is Ines.",
    "Ada no longer swims on Sundays.", "Ada works for Marek.",
]  # fmt: skip


def relatives(statement: Said) -> set[str]:
    """Return the relatives and colleagues that the statements of `POOL` speak of."""
    return {word for word in ("sister", "boss", "dentist") if word in statement.content}


def one_by_one(new: Said, older: Sequence[Said]) -> dict[str, float]:
    """Compare a statement with each older one by itself, as the weights are described; each statement's odds."""
    shown = [endings.sketch(one.content) for one in older]
    mine = endings.sketch(new.content)
    seen = Counter(chain(mine.words, *(one.words for one in shown)))
    usual = endings._usual()

    def rarity(word: int) -> float:
        return -math.log(max(seen[word] / (len(older) + 1 + endings.OTHERS), usual.get(word, 0.0)))

    shared = [round(sum(map(rarity, mine.words & one.words)), 9) for one in shown]
    found = {}
    for at, (old, sketch) in enumerate(zip(older, shown, strict=True)):
        by_words = sum(other > shared[at] or (other == shared[at] and n < at) for n, other in enumerate(shared))
        by_likeness = sum((other.similarity or 0, -n) > (old.similarity or 0, -at) for n, other in enumerate(older))
        if min(by_words, by_likeness) >= endings.NEAREST or new.content == old.content:
            continue
        common, (mine_is, its) = mine.words & sketch.words, (mine.traits, sketch.traits)
        rarest, likeness = max(map(rarity, common), default=0.0), old.similarity or 0.0
        overlap, people = sum(map(rarity, common)), len(mine_is.who & its.who)
        of_old = overlap / (1 + sum(map(rarity, sketch.words)))
        sorts = [sort for sort in mine_is.values if mine_is.values[sort] and its.values[sort]]
        both = {sort for sort in sorts if mine_is.values[sort] & its.values[sort]}
        differ = set(sorts) - both
        days = (new.told_at - old.told_at).total_seconds() / endings.DAY
        rule = revision.revises(endings.rule_view(new), endings.rule_view(old)) is not None
        features = {
            "likeness": likeness, "overlap": overlap, "rarest word": rarest, "rarest word squared": rarest**2,
            "overlap of new": overlap / (1 + sum(map(rarity, mine.words))), "overlap of old": of_old,
            "words in common": len(common), "one subject": new.subject == old.subject,
            "new ends": mine_is.ends, "old is ended": its.ended, "new is ended": mine_is.ended, "old ends": its.ends,
            "length of old": math.log1p(len(sketch.said)), "length of new": math.log1p(len(mine.said)),
            "people in common": people, "others in old": bool(its.who - mine_is.who),
            "others in new": bool(mine_is.who - its.who),
            "people apart": bool(mine_is.who and its.who and not people),
            **{f"other {one}": True for one in differ}, **{f"same {one}": True for one in both},
            "ends × overlap of old": mine_is.ends * of_old, "ends × rarest word": mine_is.ends * rarest,
            "ends × likeness": mine_is.ends * likeness, "ends × ended": mine_is.ends * its.ended,
            "ends × people": mine_is.ends * people, "ended × overlap of old": its.ended * of_old,
            "ended × rarest word": its.ended * rarest, "likeness × rarest word": likeness * rarest,
            "ends × other value": mine_is.ends * bool(differ), "other value × rarest word": rarest * bool(differ),
            "rank by likeness": math.log1p(by_likeness), "rank by words": math.log1p(by_words),
            "days between": math.log1p(days), "right before": days * endings.DAY < endings.RIGHT_BEFORE,
            endings.RULE: rule,
        }  # fmt: skip
        other_day = any(f"other {sort}" in features for sort in ("weekday", "month", "day"))
        if not relatives(new) <= relatives(old) or (other_day and not rule) or not endings.may_end(new):
            continue
        weights = endings._weights().weights
        found[old.content] = ngrams.logistic(weights[""] + sum(weights.get(n, 0.0) * v for n, v in features.items()))
    return {content: likely for content, likely in found.items() if likely >= endings.LEAST}


@given(
    st.permutations(POOL),
    st.integers(0, len(POOL) - 1),
    st.lists(st.floats(0, 1), min_size=len(POOL), max_size=len(POOL)),
)
def test_comparing_many_at_once_finds_what_comparing_one_by_one_finds(
    said: list[str], known: int, cosines: list[float]
) -> None:
    new = Said(said[0])
    older = [
        Said(content, AT - timedelta(days=day), similarity=cosine)
        for day, (content, cosine) in enumerate(zip(said[1 : known + 1], cosines, strict=False), 1)
    ]
    with memo_scope():
        found = {one.content: likely for one, likely, _ in endings.ended_statements(new, older)}
    assert found == pytest.approx(one_by_one(new, older))
