from __future__ import annotations

from core.search import unindexed


def test_a_text_is_scored_by_the_terms_that_it_shares_with_the_question() -> None:
    assert unindexed.lexical({1: 2.0, 2: 1.0}, {1: 0.5, 3: 9.0}) == 1.0
    assert unindexed.lexical({}, {1: 0.5}) == 0


def test_only_what_narrows_a_question_is_in_its_statement() -> None:
    reader = dict.fromkeys(("session", "since", "until", "as_of", "known_at"), None)
    statement, values = unindexed.unindexed_query({**reader, "session": "s1", "user": "ada", "group": None})
    assert "s.id = :session" in str(statement)
    assert ":since" not in str(statement)
    assert values["tail"] == unindexed.TAIL
