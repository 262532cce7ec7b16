from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.index.resident.arrays import Floats, Places
from core.search import candidates, ordering, pagination
from core.search.candidates import Hit
from core.search.ordering import PageCut, RankedHit
from core.search.ranking import RankingQuery, score_candidates


def message(n: int, lexical: float, **more: Any) -> Hit:
    return Hit(f"m{n:03}", "message", lexical, 0.0, session_id=f"s{n}", position=1, **more)


def ordered(hits: Sequence[Hit], page: PageCut, vectors: Floats | None = None) -> list[RankedHit]:
    found = candidates.of([hit for hit in hits if hit.type not in {"document", "unit"}])
    scores = score_candidates(found, RankingQuery())
    shelved = ordering.score_passages(
        [hit for hit in hits if hit.type in {"document", "unit"}], found, scores, RankingQuery()
    )

    def rows(places: Places) -> Floats:
        return np.zeros((len(places), 2), dtype=np.float32) if vectors is None else vectors[places]

    return ordering.cut_page(found, scores, shelved, page, rows).ranked


def keys(ranked: Sequence[RankedHit]) -> list[str]:
    return [one.hit.key for one in ranked]


mixed = st.lists(
    st.builds(
        Hit,
        key=st.uuids().map(str),
        type=st.sampled_from(ordering.TYPES),
        lexical=st.sampled_from([0.0, 1.0, 2.0]),
        cosine=st.sampled_from([None, 0.0, 0.5]),
        session_id=st.sampled_from(["a", "b"]),
        position=st.integers(1, 40),
    ),
    max_size=25,
    unique_by=(lambda hit: hit.key, lambda hit: (hit.session_id, hit.position)),
)


@given(mixed, st.integers(1, 7), st.sampled_from([0.0, 0.4]))
def test_page_after_page_everything_comes_once_in_the_order_of_one_page(
    hits: list[Hit], limit: int, diversity: float
) -> None:
    whole = ordered(hits, PageCut(1000, diversity=diversity))
    seen: list[RankedHit] = []
    while True:
        after = pagination.place_of(seen[-1]) if seen else None
        page = ordered(hits, PageCut(limit, after=after, diversity=diversity))
        if not page:
            break
        seen += page
    assert keys(seen) == keys(whole)
    assert sorted(keys(whole)) == sorted(hit.key for hit in hits)


@given(mixed)
def test_the_order_does_not_hang_on_the_order_in_which_rows_were_read(hits: list[Hit]) -> None:
    assert keys(ordered(hits, PageCut(1000))) == keys(ordered(hits[::-1], PageCut(1000)))


def test_where_the_last_result_is_gone_the_next_page_begins_with_what_scores_less() -> None:
    hits = [message(n, float(9 - n)) for n in range(9)]
    last = ordered(hits, PageCut(3))[-1]
    left = [hit for hit in hits if hit.key != last.hit.key]
    assert keys(ordered(left, PageCut(2, after=pagination.place_of(last)))) == ["m003", "m004"]


def test_who_asks_for_other_things_gets_what_repeats_the_least() -> None:
    hits = [message(0, 5.0), message(1, 4.9), message(2, 4.0)]
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    assert keys(ordered(hits, PageCut(3), vectors)) == ["m000", "m001", "m002"]
    assert keys(ordered(hits, PageCut(3, diversity=0.5), vectors)) == ["m000", "m002", "m001"]


def test_of_each_type_so_many_in_one_order() -> None:
    hits = [
        *(message(n, float(n)) for n in range(4)),
        *(Hit(f"x{n}", "memory", 9.0 - n, 0.1) for n in range(4)),
        *(Hit(f"d{n}", "document", 1.0, 0.1, session_id="d", position=n) for n in range(4)),
        *(Hit(f"u{n}", "unit", 1.0, 0.1, session_id="s", position=n) for n in range(4)),
    ]
    found = ordered(hits, PageCut(2, each=True))
    assert {type_: sum(one.hit.type == type_ for one in found) for type_ in ordering.TYPES} == dict.fromkeys(
        ordering.TYPES, 2
    )
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_each_result_says_how_many_fit_better_in_each_arm() -> None:
    hits = [message(0, 5.0), Hit("m1", "message", 3.0, 0.9, session_id="s", position=1), message(2, 4.0)]
    ranks = {one.hit.key: one.ranks for one in ordered(hits, PageCut(9))}
    assert ranks["m1"] == {"lexical": 3, "vector": 1}
    assert ranks["m000"] == {"lexical": 1, "vector": 2}


def test_of_nothing_there_is_nothing_in_any_order() -> None:
    assert ordered([], PageCut(5, diversity=0.5)) == []


def test_a_share_of_the_best_score_is_needed() -> None:
    hits = [message(n, lexical) for n, lexical in enumerate([4.0, 3.9, 1.0, 0.1])]
    everything = ordered(hits, PageCut(10))
    near = [one for one in everything if one.score >= 0.8 * everything[0].score]
    assert 1 < len(near) < len(hits)
    assert keys(ordered(hits, PageCut(10, share=0.8))) == keys(near)
    assert ordered([], PageCut(5, share=0.8)) == []


def test_what_is_cited_already_is_not_shown_again() -> None:
    hits = [
        message(0, 4.0),
        message(1, 3.0),
        Hit("one", "memory", 4.0, 0.0, cites=("m000",)),
        Hit("both", "memory", 3.5, 0.0, cites=("m000", "m001")),
        Hit("none", "memory", 0.1, 0.0),
        Hit("leaf", "document", 0.1, 0.0),
    ]
    assert keys(ordered(hits, PageCut(10)))[:2] == ["one", "m000"]
    assert set(keys(ordered(hits, PageCut(10, distinct=True)))) == {"one", "both", "none", "leaf"}


@given(mixed, st.integers(1, 7))
def test_pages_of_distinct_results_are_parts_of_one(hits: list[Hit], limit: int) -> None:
    whole = keys(ordered(hits, PageCut(1000, distinct=True, share=0.5)))
    first = ordered(hits, PageCut(limit, distinct=True, share=0.5))
    assert keys(first) == whole[:limit]
    if first:
        then = ordered(hits, PageCut(limit, after=pagination.place_of(first[-1]), distinct=True, share=0.5))
        assert keys(then) == whole[limit : 2 * limit]
