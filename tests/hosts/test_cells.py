"""Two installations behind one address: each tenant is served by its own, and can be moved to the other."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import httpx
import pytest
from imprint_client import Imprint

from core.cells.rows import COPIED
from core.events import occurrences
from core.types import Json
from tests.api.mcp.asking import Agent
from tests.hosts import cells, door
from tests.hosts.cells import Cell
from tests.hosts.door import Door
from tests.hosts.stream import figure
from tests.patience import PATIENCE_SECONDS, wait_until

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(door.PROGRAM is None, reason="needs HAProxy (`make hosts` installs it)"),
    pytest.mark.timeout(1200),
]

FIRST, SECOND, THIRD = "acme", "globex", "umbrella"
HOMES: Final = {FIRST: "Lisbon", SECOND: "Turin"}
"""Where Ada lives, as each tenant knows it."""

UNKNOWN: Final = "imp.initech.0123456789abcdef0123456789abcdef.secret"
COUNTED_SECONDS: Final = occurrences.EVERY_SECONDS + 5
"""Within these the API's processes write what they have counted."""

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


def said(session: str, user: str, content: str) -> list[Json]:
    talk = {"session_id": session, "user_id": user}
    return [
        {"event_type": "message.added", "payload": {**talk, "role": "user", "speaker": "Ada", "content": content}},
        {"event_type": "session.ended", "payload": {**talk, "message_count": 1}},
    ]


def remembered(client: Imprint, session: str, user: str, content: str) -> None:
    answer = client.publish([{**event, "source": "chat"} for event in said(session, user, content)])
    wait_until(lambda: client.settle(answer["settle_token"], timeout=5, flush=True))


@pytest.mark.parametrize("tenant", HOMES)
def test_each_tenant_is_served_by_its_cell_alone(town: Town, tenant: str) -> None:
    with Imprint(town.door.url, town.keys[tenant]) as client:
        remembered(client, "s1", "ada", f"I live in {HOMES[tenant]}.")
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


def test_what_the_door_says_of_the_client_is_believed_and_nothing_else(town: Town) -> None:
    form, https = {"key": town.keys[FIRST]}, {"x-forwarded-proto": "https"}
    with town.door.client() as browser:
        spoofed = browser.post("/console/login", data=form, headers=https)
    told = httpx.post(f"http://{town.cells[0].address}/console/login", data=form, headers=https, timeout=60)
    assert ["Secure" in answer.headers["set-cookie"] for answer in (spoofed, told)] == [False, True]


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


def test_the_map_is_read_again_without_a_refused_connection(town: Town) -> None:
    key = town.cells[1].key("initech")
    statuses: list[int] = []

    def is_read() -> bool:
        statuses.append(town.get("/v1/stats", town.keys[FIRST]).status_code)
        return "initech cell2" in town.door.command(f"show map {town.door.folder}/tenants.map")

    assert not is_read()
    town.door.read_again("initech", "cell2")
    wait_until(is_read, every=0.01)
    assert set(statuses) == {200}
    assert {town.get("/v1/stats", key).status_code for _ in range(6)} == {200}


ON_LOG = "SELECT id, count(*) AS number FROM events WHERE source = 'load' AND event_type = 'load.came' GROUP BY 1"

DECIDED = """
    SELECT e.id, count(*) AS number FROM events e JOIN decisions d ON d.event_seq = e.seq AND d.rule = 'handed_on'
    WHERE e.source = 'load' GROUP BY 1
"""

HANDED_ON = """
    SELECT c.id, count(*) AS number FROM events e JOIN events c ON c.id = e.causation_id
    WHERE e.event_type = 'load.handed_on' AND c.source = 'load' GROUP BY 1
"""

DONE = """
    SELECT e.id, count(*) AS number FROM events e JOIN dispatches d ON d.event_seq = e.seq AND d.rule = 'handed_on'
    WHERE e.source = 'load' AND d.status = 'done' GROUP BY 1
"""

