"""The furthest position is sent, until the log of the service begins anew."""

from __future__ import annotations

import httpx
from imprint_client import Imprint
from imprint_client.position import HEADER, LastPosition


def test_a_client_sends_the_furthest_position() -> None:
    answers = iter(["0/A0", None, "0/90", "1/0", "0/20", "0/30", None])
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get(HEADER))
        position = next(answers)
        return httpx.Response(200, json={"results": []}, headers={HEADER: position} if position else {})

    with Imprint("http://service", "k", transport=httpx.MockTransport(answer)) as client:
        for _ in range(6):
            client.search("x", user_id="ada")
        client.request("POST", "/v1/search", headers={"imprint-POSITION": "latest"}, json={})
    assert sent == [None, "0/A0", "0/A0", "0/90", "1/0", "0/20", "latest"]


def test_an_answer_that_was_late_hides_no_later_position() -> None:
    last = LastPosition()
    last.note({}, {HEADER: "0/10"})
    early = last.headers
    last.note(last.headers, {HEADER: "0/30"})
    last.note(early, {HEADER: "0/20"})
    assert last.headers == {HEADER: "0/30"}


def test_a_late_answer_from_the_log_before_does_not_bring_its_position_back() -> None:
    last = LastPosition()
    last.note({}, {HEADER: "5/0"})
    before = last.headers
    last.note(before, {HEADER: "0/10"})
    last.note(before, {HEADER: "0/20"})
    assert last.headers == {HEADER: "0/20"}


def test_what_is_no_position_is_ignored() -> None:
    last = LastPosition()
    last.note({}, {HEADER: "soon"})
    assert last.headers == {}
