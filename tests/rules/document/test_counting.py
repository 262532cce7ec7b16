"""Counts of an alarm, by themselves."""

from __future__ import annotations

import pytest

from core.errors import Invalid
from core.types import Json
from rules.document.counting import EventCount
from rules.document.schema import parse
from tests.rules.samples import DEAD, an_alarm


def test_one_type_and_a_list_of_types_are_the_same_to_who_counts() -> None:
    one = EventCount(of="events", event_type="a", within_seconds=1)
    both = EventCount(of="events", event_type=["a", "b"], within_seconds=1)
    assert (one.types, both.types) == (["a"], ["a", "b"])


@pytest.mark.parametrize(
    ("count", "pointer", "detail"),
    [
        ({}, "/of", "say what it counts with `of`"),
        (5, "/of", "say what it counts with `of`"),
        ({"of": "event"}, "/of", "did you mean `events`?"),
        ({"of": "events", "event_type": "a.*", "within_seconds": 5}, "/event_type", "takes no wildcards"),
        ({"of": "events", "event_type": ["a", "*"], "within_seconds": 5}, "/event_type/1", "takes no wildcards"),
        ({"of": "events", "event_type": "a"}, "/within_seconds", "required"),
        ({"of": "events", "event_type": "a", "within_seconds": 2_592_001}, "/within_seconds", "at most 2592000"),
        ({"of": "events", "event_type": "a", "within_seconds": 5, "sum": "total"}, "/sum", "must fit"),
        ({"of": "events", "event_type": "a", "within_seconds": 5, "sum": "payload.a.b"}, "/sum", "must fit"),
        ({"of": "memories", "within_seconds": 5, "session_id": "s1"}, "/session_id", "unknown field"),
        ({**DEAD, "status": "done"}, "/status", "Known are: dead, held, open"),
    ],
)
def test_a_count_that_cannot_be_is_refused_at_its_place(count: Json, pointer: str, detail: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(an_alarm(counts={"dead": count}))
    said = {problem.pointer: problem.detail for problem in caught.value.problems}
    assert detail in said[f"/counts/dead{pointer}"]


def test_a_name_that_no_path_can_have_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        parse(an_alarm(counts={"Dead": DEAD}))
    assert [problem.pointer for problem in caught.value.problems] == ["/counts/Dead"]


def test_there_are_at_most_six() -> None:
    with pytest.raises(Invalid, match="at most 6"):
        parse(an_alarm(counts={f"dead{n}": DEAD for n in range(7)}))