MEMORIES = """
    SELECT user_id, sum(version)::int AS number FROM memories
    WHERE user_id LIKE 'user%' AND category <> 'episode' GROUP BY 1
"""


@dataclass
class Load:
    """Publishes events with known ids, each again until it is accepted, as a client has to."""

    client: httpx.Client
    accepted: list[str] = field(default_factory=list)
    refused: Counter[int] = field(default_factory=Counter)
    longest: float = 0
    _stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        for turn in itertools.count():
            if self._stopped.wait(0.1):
                return
            batch = self._batch(turn)
            while (status := self._published(batch)) != 202:
                self.refused[status] += 1
                time.sleep(0.2)
            self.accepted += [event["id"] for event in batch]

    def _published(self, batch: list[Json]) -> int:
        began = time.monotonic()
        status = self.client.post("/v1/events", json=batch).status_code
        self.longest = max(self.longest, time.monotonic() - began)
        return status

    def stop(self) -> None:
        self._stopped.set()

    @property
    def turns(self) -> list[str]:
        return [name for name in self.accepted if name.startswith("turn")]

    def _batch(self, turn: int) -> list[Json]:
        came = {"event_type": "load.came", "source": "load", "id": f"turn{turn}", "payload": {"n": turn}}
        if turn % 10:
            return [came]
        talk = [{**event, "source": "load"} for event in said(f"talk{turn}", f"user{turn}", "I live in Porto.")]
        for part, event in enumerate(talk):
            event["id"] = f"talk{turn}-{part}"
        return [came, *talk]


class Slow:
    """A request whose body has begun, and does not end yet."""

    def __init__(self, town: Town, key: str, name: str) -> None:
        self._body = json.dumps([{"event_type": "load.came", "source": "slow", "id": name, "payload": {}}]).encode()
        head = f"POST /v1/events HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer {key}\r\n"
        self._line = socket.create_connection(("127.0.0.1", town.door.port), timeout=PATIENCE_SECONDS)
        self._line.sendall(f"{head}Content-Length: {len(self._body)}\r\n\r\n".encode() + self._body[:10])

    def finished(self) -> bytes:
        """Send the rest; return the beginning of the answer."""
        with self._line as line:
            line.sendall(self._body[10:])
            return line.recv(100)


@contextlib.contextmanager
def under_load(client: httpx.Client) -> Iterator[Load]:
    load = Load(client)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(load.run)
        try:
            yield load
        finally:
            load.stop()
        running.result()


def followed(client: httpx.Client, after: str, last: str | None = None) -> list[tuple[str, str]]:
    """Return positions and ids of the events behind a position, up to the last one; None: the first alone."""
    events: list[tuple[str, str]] = []
    headers = {"last-event-id": after}
    with client.stream("GET", "/v1/stream?types=load.came", headers=headers) as stream:
        fields: dict[str, str] = {}
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            fields[name] = value
            if line or "load.came" not in fields.get("data", ""):
                continue
            events.append((fields["id"], json.loads(fields.pop("data"))["id"]))
            if last in {None, events[-1][1]}:
                break
    return events


def rule_acts(town: Town, client: httpx.Client) -> bool:
    client.post("/v1/events", json=[{"event_type": "load.came", "source": "probe", "payload": {"n": 0}}])
    return bool(town.cells[0].select(FIRST, "SELECT FROM dispatches WHERE rule = 'handed_on' LIMIT 1"))


def assert_each_once(cell: Cell, load: Load) -> None:
    """Check that each accepted event is on the log once, was decided once, and has had each effect once."""
    for query in (ON_LOG, DECIDED, HANDED_ON, DONE):
        counted = {row.id: row.number for row in cell.select(FIRST, query)}
        assert counted == dict.fromkeys(load.turns, 1), query
    assert cell.select(FIRST, "SELECT FROM events WHERE id = 'late'") == []
    told = [name for name in load.accepted if name.endswith("-1")]
    assert [row.number for row in cell.select(FIRST, MEMORIES)] == [1] * len(told)
    assert cell.select(FIRST, "SELECT target, error FROM dispatches WHERE status = 'dead'") == []


