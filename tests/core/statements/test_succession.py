from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.consolidation.judge import Kind, judge, normalized_slot
from core.statements.succession import Gathered, is_past, number_change, stands_beside
from core.types import Category
from tests.core.consolidation.samples import NOON, a_candidate, a_known

DAY = timedelta(days=1)


def likes(content: str, *values: str, attribute: str = "likes", negated: bool = False) -> dict[str, object]:
    return {"content": content, "structured": {"attribute": attribute, "values": [*values], "negated": negated}}


def test_the_order_of_telling_decides_and_not_the_time_that_is_told_of() -> None:
    bremen = a_known("Ada lives in Bremen.", attribute="home.city", value="Bremen", said_at=NOON)
    moved = a_candidate("Ada moved to Hamburg.", attribute="home.city", value="Hamburg", occurred_at=NOON - 50 * DAY)
    assert judge(replace(moved, said_at=NOON + DAY), [bremen]).kind is Kind.SUPERSEDE
    assert judge(replace(moved, said_at=NOON), [bremen]).kind is Kind.SUPERSEDE, "of one moment the later in order"
    assert judge(replace(moved, said_at=NOON - DAY), [bremen]).kind is Kind.PREDATES
    assert judge(replace(moved, occurred_at=NOON + DAY, said_at=NOON - DAY), [bremen]).kind is Kind.PREDATES


def test_what_was_over_when_it_was_said_never_displaces_what_is() -> None:
    bremen = a_known("Ada lives in Bremen.", attribute="home.city", value="Bremen", said_at=NOON)
    kiel = a_candidate(
        "Ada lived in Kiel.", attribute="home.city", value="Kiel", said_at=NOON + DAY, valid_to=NOON - 900 * DAY
    )
    assert judge(kiel, [bremen]).kind is Kind.PREDATES


@pytest.mark.parametrize(
    ("content", "value", "past"),
    [
        ("Ada used to live in Paris.", "Paris", True),
        ("Ada lived in Kiel from 2010 to 2015.", "Kiel", True),
        ("When Ada was young, she lived in Kiel.", "Kiel", True),
        ("Ada worked at Acme.", "Acme", True),
        ("Ada以前住在上海。", "上海", True),
        ("Ada曾在华为工作。", "华为", True),
        ("Ada used to live in Paris, but now lives in Lyon.", "Lyon", False),
        ("Ada以前住在上海，现在住在杭州。", "杭州", False),
        ("Ada以前住在上海现在住在杭州。", "杭州", False),
        ("Ada has lived in Kiel for two years.", "Kiel", False),
        ("Ada moved to Kiel in 2010.", "Kiel", False),
        ("Ada lives in Kiel.", "Kiel", False),
        ("Ada was promoted to director.", "director", False),
    ],
)
def test_a_closed_past_is_known_by_the_words_around_the_value(content: str, value: str, past: bool) -> None:
    candidate = a_candidate(content, attribute="home.city", value=value)
    assert is_past(candidate) is past
    assert (normalized_slot(candidate).attribute is None) is past


def test_what_stands_for_a_conversation_keeps_its_slot() -> None:
    episode = a_candidate("Ada lived in s1.", attribute="episode.conversation", value="s1", category=Category.EPISODE)
    assert normalized_slot(episode) == episode


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada's room is now 310.", "Ada's room is 204."),
        ("Ada's cat is four years old.", "Ada's cat is three years old."),
        ("Ada's dog Bruno is seven years old.", "Ada's dog Bruno is six years old."),
        ("Ada's locker number is now 23.", "Ada's locker number is 17."),
        ("Ada's gate is now B12.", "Ada's gate is B10."),
        ("Ada的房间现在是310。", "Ada的房间是204。"),
        ("Ada的猫四岁了。", "Ada的猫三岁。"),
        ("团子四岁了。", "团子三岁了。"),
    ],
)
def test_another_number_that_is_announced_replaces_the_first(one: str, other: str) -> None:
    assert number_change(one, other) is not None
    known = a_known(other, 0.9, said_at=NOON)
    assert judge(a_candidate(one, said_at=NOON + DAY), [known]).kind is Kind.SUPERSEDE
    assert judge(a_candidate(one, said_at=NOON - DAY), [known]).kind is Kind.PREDATES


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada's room is 310.", "Ada's room is 204."),
        ("Ada's invoice is 1051.", "Ada's invoice is 1043."),
        ("Ada的柜子是108号。", "Ada的柜子是36号。"),
    ],
)
def test_of_things_of_which_one_may_have_several_each_number_stays(one: str, other: str) -> None:
    known = a_known(other, 0.9, said_at=NOON)
    assert judge(a_candidate(one, said_at=NOON + DAY), [known]).kind is Kind.ADD


