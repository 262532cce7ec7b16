from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.consolidation.judge import (
    QUESTIONS,
    Kind,
    OpinionKind,
    Thresholds,
    conflict_between,
    judge,
    undecided,
    verdict_from_opinions,
)
from core.types import Category
from tests.core.consolidation.samples import MERGED, NOON, a_candidate, a_known


def test_what_nobody_said_before_is_new() -> None:
    assert judge(a_candidate("Ada lives in Lisbon."), []).kind is Kind.ADD


def test_the_same_words_about_someone_else_are_another_statement() -> None:
    known = a_known("Lives in Lisbon.", 1.0, subject="bob")
    assert judge(a_candidate("Lives in Lisbon."), [known]).kind is Kind.ADD


def test_the_same_slot_with_the_same_value_is_confirmed_in_other_words() -> None:
    known = a_known("Ada moved to Lisbon.", attribute="home.city", value="Lisbon")
    verdict = judge(a_candidate("Ada's home is Lisbon.", attribute="home.city", value=" LISBON "), [known])
    assert (verdict.kind, verdict.known) == (Kind.CONFIRM, known)


def test_a_later_value_supersedes_and_an_earlier_one_is_history() -> None:
    known = a_known("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    porto = a_candidate("Ada lives in Porto.", attribute="home.city", value="Porto")
    later = replace(porto, occurred_at=NOON + timedelta(days=1))
    earlier = replace(porto, occurred_at=NOON - timedelta(days=1))
    assert judge(later, [known]).kind is Kind.SUPERSEDE
    assert judge(earlier, [known]).kind is Kind.PREDATES
    assert "Lisbon → Porto" in judge(later, [known]).reason


def test_what_is_near_enough_is_confirmed_and_what_is_not_is_new() -> None:
    candidate = a_candidate("Ada enjoys hiking in the hills.")
    assert judge(candidate, [a_known("Ada likes to hike in the hills.", 0.96)]).kind is Kind.CONFIRM
    assert judge(candidate, [a_known("Ada likes to hike in the hills.", 0.89)]).kind is Kind.ADD
    assert judge(candidate, [a_known("Ada likes to hike in the hills.", None)]).kind is Kind.ADD


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada takes 5 mg of the drug.", "Ada takes 50 mg of the drug."),
        ("Ada's flight is at 10:30.", "Ada's flight is at 10:45."),
        ("Ada is free on Monday.", "Ada is free on Tuesday."),
        ("Ada was born on 3 May 1990.", "Ada was born on 4 May 1990."),
        ("The invoice is due 2026-11-01.", "The invoice is due 2026-12-01."),
        ("Ada eats meat.", "Ada does not eat meat."),
        ("Ada eats meat.", "Ada doesn't eat meat."),
        ("Ada eats meat.", "Ada doesn’t eat meat."),
        ("Ada eats meat.", "Ada never eats meat."),
        ("Ada smokes.", "Ada quit smoking."),
        ("Ada works with Bob on it.", "Ada works with Carol on it."),
        ("Ada uses model GPT4o daily.", "Ada uses model GPT5 daily."),
        ("Ada runs build r2d2.", "Ada runs build c3po."),
        ("我喜欢喝咖啡", "我不喜欢喝咖啡"),
        ("我喜欢吃肉", "我从未吃肉"),
        ("我三月去北京", "我四月去北京"),
        ("我有两个孩子", "我有三个孩子"),
        ("我每天跑5公里", "我每天跑１０公里"),
        ("Ada no longer works there.", "Ada works there."),
        ("Ada has two children.", "Ada has three children."),
        ("Ada is allergic to nuts.", "Ada isn't allergic to nuts."),
        ("Ada used to live there.", "Ada lives there."),
        ("Ada prefers tea over coffee.", "Ada prefers coffee over tea."),
        ("Ada's sister is older than Bob.", "Bob is older than Ada's sister."),
        ("用户养了一只猫。", "用户养了一只狗。"),
        ("我住在北京", "我住在南京"),
        ("猫比狗大", "狗比猫大"),
    ],
)
def test_numbers_negations_names_and_dates_that_differ_are_never_merged(one: str, other: str) -> None:
    assert conflict_between(one, other) is not None
    assert conflict_between(other, one) is not None
    assert judge(a_candidate(one), [a_known(other, 0.999)]).kind not in MERGED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada enjoys hiking.", "Ada likes hiking."),
        ("Ada has 3 cats.", "Ada owns 3 cats."),
        ("Ada never eats meat.", "Ada does not eat meat."),
        ("我每天跑5公里", "我每天跑５公里"),
        ("我喜欢咖啡", "我很喜欢咖啡"),
        ("Ada moved from Rome to Bern.", "Ada relocated from Rome to Bern."),
    ],
)
def test_what_differs_in_words_only_may_be_merged(one: str, other: str) -> None:
    assert conflict_between(one, other) is None


