from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.console import scores


def test_a_message_is_the_sum_of_its_parts() -> None:
    found = scores.of(0.9, {"lexical": 0.6, "vector": 0.3, "span": 0.0}, is_memory=False, best=0.9)
    assert (found.rule, [one.name for one in found.segments], found.beside) == ("parts", ["lexical", "vector"], {})
    assert found.segments[1].x == pytest.approx(66.667, abs=0.01)
    assert found.segments[1].x + found.segments[1].width == pytest.approx(100, abs=0.01)


def test_a_memory_scores_as_the_messages_that_it_cites_else_by_itself() -> None:
    cited = scores.of(0.7, {"own": 0.5, "cited": 0.6, "association": 0.1}, is_memory=True, best=1)
    assert (cited.rule, [one.name for one in cited.segments], cited.beside) == (
        "cited",
        ["cited", "association"],
        {"own": 0.5},
    )
    own = scores.of(0.5, {"own": 0.5, "cited": 0.0}, is_memory=True, best=1)
    assert (own.rule, [one.name for one in own.segments]) == ("own", ["own"])


def test_a_formula_takes_the_place_of_both() -> None:
    parts = {"similarity": 0.3, "decay": 0.2, "importance": 0.1, "association": 0.0}
    found = scores.of(0.6, parts, is_memory=True, best=1)
    assert (found.rule, len(found.segments)) == ("formula", 3)


def test_what_the_parts_do_not_explain_is_named() -> None:
    found = scores.of(0.8, {"lexical": 0.5}, is_memory=False, best=1)
    assert [(one.name, round(one.value, 6)) for one in found.segments] == [("lexical", 0.5), ("rest", 0.3)]


@given(st.dictionaries(st.sampled_from(["lexical", "vector", "span", "who"]), st.floats(-1, 3)), st.floats(0, 3))
def test_bars_stay_within_their_box_and_sum_to_the_score(parts: dict[str, float], best: float) -> None:
    score = sum(parts.values())
    found = scores.of(score, parts, is_memory=False, best=best)
    assert sum(one.value for one in found.segments) == pytest.approx(score, abs=1e-3)
    assert all(one.width >= 0 and one.x >= 0 and one.x + one.width <= 100.001 for one in found.segments)
