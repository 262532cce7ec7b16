"""`POST /v1/rules/backtest`: the answer, its lines of progress, and what is refused."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from core.config import Settings
from core.errors import Later
from core.storage.db import Database
from core.types import Json
from rules.backtest import backtest, log_window
from rules.backtest.backtest import Backtest
from tests.commands import served
from tests.doors import OTHER, Doors, key_of
from tests.patience import PATIENCE_SECONDS
from tests.rules.samples import a_document
from tests.samples import NOON, TENANT, accept_all, event

PATH = "/v1/rules/backtest"
NDJSON = {"accept": "application/x-ndjson"}
DRAFT = a_document(
    name="draft",
    event_type="order.placed",
    actions=[{"action_type": "notify", "channel": "log", "template": "{{payload.n}}"}],
)
BODY = {"rule": DRAFT}
RANGE = {"from": "2026-11-21T00:00:00Z", "to": "2026-11-22T00:00:00+00:00"}


@pytest.fixture(autouse=True)
def log(app: Database) -> None:
    """Thirty orders at noon."""
    accept_all(app, [event(payload={"n": n}, id=f"e{n}") for n in range(30)])


@pytest.fixture
def in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtest, "REPORTED", 10)
    monkeypatch.setattr(log_window, "PAGE", 5)


def lines(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines()]


def pointers(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, answer.text
    return [fault["pointer"] for fault in answer.json()["errors"]]


def test_a_draft_is_answered_with_what_it_would_have_done(door: Doors) -> None:
    answer = door.post(PATH, {"rule": DRAFT, "limit_samples": 1, **RANGE})
    assert answer.status_code == 200
    result = answer.json()
    assert (result["rule"], result["events"], result["fired"]) == ("draft", 30, 30)
    assert [one["events"] for one in result["samples"]] == [["e0"], ["e29"]]
    assert result["samples"][1]["actions"] == [{"action_type": "notify", "channel": "log", "template": 29}]
    assert result["estimate"]["dispatches"] == 30
    assert result["took_ms"] >= 0


def test_the_range_may_be_left_out(door: Doors) -> None:
    assert door.post(PATH, {"rule": DRAFT}).json()["from"] == NOON.replace("+00:00", "Z")


@pytest.mark.usefixtures("in_small_steps")
def test_progress_comes_line_by_line_and_the_result_last(door: Doors) -> None:
    answer = door.post(PATH, {"rule": DRAFT, **RANGE}, headers=NDJSON)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    *told, last = lines(answer.text)
    assert [line["progress"] for line in told] == [{"events": n, "of": 30, "fired": n} for n in (0, 10, 20, 30)]
    assert last["result"]["fired"] == 30


def test_a_draft_that_is_no_rule_is_refused_with_pointers_into_the_request(door: Doors) -> None:
    broken = {**DRAFT, "conditions": {"all": [{"field": "payload.n", "op": "~", "value": 1}]}}
    assert pointers(door.post(PATH, {"rule": broken, **RANGE})) == ["/rule/conditions/all/0/op"]
    assert pointers(door.post(PATH, {"rule": broken, **RANGE}, headers=NDJSON)) == ["/rule/conditions/all/0/op"]


def test_a_draft_that_may_not_be_saved_may_not_be_tried(door: Doors) -> None:
    far = {"action_type": "webhook", "url": "https://example.com/"}
    assert pointers(door.post(PATH, {"rule": {**DRAFT, "actions": [far]}})) == ["/rule/actions/0/url"]


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"from": RANGE["to"], "to": RANGE["from"]}, "/to"),
        ({"from": RANGE["to"], "to": RANGE["to"]}, "/to"),
        ({"from": "yesterday"}, "/from"),
        ({"to": "2026-11-21T00:00:00"}, "/to"),
        ({"limit_samples": 101}, "/limit_samples"),
        ({"limit_samples": -1}, "/limit_samples"),
    ],
)
def test_a_range_that_is_none_is_refused(door: Doors, given: Json, pointer: str) -> None:
    assert pointers(door.post(PATH, {"rule": DRAFT, **given})) == [pointer]
    assert pointers(door.post(PATH, {"rule": DRAFT, **given}, headers=NDJSON)) == [pointer]


def test_a_request_without_a_rule_is_refused(door: Doors) -> None:
    assert pointers(door.post(PATH, RANGE)) == ["/rule"]


def test_no_rule_of_that_name_comes_into_force(door: Doors) -> None:
    door.post(PATH, {"rule": DRAFT})
    assert door.get("/v1/rules/draft").status_code == 404


def test_another_tenant_finds_nothing_in_its_own_log(door: Doors) -> None:
    assert door.post(PATH, {"rule": {**DRAFT, "event_type": "order.*"}}, tenant=OTHER).json()["events"] == 0


def test_a_key_that_may_only_publish_is_refused(settings: Settings, door: Doors) -> None:
    key = key_of(settings, TENANT, ("publish",))
    assert door.post(PATH, {"rule": DRAFT}, key=key).status_code == 403


@pytest.mark.parametrize(
    ("error", "title"),
    [(Later("The embedder rests."), "Unavailable"), (OperationalError("SELECT", {}, Exception("gone")), "Unavailable")],
)
def test_what_goes_wrong_on_the_way_is_the_last_line(
    door: Doors, monkeypatch: pytest.MonkeyPatch, error: Exception, title: str
) -> None:
    def broken(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Backtest, "_take", broken)
    *_, last = lines(door.post(PATH, {"rule": DRAFT}, headers=NDJSON).text)
    assert last["problem"]["title"] == title
    assert door.post(PATH, {"rule": DRAFT}).status_code == 503


@pytest.mark.usefixtures("in_small_steps")
@pytest.mark.parametrize("headers", [NDJSON, {}], ids=["lines", "one answer"])
def test_a_client_that_goes_away_ends_the_work(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    taken = 0

    def slow(*_: Any) -> None:
        nonlocal taken
        taken += 1
        time.sleep(0.3)

    monkeypatch.setattr(Backtest, "_take", slow)
    monkeypatch.setattr(log_window, "PAGE", 1)
    monkeypatch.setattr(backtest, "REPORTED", 1)
    end, seen = time.monotonic() + PATIENCE_SECONDS, -1
    with served(settings) as (url, key):
        sent = httpx.Request("POST", f"{url}{PATH}", headers={"authorization": f"Bearer {key}", **headers}, json=BODY)
        with socket.create_connection((sent.url.host, sent.url.port), 60) as client:
            client.sendall(f"POST {PATH} HTTP/1.1\r\n".encode())
            client.sendall(b"".join(b"%s: %s\r\n" % pair for pair in sent.headers.raw) + b"\r\n" + sent.content)
            while taken < 2 and time.monotonic() < end:
                time.sleep(0.01)
        while seen != taken:
            seen = taken
            time.sleep(1)
    assert 2 <= taken < 30
