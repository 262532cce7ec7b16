from __future__ import annotations

import pytest

from core.types import Json
from rules.document.schema import parse
from tests.rules.document.documents import problems_of
from tests.rules.samples import a_document


@pytest.mark.parametrize(
    "url",
    [
        "https://allowed.org\\@evil.org/",
        "https://user@evil.org/",
        "https://evil.org:99999999/",
        "https://ex ample.org/",
        "https://exämple.org/",
        "https://example.org/\n",
        "//example.org/x",
    ],
)
def test_an_address_that_two_parsers_could_read_differently_is_refused(url: str) -> None:
    assert "/actions/0/url" in problems_of(a_document(actions=[{"action_type": "webhook", "url": url}]))


@pytest.mark.parametrize("url", ["HTTPS://Example.org:8443/a%20b?c=d#e", "http://[::1]:80", "http://127.0.0.1/x"])
def test_a_plain_address_is_taken(url: str) -> None:
    parse(a_document(actions=[{"action_type": "webhook", "url": url}]))


@pytest.mark.parametrize(
    ("params", "place"),
    [
        ({"mode": "later"}, "mode"),
        ({"may_ask": "anybody"}, "may_ask"),
        ({"undo_seconds": -1}, "undo_seconds"),
        ({"undo_seconds": 2592001}, "undo_seconds"),
        ({"undo_seconds": True}, "undo_seconds"),
        ({"undo_seconds": "a day"}, "undo_seconds"),
        ({"undo_seconds": 1.5}, "undo_seconds"),
    ],
)
def test_a_parameter_that_the_forgetter_cannot_obey_is_refused(params: Json, place: str) -> None:
    action = {"action_type": "run_agent", "target": "memory_forgetter", "params": params}
    assert f"/actions/0/params/{place}" in problems_of(a_document(actions=[action]))


@pytest.mark.parametrize("mode", ["undo", "approve", "at_once"])
def test_the_modes_of_forgetting_are_taken(mode: str) -> None:
    action = {"action_type": "run_agent", "target": "memory_forgetter", "params": {"mode": mode}}
    parse(a_document(actions=[action]))


@pytest.mark.parametrize(
    "action",
    [
        {"action_type": "celery", "task": "crm.{{payload.task}}", "queue": "crm"},
        {"action_type": "webhook", "url": "https://{{payload.host}}/x"},
        {"action_type": "emit", "event_type": "{{payload.type}}"},
    ],
)
def test_no_template_chooses_where_something_goes(action: Json) -> None:
    assert len(problems_of(a_document(actions=[action]))) == 1
