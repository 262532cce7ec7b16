from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search import candidates as made
from core.search import ordering
from core.search.candidates import Hit
from core.search.ordering import PageCut, RankedHit
from core.search.question_analysis import Analysis
from core.search.ranking import RankingQuery, score_candidates
from core.search.time_spans import TimeSpan


def message(key: str, lexical: float = 0.0, cosine: float | None = 0.0, **more: Any) -> Hit:
    return replace(Hit(key, "message", lexical, cosine, session_id="s", position=int(key[1:]) * 10), **more)


def keys(ranked: list[RankedHit]) -> list[str]:
    return [item.hit.key for item in ranked]


def ask(hits: list[Hit], *, wants_time: bool = False, limit: int = 40) -> list[RankedHit]:
    passages = [hit for hit in hits if hit.type == "document"]
    found = made.of([hit for hit in hits if hit.type != "document"])
    scores = score_candidates(found, RankingQuery(Analysis(wants_time=wants_time)))
    blind = lambda places: np.zeros((len(places), 1), dtype=np.float32)  # noqa: E731
    return ordering.cut_page(
        found, scores, ordering.score_passages(passages, found, scores, RankingQuery()), PageCut(limit), blind
    ).ranked


def test_the_better_word_match_comes_first() -> None:
    assert keys(ask([message("m1", 1.0), message("m2", 5.0)])) == ["m2", "m1"]


def test_between_equal_words_the_nearer_meaning_comes_first() -> None:
    assert keys(ask([message("m1", 5.0, 0.2), message("m2", 5.0, 0.6)])) == ["m2", "m1"]


def test_what_has_no_vector_yet_is_found_by_its_words() -> None:
    ranked = ask([message("m1", 1.0, 0.5), message("m2", 9.0, None), message("m3", 1.0, 0.4)])
    assert keys(ranked)[0] == "m2"
    assert ranked[0].parts["vector"] == pytest.approx(0.75 * 0.45)


def test_near_company_helps_and_distant_company_does_not() -> None:
    alone = message("m1", 1.0, 0.3, session_id="a", position=1)
    other = message("m2", 1.0, 0.3, session_id="b", position=1)
    beside = message("m3", 0.0, 0.9, session_id="b", position=2)
    apart = message("m4", 0.0, 0.9, session_id="a", position=9)
    score = {item.hit.key: item.score for item in ask([alone, other, beside, apart])}
    assert score["m2"] - score["m1"] == pytest.approx(1.4 * ((0.3 + 0.5 * 0.9) / 1.5 - 0.3))


def test_two_sessions_do_not_lend_to_each_other() -> None:
    first = message("m1", 1.0, 0.3, session_id="a", position=1)
    second = message("m2", 1.0, 0.9, session_id="b", position=2)
    parts = {item.hit.key: item.parts["vector_around"] for item in ask([first, second])}
    assert parts == pytest.approx({"m1": 1.4 * 0.3, "m2": 1.4 * 0.9})


def test_what_follows_a_question_that_fits_is_its_answer() -> None:
    question = message("m1", 5.0, 0.3, position=1, asks=True)
    answer, later = message("m2", 0.5, 0.3, position=2), message("m3", 0.5, 0.3, position=4)
    assert keys(ask([question, answer, later])) == ["m1", "m2", "m3"]
    assert ask([question, answer, later])[1].parts["answers"] > 0
    assert ask([replace(question, asks=False), answer, later])[1].parts["answers"] == 0


def test_names_count_up_to_three() -> None:
    hits = [message(f"m{n}", 5.0, names=n, session_id=f"s{n}") for n in range(6)]
    gained = {item.hit.key: item.parts["names"] for item in ask(hits)}
    assert gained["m0"] == 0
    assert 0 < gained["m1"] < gained["m2"] < gained["m3"] == gained["m4"] == gained["m5"]


def of(told: Analysis, *hits: Hit) -> list[str]:
    found = made.of(hits)
    scores = score_candidates(found, RankingQuery(told))
    return [str(found.keys[at]) for at in np.argsort(-scores.total, kind="stable")]


def test_who_is_named_or_asked_about_comes_before_others_that_fit_as_well() -> None:
    first = message("m1", 5.0, role="assistant", speaker="Bob", session_id="a")
    second = message("m2", 5.0, role="user", speaker="Ada", session_id="b")
    assert of(Analysis(), first, second) == ["m1", "m2"]
    assert of(Analysis(speaker="Ada"), first, second) == ["m2", "m1"]
    assert of(Analysis(role="user"), first, second) == ["m2", "m1"]
    assert of(Analysis(role="assistant"), second, first) == ["m1", "m2"]


def test_what_was_said_when_the_question_names_comes_first() -> None:
    day = datetime(2026, 5, 7, tzinfo=UTC)
    span = TimeSpan(day, day + timedelta(days=1))
    hits = [
        message(f"m{n}", 5.0, at=(day + timedelta(days=days)).timestamp(), session_id=f"s{n}")
        for n, days in enumerate((-20, 0.5, 40))
    ]
    assert of(Analysis(), *hits) == ["m0", "m1", "m2"]
    assert of(Analysis(spans=(span,)), *hits)[0] == "m1"


