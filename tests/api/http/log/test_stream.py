"""The stream: each event once, in order, from any position on, over a real connection."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from api.ingress import following
from core.config import Settings
from core.storage.db import Database
from core.tenancy import limits, tenants
from tests.commands import served
from tests.core.expiry.sweeping import choose, swept
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, accept_all, append, event, said


@pytest.fixture
def server(settings: Settings) -> Iterator[tuple[str, str]]:
    with served(settings) as found:
        yield found


@contextmanager
def following_at(server: tuple[str, str], **params: Any) -> Iterator[Iterator[tuple[str, Any]]]:
    """A follower's connection: pairs of position and event, None where a frame has no event."""
    last = params.pop("last", None)
    headers = {"Authorization": f"Bearer {params.pop('key', server[1])}"} | ({"Last-Event-ID": last} if last else {})
    with httpx.stream("GET", f"{server[0]}/v1/stream", params=params, headers=headers, timeout=20) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield frames(answer.iter_lines())


def frames(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    found: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            found[name] = value
        elif found:
            yield found["id"], None if found["event"] == "stream.position" else json.loads(found["data"])
            found = {}


def events_of(stream: Iterator[tuple[str, Any]], number: int) -> list[str]:
    found: list[str] = []
    while len(found) < number:
        _, one = next(stream)
        found += [one["id"]] if one else []
    return found


def test_what_is_stored_comes_first_and_then_what_happens(server: tuple[str, str], app: Database) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(3)])
    with following_at(server, after="0") as stream:
        assert events_of(stream, 3) == ["e0", "e1", "e2"]
        accept(app, event(id="e3"))
        assert events_of(stream, 1) == ["e3"]


def test_without_a_position_only_new_events_come(server: tuple[str, str], app: Database) -> None:
    accept(app, event(id="old"))
    with following_at(server) as stream:
        next(stream)
        accept(app, event(id="new"))
        assert events_of(stream, 1) == ["new"]


def test_a_client_that_comes_back_misses_nothing_and_is_sent_nothing_twice(
    server: tuple[str, str], app: Database
) -> None:
    with following_at(server, after="0") as stream:
        accept_all(app, [event(id=f"e{n}") for n in range(700)])
        seen, last = [], ""
        while len(seen) < 300:
            last, one = next(stream)
            seen += [one["id"]] if one else []
    accept(app, event(id="e700"))
    with following_at(server, last=last) as stream:
        seen += events_of(stream, 401)
    assert seen == [f"e{n}" for n in range(701)]


def test_an_event_that_is_committed_late_comes_once(server: tuple[str, str], app: Database) -> None:
    with following_at(server) as stream:
        next(stream)
        with app.tenant(TENANT) as slow:
            append(slow, event(id="slow"))
            other = threading.Thread(target=accept, args=(app, event(id="fast")))
            other.start()
            other.join()
            time.sleep(0.5)
        assert sorted(events_of(stream, 2)) == ["fast", "slow"]


def test_types_sessions_and_users_are_filters(server: tuple[str, str], app: Database) -> None:
    accept(app, event("memory.created", id="a"), event("order.placed", id="b"), event("memory.erased", id="c"))
    accept(app, said("Hello.", session="s9", user="bob", id="d"))
    with following_at(server, after="0", types="memory.*, message.added") as stream:
        assert events_of(stream, 3) == ["a", "c", "d"]
    with following_at(server, after="0", user_id="bob") as stream:
        assert events_of(stream, 1) == ["d"]
    with following_at(server, after="0", session_id="s9", follow=False) as stream:
        assert [one["id"] for _, one in stream if one] == ["d"]


def test_a_filter_that_accepts_nothing_still_moves_the_position(door: Doors, app: Database) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(5)])
    answer = door.get("/v1/stream", params={"after": "0", "types": "none.such", "follow": False})
    [(position, nothing)] = frames(iter(answer.text.splitlines()))
    assert nothing is None
    accept(app, event("none.such", id="one"))
    answer = door.get("/v1/stream", params={"after": position, "types": "none.such", "follow": False})
    assert [one["id"] for _, one in frames(iter(answer.text.splitlines())) if one] == ["one"]