def test_a_nearer_one_that_a_guard_forbids_does_not_hide_one_that_fits() -> None:
    fits = a_known("Ada takes 5 mg each day.", 0.96)
    verdict = judge(a_candidate("Ada takes 5 mg daily."), [a_known("Ada takes 50 mg daily.", 0.99), fits])
    assert verdict.known == fits


@given(st.text(), st.text())
def test_guards_are_symmetric_and_let_a_text_pass_beside_itself(one: str, other: str) -> None:
    assert conflict_between(one, one) is None
    assert (conflict_between(one, other) is None) == (conflict_between(other, one) is None)


@given(st.text(), st.text())
def test_whatever_is_said_twice_is_confirmed_the_second_time(subject: str, content: str) -> None:
    again = a_candidate(content, subject=subject)
    assert judge(again, [a_known(content, subject=subject)]).kind is Kind.CONFIRM


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("Maria volunteers at a shelter, finding it rewarding.", "Maria volunteers at a shelter."),
        ("Ada likes coffee with milk.", "Ada likes coffee."),
        ("Ada喜欢喝咖啡，觉得很香。", "Ada喜欢喝咖啡。"),
    ],
)
def test_what_says_more_is_merged_and_what_says_less_confirms(more: str, less: str) -> None:
    verdict = judge(a_candidate(more), [a_known(less, 0.8)])
    assert (verdict.kind, "more" in verdict.reason) == (Kind.MERGE, True)
    assert judge(a_candidate(less), [a_known(more, 0.8)]).kind is Kind.CONFIRM


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada likes coffee cake.", "Ada likes coffee."),
        ("Ada likes coffee, as a joke.", "Ada likes coffee."),
        ("Ada wants to be a nurse.", "Ada is a nurse."),
        ("Ada's sister plays chess.", "Ada plays chess."),
        ("Ada's older sister plays chess.", "Ada's younger sister plays chess."),
        ("Ada had a dog.", "Ada has a dog."),
        ("Ada worked at Acme.", "Ada works at Acme."),
        ("Nate gave Joanna a ring.", "Joanna gave Nate a ring."),
        ("The keys are in the box.", "The keys are on the box."),
        ("Ada visited his brother.", "Ada visited her brother."),
        ("Ada moved to Lisbon.", "Ada moved to Lisbon in 2024."),
        ("Ada住在北京。", "Ada的姐姐住在北京。"),
        ("कि", "की"),
    ],
)
def test_what_only_looks_like_the_same_with_more_is_kept_apart(one: str, other: str) -> None:
    assert judge(a_candidate(one), [a_known(other, 0.999)]).kind not in MERGED
    assert judge(a_candidate(other), [a_known(one, 0.999)]).kind not in MERGED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada loves pizza.", "Ada hates pizza."),
        ("Ada eats meat.", "Ada never eats meat."),
        ("我喜欢香菜", "我讨厌香菜"),
    ],
)
def test_one_that_denies_another_contradicts_it(one: str, other: str) -> None:
    verdict = judge(a_candidate(one), [a_known(other, 0.6)])
    assert (verdict.kind, verdict.known is not None) == (Kind.CONTRADICT, True)
    assert judge(a_candidate(one), [a_known(other, 0.34)]).kind is Kind.ADD


def test_what_is_over_supersedes_what_was_so_and_not_what_is_said_later() -> None:
    over = a_candidate("Ada no longer eats meat.")
    assert judge(over, [a_known("Ada eats meat.", 0.9)]).kind is Kind.SUPERSEDE
    later = a_known("Ada eats meat.", 0.9, occurred_at=NOON + timedelta(days=1))
    assert judge(over, [later]).kind is Kind.PREDATES


