from __future__ import annotations

from datetime import UTC, datetime

from rules.expressions.facts import MISSING, Facts, nothing
from tests.rules.samples import NOON, an_event


def test_a_name_is_looked_up_once_and_no_answer_is_missing() -> None:
    asked: list[str] = []

    def look_up(name: str) -> int | None:
        asked.append(name)
        return 7 if name == "session.token_count" else None

    facts = Facts(an_event(), look_up)
    assert [facts.lookup("session.token_count") for _ in range(2)] == [7, 7]
    assert [facts.lookup("user.memory_count") for _ in range(2)] == [MISSING, MISSING]
    assert asked == ["session.token_count", "user.memory_count"]


def test_now_is_the_time_of_the_event_unless_it_is_given() -> None:
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert Facts(an_event()).now == NOON
    assert Facts(an_event(), now=later).now == later


def test_similarity_and_mismatches_are_handed_on_and_may_be_absent() -> None:
    told: list[tuple[str, str]] = []
    facts = Facts(an_event(), nothing, similarity=lambda *_: 0.5, on_mismatch=lambda *one: told.append(one))
    facts.mismatch("payload.x", ">")
    assert told == [("payload.x", ">")]
    assert facts.similarity("a", "b") == 0.5
    assert Facts(an_event()).similarity("a", "b") is None
