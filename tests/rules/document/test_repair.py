from __future__ import annotations

from core.errors import Problem
from rules.document.repair import repair
from rules.document.schema import parse
from tests.rules.samples import a_document


def test_faulty_parts_are_replaced_and_the_rest_stays() -> None:
    given = a_document(name="", priority="high", actions=[{"action_type": "no"}, a_document()["actions"][0]])
    found = repair(given, [Problem("/name", ""), Problem("/priority", ""), Problem("/actions/0/action_type", "")])
    assert found is not None
    assert found["actions"][1] == given["actions"][1]
    assert "priority" not in found
    assert parse(found).name == "a-rule"


def test_a_faulty_schedule_gives_way_to_an_event_type() -> None:
    given = a_document(event_type=None, schedule={"cron": "never"})
    found = repair(given, [Problem("/schedule/cron", "")])
    assert found is not None
    assert "schedule" not in found
    assert parse(found).event_type == "any.thing"


def test_of_what_is_no_object_nothing_can_be_used() -> None:
    assert repair(["a list"], []) is None