def test_a_correction_of_one_word_is_made_in_place_and_only_where_it_says_so() -> None:
    known = a_known("Ada's flight leaves at 10:30.", 0.97)
    fixed = a_candidate("Ada's flight leaves at 10:45.", corrects=True)
    assert judge(fixed, [known]).kind is Kind.REPLACE
    assert judge(replace(fixed, corrects=False), [known]).kind is Kind.ADD


@pytest.mark.parametrize(
    "junk", ["", "...", "Hello!", "Thanks so much!", "What time is it?", "Ada is.", "你好！", "谢谢", "现在几点了？"]
)
def test_what_says_nothing_is_ignored_with_a_reason(junk: str) -> None:
    verdict = judge(a_candidate(junk), [])
    assert verdict.kind is Kind.IGNORE
    assert verdict.reason.startswith("Not worth keeping: ")


@pytest.mark.parametrize("worth", ["Ada is a nurse.", "Ada喜欢猫", "Ada has 2.", "Ada ❤ 🐈"])
def test_what_says_something_is_kept(worth: str) -> None:
    assert judge(a_candidate(worth), []).kind is Kind.ADD


def test_two_events_of_different_days_are_two() -> None:
    camping = a_candidate("Ada went camping with the family.", category=Category.EVENT)
    again = a_known(
        "Ada really went camping with the family.", 0.99, category=Category.EVENT, occurred_at=NOON + timedelta(days=9)
    )
    assert judge(camping, [again]).kind is Kind.ADD
    assert judge(camping, [replace(again, occurred_at=NOON)]).kind is Kind.CONFIRM


def test_a_slot_said_again_with_more_takes_the_richer_wording() -> None:
    known = a_known("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    richer = a_candidate("Ada lives in Lisbon with two cats.", attribute="home.city", value="Lisbon")
    assert judge(richer, [known]).kind is Kind.CONFIRM, "two is a number that is not known yet"
    richer = replace(richer, content="Ada lives in Lisbon, near the river.")
    assert judge(richer, [known]).kind is Kind.MERGE


def test_the_thresholds_are_the_callers() -> None:
    candidate, known = a_candidate("Ada enjoys hiking."), a_known("Ada likes hiking.", 0.85)
    assert judge(candidate, [known]).kind is Kind.ADD
    assert judge(candidate, [known], Thresholds(near=0.8)).kind is Kind.CONFIRM


NAMES = st.sampled_from("Bob Carol Lisbon Porto GPT4 GPT5".split())
COUNTS = st.sampled_from("2 3 five six 2024 10:30 2026-01-02 1.5".split())
SENTENCE = "Ada met {name} for lunch and paid {count} for it"


@given(NAMES, NAMES, COUNTS, COUNTS, st.booleans(), st.floats(0.9, 1))
def test_the_guards_hold_for_every_name_number_and_denial(
    name: str, other: str, count: str, number: str, denied: bool, cosine: float
) -> None:
    one = SENTENCE.format(name=name, count=count)
    two = SENTENCE.format(name=other, count=number).replace("Ada met", "Ada never met" if denied else "Ada met")
    same = (name, count) == (other, number) and not denied
    assert (judge(a_candidate(one), [a_known(two, cosine)]).kind in MERGED) is same


@given(NAMES, NAMES, COUNTS, COUNTS, st.booleans(), st.sampled_from([OpinionKind.SAME, OpinionKind.MORE]))
def test_names_numbers_and_denials_hold_whatever_a_model_says(
    name: str, other: str, count: str, number: str, denied: bool, word: OpinionKind
) -> None:
    one = SENTENCE.format(name=name, count=count)
    two = SENTENCE.format(name=other, count=number).replace("Ada met", "Ada never met" if denied else "Ada met")
    differs = (name, count) != (other, number) or denied
    assert (verdict_from_opinions(a_candidate(one), [(a_known(two, 0.9), word)]) is None) is differs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Maria finds volunteering at the homeless shelter really fulfilling and impactful.",
            "Maria has been volunteering at a homeless shelter, finding it rewarding.",
        ),
        (
            "Joanna is grateful for Nate's support and encouragement.",
            "Joanna appreciates Nate's support and expresses her gratitude for it.",
        ),
        ("Gina lost her job at Door Dash during the month of the conversation.", "Gina lost her job at Door Dash."),
    ],
)
def test_what_people_told_twice_in_their_own_words_is_one_where_a_model_finds_so(one: str, other: str) -> None:
    assert judge(a_candidate(one), [a_known(other, 0.91)]).kind is Kind.ADD
    verdict = verdict_from_opinions(a_candidate(one), [(a_known(other, 0.91), OpinionKind.SAME)])
    assert verdict is not None
    assert verdict.kind is Kind.CONFIRM