def test_a_broad_question_does_not_stay_in_one_session() -> None:
    best = message("m1", 5.0, session_id="a", position=1)
    beside = message("m2", 1.0, session_id="a", position=9)
    elsewhere = message("m3", 2.0, session_id="b", position=1)
    assert of(Analysis(), best, beside, elsewhere) == ["m1", "m2", "m3"]
    assert of(Analysis(breadth=1.0), best, beside, elsewhere).index("m3") < 2


def test_where_nothing_fits_well_words_say_less() -> None:
    hits = [message("m1", 1.0, 0.2, session_id="a"), message("m2", 0.1, 0.9, session_id="b")]
    found = made.of(hits)
    poor, rich = (score_candidates(found, RankingQuery(ideal=ideal)).parts["lexical"][0] for ideal in (100.0, 1.0))
    assert poor < rich == pytest.approx(1.0)


def test_a_session_that_speaks_of_it_lifts_its_messages() -> None:
    same = [message("m1", 1.0, session_id="a"), message("m2", 1.0, session_id="b"), message("m3", 4.0, session_id="b")]
    assert keys(ask(same)) == ["m3", "m2", "m1"]


def test_a_message_that_tells_precedes_one_that_only_asks() -> None:
    assert keys(ask([message("m1", 5.0, told=0), message("m2", 5.0, told=9)])) == ["m2", "m1"]


def test_a_named_time_counts_only_where_a_time_is_asked_for() -> None:
    hits = [message("m1", 5.1), message("m2", 5.0, timed=True)]
    assert keys(ask(hits)) == ["m1", "m2"]
    assert keys(ask(hits, wants_time=True)) == ["m2", "m1"]


def test_a_memory_stands_with_the_message_it_cites_and_lends_it_its_likeness() -> None:
    hits = [message("m1", 3.0), message("m2", 2.9), message("m3", 0.1)]
    memory = Hit("x", "memory", 4.0, 0.5, cites=("m2",))
    assert keys(ask(hits)) == ["m1", "m2", "m3"]
    ranked = ask([*hits, memory])
    assert keys(ranked)[:2] == ["x", "m2"]
    assert ranked[0].score == ranked[1].score
    assert ranked[1].parts["vector"] == pytest.approx(0.75 * 0.5)


def test_a_memory_of_many_messages_stands_where_they_do_on_the_whole() -> None:
    hits = [message(f"m{n}", 5.0 if n == 1 else 0.2 * n, session_id=f"s{n}") for n in range(1, 9)]
    pattern = Hit("x", "memory", 4.0, 0.1, cites=tuple(hit.key for hit in hits))
    found = {item.hit.key: item.score for item in ask([*hits, pattern])}
    assert found["x"] == pytest.approx(sum(found[hit.key] for hit in hits) / 8, abs=2e-6)
    assert found["m1"] > found["x"] > min(found.values())


def test_a_memory_that_is_farther_off_than_its_message_takes_nothing_from_it() -> None:
    (alone,) = ask([message("m1", 3.0, 0.6)])
    _, beside = ask([message("m1", 3.0, 0.6), Hit("x", "memory", 4.0, 0.1, cites=("m1",))])
    assert beside.score == pytest.approx(alone.score)


def test_a_memory_of_nothing_at_hand_stands_by_itself() -> None:
    memory = Hit("x", "memory", 4.0, 0.5, cites=("elsewhere",))
    assert keys(ask([memory])) == ["x"]
    assert ask([memory])[0].score == pytest.approx(2.2**0.5 + 0.75 * 0.5)


def test_equal_scores_stand_in_the_order_of_their_keys() -> None:
    hits = [message(f"m{number}", 1.0, session_id=f"s{number}", position=1) for number in (3, 1, 2)]
    assert keys(ask(hits)) == keys(ask(hits[::-1])) == ["m1", "m2", "m3"]


def test_no_more_than_the_limit_is_answered() -> None:
    assert len(ask([message(f"m{number}", number) for number in range(30)], limit=7)) == 7
    assert ask([], limit=7) == []


candidates = st.lists(
    st.builds(
        Hit,
        key=st.uuids().map(str),
        type=st.just("message"),
        lexical=st.floats(0, 30),
        cosine=st.none() | st.floats(-1, 1),
        session_id=st.sampled_from(["a", "b", "c"]),
        position=st.integers(1, 50),
        told=st.integers(0, 500),
        timed=st.booleans(),
    ),
    max_size=30,
    unique_by=lambda hit: hit.key,
)


