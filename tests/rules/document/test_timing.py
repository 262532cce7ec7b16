from __future__ import annotations

import pytest

from core.types import Json
from rules.document.schema import parse
from tests.rules.document.documents import problems_of
from tests.rules.samples import RUN


@pytest.mark.parametrize(
    ("schedule", "pointer"),
    [
        ({}, "/schedule"),
        ({"cron": "0 3 * * *", "every_seconds": 5}, "/schedule"),
        ({"cron": "0 3 * *"}, "/schedule/cron"),
        ({"cron": "60 * * * *"}, "/schedule/cron"),
        ({"cron": "*/0 * * * *"}, "/schedule/cron"),
        ({"cron": "5-1 * * * *"}, "/schedule/cron"),
        ({"cron": "0 3 0 * *"}, "/schedule/cron"),
        ({"cron": "@daily"}, "/schedule/cron"),
        ({"every_seconds": 0}, "/schedule/every_seconds"),
        ({"every_seconds": 60, "timezone": "Europe/Lissabon"}, "/schedule/timezone"),
        ({"every_seconds": 60, "timezone": "../etc/passwd"}, "/schedule/timezone"),
        ({"every_seconds": 60, "for_each": "session"}, "/schedule/for_each"),
    ],
)
def test_a_schedule_that_is_none_is_refused(schedule: Json, pointer: str) -> None:
    assert set(problems_of({"name": "r", "schedule": schedule, "actions": [RUN]})) == {pointer}


@pytest.mark.parametrize("cron", ["*/5 * * * *", "0 3 * * *", "0,30 9-17 1-15/2 jan-mar SUN", "0 0 * * 7"])
def test_the_usual_cron_lines_are_taken(cron: str) -> None:
    parse({"name": "r", "schedule": {"cron": cron}, "actions": [RUN]})