def assert_leaves_nothing(cell: Cell) -> None:
    """Remove the tenant, and check that no process of the cell writes anything of it afterwards."""
    early = cell.imprint("tenant", "remove", FIRST, "--yes")
    assert "Requests from before the copy may still be running" in early.stderr
    cell.let_pass(seconds=3600)
    removed = cell.imprint("tenant", "remove", FIRST, "--yes")
    assert removed.returncode == 0, removed.stderr
    time.sleep(COUNTED_SECONDS)
    left = {table.name: cell.select(FIRST, f"SELECT * FROM {table.name}") for table in COPIED}
    assert {name: rows for name, rows in left.items() if rows} == {}


def test_a_tenant_is_moved_under_load_and_nothing_is_lost_or_doubled(town: Town) -> None:
    here, there = town.cells
    key, rule = town.keys[FIRST], {"action_type": "emit", "event_type": "load.handed_on", "payload": {}}
    town.door.add(THIRD, "cell1")
    third = here.key(THIRD)
    with town.client(FIRST) as client, Imprint(town.door.url, key) as sdk, contextlib.ExitStack() as last:
        beside = [last.enter_context(town.door.client(other)) for other in (third, town.keys[SECOND])]
        neighbours = [last.enter_context(under_load(neighbour)) for neighbour in beside]
        client.put("/v1/rules/handed_on", json={"event_type": "load.came", "actions": [rule]}).raise_for_status()
        wait_until(lambda: rule_acts(town, client), every=0.2)
        remembered(sdk, "before", "ada", "I work for Fjord Analytics.")
        found = [(row["id"], row["content"]) for row in sdk.search("Where does Ada work?", user_id="ada")]
        assert found
        with under_load(client) as load:
            wait_until(lambda: len(load.accepted) > 60)
            (position, _), *_ = followed(client, "0", "turn5")[::-1]
            late = Slow(town, key, "late")
            began = time.monotonic()
            town.door.route(FIRST, "moving")
            refusal = client.get("/v1/stats")
            copied = here.imprint("tenant", "copy", FIRST, "--json", TARGET_DATABASE_URL=there.owner_url)
            assert copied.returncode == 0, copied.stderr
            assert late.finished().startswith(b"HTTP/1.1 503"), "admitted before the copy, finished after it"
            assert town.get("/v1/stats", UNKNOWN).status_code == 401
            town.door.route(FIRST, "cell2")
            figure("until a moved tenant is served again", time.monotonic() - began)
            before = len(load.accepted)
            wait_until(lambda: len(load.accepted) > before + 60)
        assert (refusal.status_code, refusal.headers["retry-after"]) == (503, "5")
        assert refusal.headers["content-type"] == PROBLEM
        assert set(load.refused) == {503}
        for neighbour in neighbours:
            assert not neighbour.refused
            figure("longest request of another tenant meanwhile", neighbour.longest)
        remembered(sdk, "after", "eve", "I play the cello.")
        assert [name for _, name in followed(client, position, load.turns[-1])] == load.turns[6:]
        assert [(row["id"], row["content"]) for row in sdk.search("Where does Ada work?", user_id="ada")] == found
        with town.door.client() as browser:
            assert browser.post("/console/login", data={"key": key}).status_code == 303
            assert HOMES[FIRST] in browser.get("/console/memories?user_id=ada").text
    assert_each_once(there, load)
    said_so = json.loads(copied.stdout)
    assert (said_so["keeps_positions"], said_so["keeps_tokens"]) == (True, False), "each cell made its own passwords"
    assert_leaves_nothing(here)