def test_silence_is_interrupted_by_marks(
    server: tuple[str, str], app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "HEARTBEAT_SECONDS", 0.2)
    with following_at(server) as stream:
        assert [one for _, (_, one) in zip(range(3), stream, strict=False)] == [None, None, None]


def test_a_revoked_key_follows_no_longer(
    server: tuple[str, str], settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "HEARTBEAT_SECONDS", 0.2)
    monkeypatch.setattr("api.ingress.dependencies.KEY_SECONDS", 0.0)
    key = key_of(settings, TENANT, ("read",))
    with following_at(server, key=key) as stream:
        next(stream)
        with app.tenant(TENANT) as tx:
            tenants.revoke_key(tx, key.split(".")[2])
        assert [one for _, one in stream if one] == []


def test_another_tenants_events_do_not_come(server: tuple[str, str], settings: Settings, app: Database) -> None:
    accept(app, event(id="theirs"))
    with following_at(server, key=key_of(settings, OTHER), after="0", follow=False) as stream:
        assert [one for _, one in stream if one] == []


def test_secrets_are_masked(server: tuple[str, str], app: Database) -> None:
    accept(app, said("My password is hunter2horse.", id="m1"))
    with following_at(server, after="0", follow=False) as stream:
        told = json.dumps([one for _, one in stream])
    assert "m1" in told
    assert "hunter2horse" not in told


def test_a_key_may_follow_only_so_many_times(server: tuple[str, str], app: Database) -> None:
    with app.tenant(TENANT) as tx:
        limits.grant(tx, TENANT, {"streams_per_key": 1})
    with following_at(server):
        refused = httpx.get(f"{server[0]}/v1/stream", headers={"Authorization": f"Bearer {server[1]}"})
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "5"
    assert refused.json()["limit"] == {"name": "streams_per_key", "value": 1}


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"after": "x"}, "/after"),
        ({"types": "a b"}, "/types"),
        ({"types": "a," * 60}, "/types"),
        ({"types": "*a" * 6}, "/types"),
    ],
)
def test_what_cannot_be_followed_is_refused(door: Doors, params: dict[str, str], pointer: str) -> None:
    answer = door.get("/v1/stream", params=params)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_many_followers_cost_one_reader(server: tuple[str, str], app: Database) -> None:
    """Thirty who follow, and a thousand events: each gets all, in order."""
    found: dict[int, list[str]] = {}

    def follow(number: int) -> None:
        with following_at(server, after="0") as stream:
            found[number] = events_of(stream, 1_000)

    threads = [threading.Thread(target=follow, args=(n,)) for n in range(30)]
    for thread in threads:
        thread.start()
    for n in range(10):
        accept_all(app, [event(id=f"e{n * 100 + m}") for m in range(100)])
    for thread in threads:
        thread.join(60)
    assert all(one == [f"e{n}" for n in range(1_000)] for one in found.values())
    assert len(found) == 30


@pytest.mark.parametrize("follow", ["true", "false"])
def test_a_follower_is_told_first_that_events_behind_its_position_have_left(
    server: tuple[str, str], app: Database, follow: str
) -> None:
    accept_all(app, [event(id="old"), event(id="young")])
    with following_at(server, after="0", follow="false") as stream:
        places = [position for position, one in stream if one]
    with app.tenant(TENANT) as tx:
        old = "received_at = now() - interval '40 days', routed_at = now()"
        tx.execute(text(f"UPDATE events SET {old} WHERE id = 'old'"))
    choose(app, events_days=30)
    assert swept(app)["events"] == 1
    asked = {"Authorization": f"Bearer {server[1]}"}
    for after, missing in (("0", True), (places[0], False)):
        url = f"{server[0]}/v1/stream"
        with httpx.stream("GET", url, params={"after": after, "follow": follow}, headers=asked, timeout=20) as answer:
            lines = answer.iter_lines()
            first = next(lines)
            if missing:
                assert first == "event: stream.gap"
                told = json.loads(next(lines).removeprefix("data: "))
                assert (told["after"], told["to"]) == ("0-0", places[0])
            else:
                assert first.startswith("id: ")