@given(candidates, st.booleans())
def test_every_hit_comes_once_with_parts_that_sum_to_its_score(hits: list[Hit], wants_time: bool) -> None:
    ranked = ask(hits, wants_time=wants_time)
    assert sorted(keys(ranked)) == sorted(hit.key for hit in hits)
    assert [item.score for item in ranked] == sorted((item.score for item in ranked), reverse=True)
    for item in ranked:
        assert item.score == pytest.approx(sum(item.parts.values()), abs=2e-6)


@given(candidates)
def test_a_better_word_match_never_lowers_a_message(hits: list[Hit]) -> None:
    if not hits:
        return
    best = max(hit.lexical for hit in hits)
    raised = [replace(hits[0], lexical=best), *hits[1:]]
    before = {item.hit.key: item.score for item in ask(hits)}
    after = {item.hit.key: item.score for item in ask(raised)}
    assert after[hits[0].key] >= before[hits[0].key] - 2e-6


def test_of_memories_that_cite_the_same_message_the_one_that_fits_best_comes_first() -> None:
    cited = message("m1", 3.0, 0.3)
    vague = Hit("a", "memory", 0.0, 0.1, cites=("m1",))
    fitting = Hit("b", "memory", 3.0, 0.8, cites=("m1",))
    assert keys(ask([cited, vague, fitting])) == ["b", "m1", "a"]


def passage(key: str, lexical: float = 0.0, cosine: float | None = 0.0) -> Hit:
    return Hit(key, "document", lexical, cosine, session_id="d", position=int(key[1:]))


def test_a_passage_that_fits_as_the_best_message_does_stands_beside_it() -> None:
    hits = [message("m1", 5.0, 0.6, told=30), message("m2", 1.0, 0.2, told=30)]
    ranked = {item.hit.key: item.score for item in ask([*hits, passage("p1", 5.0, 0.6), passage("p2", 2.5, 0.3)])}
    assert ranked["p1"] == pytest.approx(ranked["m1"])
    assert ranked["p2"] == pytest.approx(ranked["p1"] / 2)


def test_however_many_passages_fit_badly_none_stands_before_a_message_or_a_memory_that_fits() -> None:
    crowd = [passage(f"p{n}", 0.5, 0.1) for n in range(500)]
    fitting = [message("m1", 5.0, 0.6), message("m2", 3.0, 0.4), Hit("x", "memory", 4.0, 0.5)]
    assert set(keys(ask([*crowd, *fitting], limit=3))) == {"m1", "m2", "x"}
    assert keys(ask([*crowd, fitting[2]], limit=1)) == ["x"]


def test_without_messages_passages_and_memories_are_measured_alike() -> None:
    ranked = ask([Hit("x", "memory", 4.0, 0.5), passage("p1", 4.0, 0.5), passage("p2", 4.0, 0.6)])
    assert keys(ranked) == ["p2", "x", "p1"]
    words = 2.2**0.5
    assert [item.score for item in ranked] == pytest.approx([words + 0.45, words + 0.375, words + 0.375])


def test_a_passage_that_has_no_vector_yet_neither_wins_nor_loses_by_that() -> None:
    ranked = ask([passage("p1", 4.0, None), passage("p2", 4.0, 0.6), passage("p3", 4.0, 0.2)])
    assert keys(ranked) == ["p2", "p1", "p3"]


fits = st.tuples(st.floats(0, 30), st.none() | st.floats(-1, 1))
memories = st.lists(
    st.builds(Hit, key=st.uuids().map(str), type=st.just("memory"), lexical=st.floats(0, 30), cosine=st.floats(-1, 1)),
    max_size=10,
)


@given(candidates, memories, st.lists(fits, max_size=20), st.booleans())
def test_passages_change_nothing_about_the_others(
    messages: list[Hit], memories: list[Hit], shelf: list[tuple[float, float | None]], wants_time: bool
) -> None:
    passages = [passage(f"p{n}", lexical, cosine) for n, (lexical, cosine) in enumerate(shelf)]
    alone = ask([*messages, *memories], wants_time=wants_time, limit=100)
    together = ask([*passages, *messages, *memories], wants_time=wants_time, limit=100)
    assert [item for item in together if item.hit.type != "document"] == alone
    shown = [item for item in together if item.hit.type == "document"]
    assert len(shown) == len(passages)
    for item in shown:
        assert item.score == pytest.approx(sum(item.parts.values()), abs=2e-6)


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(-1, 1)), min_size=2, max_size=20), candidates)
def test_of_two_passages_the_one_that_fits_better_in_both_ways_comes_first(
    shelf: list[tuple[float, float]], messages: list[Hit]
) -> None:
    passages = [passage(f"p{n}", lexical, cosine) for n, (lexical, cosine) in enumerate(shelf)]
    places = {key: place for place, key in enumerate(keys(ask([*passages, *messages], limit=100)))}
    for one in passages:
        for other in passages:
            if one.lexical > other.lexical + 1e-3 and one.cosine > other.cosine + 1e-3:  # type: ignore[operator]
                assert places[one.key] < places[other.key]
