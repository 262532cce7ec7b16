"""Two installations behind one address: each tenant is served by its own, and can be moved to the other."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import httpx
import pytest
from imprint_client import Imprint

from core.types import Json
from tests.api.mcp.asking import Agent
from tests.hosts import cells, door
from tests.hosts.cells import Cell
from tests.hosts.door import Door
from tests.patience import wait_until

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(door.PROGRAM is None, reason="needs HAProxy (`make hosts` installs it)"),
    pytest.mark.timeout(1200),
]

FIRST, SECOND = "acme", "globex"
HOMES: Final = {FIRST: "Lisbon", SECOND: "Turin"}
"""Where Ada lives, as each tenant knows it."""

UNKNOWN: Final = "imp.initech.0123456789abcdef0123456789abcdef.secret"
PROBLEM: Final = "application/problem+json"


@dataclass
class Town:
    """Two cells behind a door, with a tenant and its key in each."""

    door: Door
    cells: list[Cell]
    keys: dict[str, str]

    def client(self, tenant: str) -> httpx.Client:
        return self.door.client(self.keys[tenant])

    def get(self, path: str, key: str, **headers: str) -> httpx.Response:
        with self.door.client(key) as client:
            return client.get(path, headers=headers)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    with cells.running(folder) as running:
        keys = {tenant: cell.key(tenant) for tenant, cell in zip((FIRST, SECOND), running, strict=True)}
        places = {FIRST: "cell1", SECOND: "cell2"}
        with door.opened(folder, [cell.address for cell in running], places) as opened:
            built = Town(opened, running, keys)
            wait_until(lambda: opened.servers_up() == {"cell1", "cell2"})
            yield built


def said(tenant: str, session: str, content: str) -> list[Json]:
    talk = {"session_id": session, "user_id": "ada"}
    return [
        {"event_type": "message.added", "payload": {**talk, "role": "user", "speaker": "Ada", "content": content}},
        {"event_type": "session.ended", "payload": {**talk, "message_count": 1}},
    ]


def remembered(client: Imprint, tenant: str, session: str, content: str) -> None:
    answer = client.publish([{**event, "source": tenant} for event in said(tenant, session, content)])
    wait_until(lambda: client.settle(answer["settle_token"], timeout=5, flush=True))


@pytest.mark.parametrize("tenant", HOMES)
def test_each_tenant_is_served_by_its_cell_alone(town: Town, tenant: str) -> None:
    with Imprint(town.door.url, town.keys[tenant]) as client:
        remembered(client, tenant, "s1", f"I live in {HOMES[tenant]}.")
        (memory, *_) = client.search("Where does Ada live?", user_id="ada")
        assert HOMES[tenant] in memory["content"]
        assert HOMES[tenant] in json.dumps(client.context(user_id="ada", query="Where does Ada live?", max_tokens=1000))
    home, other = town.cells if tenant == FIRST else reversed(town.cells)
    count = "SELECT count(*) AS number FROM messages"
    assert home.select(tenant, count)[0].number == 1
    assert other.select(tenant, count)[0].number == 0
    assert other.select(tenant, "SELECT count(*) AS number FROM api_keys")[0].number == 0


def test_agents_and_other_dialects_find_their_cell(town: Town) -> None:
    for tenant in (FIRST, SECOND):
        key = town.keys[tenant]
        added = Agent(town.door.url, key).call("memory_add", user_id="eve", content=f"Eve works for {tenant}.")
        assert town.get(f"/v1/memories/{added['memory']['id']}", key).is_success
        for name, value in (("authorization", f"Token {key}"), ("x-api-key", key)):
            with town.door.client() as client:
                assert client.get("/compat/mem0/v1/ping/", headers={name: value}).is_success, name


def test_the_console_finds_the_cell_of_who_has_logged_in(town: Town) -> None:
    for tenant, other in ((FIRST, SECOND), (SECOND, FIRST)):
        with town.door.client() as browser:
            assert browser.get("/console/login").is_success
            answer = browser.post("/console/login", data={"key": town.keys[tenant]})
            assert (answer.status_code, browser.cookies["imprint_tenant"]) == (303, tenant)
            for _ in range(4):  # whichever cell a request without a key would have reached next
                page = browser.get("/console/memories?user_id=ada")
                assert (page.status_code, HOMES[tenant] in page.text) == (200, True)
            login = browser.cookies["imprint_console"]
        with town.door.client() as browser:
            cookie = f"imprint_console={login}; imprint_tenant={other}"
            page = browser.get("/console/memories?user_id=ada", headers={"cookie": cookie})
            assert (page.status_code, page.headers["location"].partition("?")[0]) == (303, "/console/login")
            refused = browser.post("/console/login", data={"key": UNKNOWN})
            assert (refused.status_code, "imprint_tenant" in browser.cookies) == (401, False)


def test_events_are_streamed_as_they_come(town: Town) -> None:
    with town.client(SECOND) as client, client.stream("GET", "/v1/stream?types=stream.tried&after=0") as stream:
        began = time.monotonic()
        with town.client(SECOND) as publisher:
            publisher.post("/v1/events", json=[{"event_type": "stream.tried", "source": "t", "payload": {"n": 1}}])
        line = next(line for line in stream.iter_lines() if line.startswith("data:") and "stream.tried" in line)
        assert json.loads(line.removeprefix("data:"))["event_type"] == "stream.tried"
        assert time.monotonic() - began < 30, "within the time of a heartbeat or two, not with the end of the stream"


def test_nobody_reaches_another_cell(town: Town) -> None:
    _, identity, secret = town.keys[FIRST].rsplit(".", 2)
    refusals = [
        UNKNOWN,
        f"imp.{SECOND}.{identity}.{secret}",  # one tenant's secret with another's name
        f"imp.{SECOND}.{identity}.wrong",
        "imp..0123456789abcdef0123456789abcdef.secret",
        f"imp.{FIRST}|{SECOND}.{identity}.{secret}",
        f"imp.{FIRST.upper()}.{identity}.{secret}",
        f"imp.^{SECOND[:3]}.{identity}.{secret}",
        f"imp.*.{identity}.{secret}",
        f"imp.cell2.{identity}.{secret}",
        f"imp.moving.{identity}.{secret}",
        f"imp.{'a' * 500}.{identity}.{secret}",
        "not-a-key",
    ]
    answers = {town.get("/v1/memories?user_id=ada", key).content for key in refusals}
    assert len(answers) == 1
    assert {town.get("/v1/memories?user_id=ada", key).status_code for key in refusals} == {401}


def test_no_header_and_no_cookie_chooses_the_cell(town: Town) -> None:
    key = town.keys[FIRST]
    expected = town.get("/v1/memories?user_id=ada", key).json()
    for name, value in (
        ("cookie", f"imprint_tenant={SECOND}"),
        ("x-api-key", town.keys[SECOND]),
        ("host", "cell2"),
        ("x-forwarded-host", "cell2"),
        ("x-cell", "cell2"),
    ):
        assert town.get("/v1/memories?user_id=ada", key, **{name: value}).json() == expected, name
    twice = [("authorization", f"Bearer {key}"), ("authorization", f"Bearer {town.keys[SECOND]}")]
    with town.door.client() as client:
        assert client.get("/v1/memories?user_id=ada", headers=twice).json() == expected
        both = {"cookie": f"imprint_tenant={SECOND}", "authorization": f"Bearer {key}"}
        page = client.get("/console/people", headers=both)
        assert (page.status_code, page.headers["location"].startswith("/console/login")) == (303, True)


def test_what_is_too_long_or_malformed_is_refused(town: Town) -> None:
    long = town.get("/v1/memories?user_id=ada", town.keys[FIRST], padding="x" * 40_000)
    assert (long.status_code, long.headers["content-type"]) == (431, PROBLEM)
    assert town.get("/v1/memories?user_id=ada", town.keys[FIRST], padding="x" * 100_000).status_code == 400
    for head in (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"POST /v1/events HTTP/1.1\r\nContent-Length: -1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", town.door.port), timeout=60) as line:
            line.sendall(head)
            assert line.recv(100).startswith(b"HTTP/1.1 400")


def test_what_needs_no_key_is_the_same_everywhere(town: Town) -> None:
    with town.door.client() as client:
        for path in ("/healthz", "/readyz", "/openapi.json", "/console/static/console.css"):
            answers = {client.get(path).content for _ in range(4)}
            assert len(answers) == 1, path
    assert len({town.get("/v1/receipts/key", key).json()["key_id"] for key in town.keys.values()}) == 1


def test_a_cell_that_dies_takes_only_its_tenants_along(town: Town) -> None:
    town.cells[1].kill()
    answers: dict[str, list[int]] = {FIRST: [], SECOND: []}

    def is_noticed() -> bool:
        for tenant, statuses in answers.items():
            statuses.append(town.get("/v1/stats", town.keys[tenant]).status_code)
        return answers[SECOND][-1] == 503 and "cell2" not in town.door.servers_up()

    wait_until(is_noticed, every=0.2)
    assert set(answers[FIRST]) == {200}
    assert set(answers[SECOND]) <= {502, 503}
    answer = town.get("/v1/stats", town.keys[SECOND])
    assert (answer.status_code, answer.headers["content-type"], answer.headers["retry-after"]) == (503, PROBLEM, "5")
    assert answer.json().keys() == {"type", "title", "status", "detail"}
    assert town.get("/v1/stats", UNKNOWN).status_code == 401
    town.cells[1].start()
    wait_until(lambda: town.get("/v1/stats", town.keys[SECOND]).is_success, every=0.2)