@pytest.mark.parametrize(
    ("attribute", "value", "content", "beside"),
    [
        ("number.locker", "58", "Ada's locker is 58.", True),
        ("number.locker", "58", "Ada's locker is now 58.", False),
        ("date.牙", "2月20号", "Ada 2月20号去看牙。", True),
        ("home.city", "武侯区", "Ada家在武侯区。", True),
        ("home.city", "绵阳", "Ada家在绵阳。", False),
        ("age", "31", "Ada is 31.", False),
    ],
)
def test_a_value_stands_beside_another_where_one_may_have_both(
    attribute: str, value: str, content: str, *, beside: bool
) -> None:
    known = a_known("Ada's first.", attribute=attribute, value="1")
    assert stands_beside(a_candidate(content, attribute=attribute, value=value), known) is beside


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada closed ticket 1205.", "Ada closed ticket 1204."),
        ("Ada finished chapter 4.", "Ada finished chapter 3."),
        ("Ada paid 2 euros for item K2.", "Ada paid 19 euros for item K19."),
        ("Ada's flight is at 10:45.", "Ada's flight is at 10:30."),
        ("Ada's meeting is 4 May.", "Ada's meeting is 3 May."),
        ("Ada's sons are 4 and 6.", "Ada's sons are 3 and 5."),
        ("Ada's room 2 is 20 metres.", "Ada's room 3 is 30 metres."),
        ("Ada's room is 20 metres.", "Ada's room is 204."),
        ("Ada has 4 cats.", "Ada has 3 cats."),
        ("Ada买了3本书。", "Ada买了2本书。"),
    ],
)
def test_other_statements_that_differ_in_a_number_are_two(one: str, other: str) -> None:
    assert number_change(one, other) is None
    assert judge(a_candidate(one, said_at=NOON + DAY), [a_known(other, 0.99, said_at=NOON)]).kind is Kind.ADD


@pytest.mark.parametrize(
    ("new", "old", "kind"),
    [
        (("Ada no longer likes coffee.", "coffee", True), ("Ada likes coffee.", "coffee", False), Kind.SUPERSEDE),
        (("Ada hates coffee and tea.", "", False), ("Ada likes coffee.", "coffee", False), Kind.ADD),
    ],
)
def test_a_like_that_is_over_is_retired(new: tuple[str, str, bool], old: tuple[str, str, bool], kind: Kind) -> None:
    content, value, negated = new
    candidate = a_candidate(**likes(content, value, negated=negated) if value else {"content": content})  # type: ignore[arg-type]
    known = a_known(old[0], 0.5, gathered=Gathered("likes", (old[1],)))
    assert judge(candidate, [known]).kind is kind


def test_what_a_list_holds_and_another_denies_is_disputed() -> None:
    known = a_known("Ada likes coffee and tea.", 0.5, gathered=Gathered("likes", ("coffee", "tea")))
    hates = a_candidate(**likes("Ada cannot stand coffee.", "Coffee", attribute="dislikes"))  # type: ignore[arg-type]
    verdict = judge(hates, [known])
    assert verdict.kind is Kind.CONTRADICT
    assert "coffee" in verdict.reason
    alike = a_candidate(**likes("Ada likes coffee with milk.", "coffee with milk"))  # type: ignore[arg-type]
    assert judge(alike, [known]).kind is Kind.ADD


def test_a_preference_that_names_what_it_replaces_retires_it() -> None:
    known = a_known("Ada prefers short answers.", 0.5, gathered=Gathered("prefers", ("short answers",)))
    long = a_candidate(
        **likes("Ada prefers long answers, not short answers.", "long answers", attribute="prefers"),  # type: ignore[arg-type]
        said_at=NOON + DAY,
    )
    assert judge(long, [known]).kind is Kind.SUPERSEDE


def test_a_slot_that_is_left_retires_its_value_and_no_other() -> None:
    known = a_known("Ada works at Acme.", attribute="work.employer", value="Acme")
    left = likes("Ada no longer works at Acme.", "Acme", attribute="work.employer", negated=True)
    assert judge(a_candidate(**left), [known]).kind is Kind.SUPERSEDE  # type: ignore[arg-type]
    elsewhere = replace(known, content="Ada works at Bolt.", value="Bolt")
    assert judge(a_candidate(**left), [elsewhere]).kind is Kind.ADD  # type: ignore[arg-type]


def test_a_like_in_chinese_that_is_over_is_retired_whatever_the_vectors_say() -> None:
    assert judge(a_candidate("Ada不再喜欢咖啡了。"), [a_known("Ada喜欢咖啡。", 0.01)]).kind is Kind.SUPERSEDE
