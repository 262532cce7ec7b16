"""The list of each arm: by its own measure, passages among the rest, and only arms that found something."""

from __future__ import annotations

import numpy as np

from core.search import arms, candidates, ordering, ranking
from core.search.candidates import Hit
from core.search.ordering import PageCut, RankedHit, RankedPage
from core.search.question_analysis import PLAIN


def page_of(*hits: Hit, passages: tuple[Hit, ...] = ()) -> RankedPage:
    found = candidates.of(hits)
    scores = ranking.score_candidates(found, ranking.RankingQuery(PLAIN, ideal=1.0))
    ranked = [RankedHit(one, 1.0, {}) for one in passages]
    return ordering.cut_page(found, scores, ranked, PageCut(10), lambda places: np.zeros((len(places), 1), np.float32))


WORDS = Hit("a", "message", 3.0, None, "s1", 1)
MEANING = Hit("b", "memory", 0.0, 0.9)
BOTH = Hit("c", "message", 1.0, 0.5, "s1", 9)
PASSAGE = Hit("d", "document", 2.0, 0.7)


def test_each_arm_ranks_by_its_own_measure_and_leaves_out_what_it_did_not_find() -> None:
    lists = arms.of(page_of(WORDS, MEANING, BOTH, passages=(PASSAGE,)))
    told = {name: [(one.rank, one.type, one.key, one.score) for one in hits] for name, hits in lists.items()}
    assert told["lexical"] == [(1, "message", "a", 3.0), (2, "document", "d", 2.0), (3, "message", "c", 1.0)]
    assert told["vector"] == [(1, "memory", "b", 0.9), (2, "document", "d", 0.7), (3, "message", "c", 0.5)]
    assert "association" not in told
    assert "time" not in told


def test_a_list_ends_after_so_many() -> None:
    lists = arms.of(page_of(*(Hit(f"h{n}", "memory", float(n), None) for n in range(50))), top=3)
    assert [one.key for one in lists["lexical"]] == ["h49", "h48", "h47"]
    assert lists["vector"] == []