@given(st.text(), st.text(), st.text(), st.sampled_from(list(OpinionKind)), st.floats(0, 1), st.integers(-2, 2))
def test_no_word_of_a_model_takes_what_a_guard_forbids(
    one: str, other: str, subject: str, word: OpinionKind, cosine: float, days: int
) -> None:
    known = a_known(other, cosine, occurred_at=NOON + timedelta(days=days))
    verdict = verdict_from_opinions(a_candidate(one, subject=subject), [(known, word)])
    if verdict is None:
        return
    assert subject == known.subject
    assert (conflict_between(one, other) is None) or verdict.kind not in MERGED
    assert days < 0 or verdict.kind is not Kind.SUPERSEDE


RETOLD = a_candidate("Ada gives lessons on the violin.")
TAUGHT = a_known("Ada teaches the violin.", 0.8)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        (OpinionKind.SAME, Kind.CONFIRM),
        (OpinionKind.MORE, Kind.MERGE),
        (OpinionKind.SUPERSEDES, None),
        (OpinionKind.CONTRADICTS, Kind.CONTRADICT),
    ],
)
def test_each_word_of_a_model_is_a_verdict(word: OpinionKind, kind: Kind | None) -> None:
    verdict = verdict_from_opinions(RETOLD, [(TAUGHT, word)])
    assert (verdict and verdict.kind) is kind
    later = verdict_from_opinions(replace(RETOLD, occurred_at=NOON + timedelta(days=1)), [(TAUGHT, word)])
    assert later is not None
    assert later.kind is (kind or Kind.SUPERSEDE)
    assert "A model" in later.reason or "a model" in later.reason
    assert verdict_from_opinions(RETOLD, [(TAUGHT, OpinionKind.DIFFERENT), (TAUGHT, None)]) is None


def test_of_several_words_the_strongest_counts_and_then_the_nearest() -> None:
    candidate = replace(RETOLD, occurred_at=NOON + timedelta(days=1))
    far, near = (replace(TAUGHT, id=uuid4(), similarity=cosine) for cosine in (0.7, 0.9))
    both = verdict_from_opinions(candidate, [(near, OpinionKind.CONTRADICTS), (far, OpinionKind.SAME)])
    assert (both and both.kind, both and both.known) == (Kind.CONFIRM, far)
    alike = verdict_from_opinions(candidate, [(near, OpinionKind.SUPERSEDES), (far, OpinionKind.SUPERSEDES)])
    assert alike is not None
    assert alike.known == near


def test_a_slot_is_never_in_question() -> None:
    slotted = replace(RETOLD, attribute="work.role", value="teacher")
    assert undecided(slotted, [TAUGHT]) == []
    assert verdict_from_opinions(slotted, [(TAUGHT, OpinionKind.SAME)]) is None
    known = replace(TAUGHT, attribute="work.role", value="teacher")
    assert undecided(RETOLD, [known]) == [known]


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0, 1))
def test_the_nearest_few_above_the_bound_are_in_question(cosines: list[float], bound: float) -> None:
    near = [a_known(f"Ada met number {n}.", cosine) for n, cosine in enumerate(cosines)]
    asked = [known.similarity for known in undecided(RETOLD, near, Thresholds(unclear=bound))]
    assert asked == sorted((c for c in cosines if c >= bound), reverse=True)[:QUESTIONS]


def test_nothing_of_someone_else_is_in_question() -> None:
    elses = replace(TAUGHT, subject="bob")
    assert undecided(RETOLD, [elses, replace(TAUGHT, similarity=None)]) == []
    assert verdict_from_opinions(RETOLD, [(elses, OpinionKind.SAME)]) is None


def test_an_event_of_another_day_is_not_the_same_and_may_end_a_state() -> None:
    event = replace(RETOLD, category=Category.EVENT, occurred_at=NOON + timedelta(days=3))
    assert undecided(event, [TAUGHT]) == [TAUGHT]
    assert verdict_from_opinions(event, [(TAUGHT, OpinionKind.SAME)]) is None
    ended = verdict_from_opinions(event, [(TAUGHT, OpinionKind.SUPERSEDES)])
    assert ended is not None
    assert ended.kind is Kind.SUPERSEDE
