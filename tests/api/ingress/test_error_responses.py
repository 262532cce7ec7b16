from __future__ import annotations

import json

import pytest
from psycopg import ProgrammingError as ProgrammingFault
from psycopg import errors as driver_errors
from sqlalchemy import create_engine
from sqlalchemy.exc import ProgrammingError

from api.ingress import error_responses
from core.config import Settings
from tests.api.posting import problem
from tests.doors import Doors, opened

MISSING = "6f9d2c1e-8a54-4a86-9a59-0c8f4f3f5c11"
"""No memory and no dispatch has this id; written out, for each worker of a parallel run collects the same names."""


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/events?type=%5C", 200),
        ("/v1/events?type=%00", 422),
        ("/v1/events?user_id=%00", 422),
        ("/v1/events?after=99999999999999999999999999", 422),
        ("/v1/events?after=x", 422),
        ("/v1/events?limit=0", 422),
        ("/v1/events?limit=501", 422),
        ("/v1/events/%00", 422),
        ("/v1/events/nothing", 404),
        ("/v1/events/nothing/trace", 404),
        ("/v1/memories?after=x", 422),
        ("/v1/memories?status=%00", 422),
        (f"/v1/memories/{MISSING}", 404),
        (f"/v1/memories/{MISSING}/history", 404),
        (f"/v1/memories/{MISSING}/why", 404),
        ("/v1/memories/x", 422),
        ("/v1/sessions/nothing", 404),
        ("/v1/sessions/nothing/messages", 404),
        ("/v1/sessions/%00", 422),
        ("/v1/sessions/x/messages?after=-99999999999999999999", 404),
        (f"/v1/dispatches/{MISSING}", 404),
        ("/v1/dispatches?rule=%00", 422),
        ("/v1/rules/nothing", 404),
        ("/v1/rules/%00", 422),
        ("/v1/settle?token=x", 422),
        ("/v1/settle", 422),
        ("/v1/settle?token=c2VxOjE&timeout=61", 422),
        ("/v1/settle?token=c2VxOjk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5&timeout=0", 422),
        ("/v1/nothing", 404),
        ("/v1/stats?user_id=%00", 422),
    ],
)
def test_an_address_that_leads_nowhere_says_so(door: Doors, path: str, status: int) -> None:
    answer = door.get(path)
    if status == 200:
        assert answer.status_code == 200, answer.text
    else:
        problem(answer, status)


def test_a_method_that_is_not_there_is_a_problem_too(door: Doors) -> None:
    problem(door.ask("DELETE", "/v1/events"), 405)


def test_a_database_that_is_away_is_503_with_retry_after(settings: Settings) -> None:
    with opened(settings) as doors:
        broken = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none", connect_args={"connect_timeout": 1})
        here = doors.client.app.state.deps  # type: ignore[attr-defined]
        here.db.close()
        object.__setattr__(here.db, "engine", broken)
        here.keys.clear()
        answer = doors.get("/v1/events")
        problem(answer, 503)
        assert answer.headers["retry-after"] == "1"
        problem(doors.get("/readyz"), 503)


def test_what_nobody_expected_is_a_500_that_tells_nothing(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("core.events.log.page", surprise)
    assert "hunter2" not in json.dumps(problem(door.get("/v1/events"), 500))


@pytest.mark.parametrize(("body", "fault"), [(b"\xff\xfe\xfa", "is not UTF-8"), (b"[" * 12_000, "nested too deeply")])
def test_a_body_that_cannot_be_read_says_why(door: Doors, body: bytes, fault: str) -> None:
    headers = {"content-type": "application/json"}
    answer = door.ask("POST", "/v1/search", content=body, headers=headers)
    assert answer.status_code == 422
    assert fault in answer.json()["detail"]


@pytest.mark.parametrize(
    ("fault", "status"), [(driver_errors.InsufficientPrivilege, 503), (driver_errors.UndefinedTable, 500)]
)
def test_a_row_that_may_not_be_written_now_can_be_sent_again(fault: type[ProgrammingFault], status: int) -> None:
    answer = error_responses.refusal(ProgrammingError("INSERT", {}, fault("refused")))
    assert (answer.status_code, "retry-after" in answer.headers) == (status, status == 503)
