"""Replicas that die, freeze, fall behind, are promoted or belong to others, and primaries that leave them alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from api.ingress.log_positions import HEADER
from api.stack.postgres import Postgres
from bench.standby import Standby, prompt
from core.config import Settings
from core.index.resident import filling
from core.index.resident.filling import Filler
from core.inference.embedders import HashEmbedder
from core.search import opening
from core.storage import replica, schema
from tests.doors import Doors, key_of, opened
from tests.faults.stand import FAULT
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.replicas import answered_by, is_fit, opened_with_replica
from tests.samples import TENANT

pytestmark = FAULT

QUERY = {"user_id": "ada", "query": "What does Ada like?", "method": "keyword"}


FILLING = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid()"

RECALLED = "SELECT count(*) FROM events WHERE event_type = 'memory.recalled'"


@dataclass(frozen=True)
class Pair:
    """A primary and its standby, and the settings of a service that reads there."""

    primary: Postgres
    standby: Standby
    settings: Settings


@pytest.fixture(scope="module")
def servers_of_its_own(tmp_path_factory: pytest.TempPathFactory, upgraded: Settings) -> Iterator[Pair]:
    primary = Postgres(tmp_path_factory.mktemp("primary"), durable=False)
    standby = Standby(tmp_path_factory.mktemp("standby"), primary)
    try:
        primary.start()
        prompt(primary.admin_url)
        own = upgraded.model_copy(update={"database_url": SecretStr(primary.url)})
        schema.upgrade(own, (HashEmbedder().name, HashEmbedder().dimension))
        standby.start()
        yield Pair(primary, standby, reading_from(own, standby.app_url(own)))
    finally:
        standby.stop()
        primary.stop()


@pytest.fixture
def pair(servers_of_its_own: Pair, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Primary and standby, looked at often and with patience; the last test promotes the standby."""
    monkeypatch.setattr(replica, "LOOK_SECONDS", 0.1)
    for name in ("ANSWER_SECONDS", "WAIT_SECONDS", "STALE_SECONDS"):
        monkeypatch.setattr(replica, name, 60.0)
    servers_of_its_own.standby.catch_up()
    return servers_of_its_own


def reading_from(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"replica_url": SecretStr(url)})


def add(door: Doors, content: str) -> dict[str, str]:
    answer = door.post("/v1/memories", {"user_id": "ada", "content": content})
    assert answer.status_code == 201, answer.text
    return {HEADER: answer.headers[HEADER]}


def shown(door: Doors, **more: Any) -> list[str]:
    answer = door.post("/v1/search", QUERY, **more)
    assert answer.status_code == 200, answer.text
    return sorted(result["content"] for result in answer.json()["results"])


@contextmanager
def frozen(standby: Standby) -> Iterator[None]:
    """Stop all processes of the server where they are."""
    assert standby.pid is not None
    children = Path(f"/proc/{standby.pid}/task/{standby.pid}/children").read_text().split()
    processes = [standby.pid, *map(int, children)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def test_a_killed_replica_is_left_alone_and_used_again_when_it_is_back(pair: Pair) -> None:
    with opened_with_replica(pair.settings) as door:
        add(door, "Ada likes tea.")
        pair.standby.catch_up()
        with answered_by("replica"):
            before = shown(door)
        pair.standby.kill()
        assert shown(door) == before
        wait_until(lambda: not is_fit(door))
        with answered_by("unfit"):
            assert shown(door) == before
        add(door, "Ada likes rain.")
        pair.standby.start()
        pair.standby.catch_up()
        wait_until(lambda: is_fit(door))
        with answered_by("replica"):
            assert shown(door) == ["Ada likes rain.", *before]


def test_who_waits_for_a_frozen_replica_is_answered_by_the_primary(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "ANSWER_SECONDS", 2.0)
    with opened_with_replica(pair.settings) as door:
        before = shown(door)
        with frozen(pair.standby):
            with answered_by("failed", perhaps="unfit"):
                assert shown(door) == before
            with answered_by("unfit"):
                assert shown(door) == before
        wait_until(lambda: is_fit(door))


def test_the_cache_is_not_filled_from_a_frozen_replica(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = Filler()
    monkeypatch.setattr(replica, "ANSWER_SECONDS", 2.0)
    monkeypatch.setattr(opening, "READ_ALL", 0)
    monkeypatch.setattr(filling, "FILLER", filler)
    monkeypatch.setattr(filling, "CHANGED", text("SELECT pg_sleep(3600)"))
    with opened_with_replica(pair.settings) as door:
        add(door, "Ada likes hail.")
        pair.standby.catch_up()
        with answered_by("replica"):
            before = shown(door)
        wait_until(lambda: pair.standby.run(f"SELECT count(*) {FILLING}") == 1)
        with frozen(pair.standby):
            assert filler.wait(PATIENCE_SECONDS)
            assert shown(door) == before
        pair.standby.run(f"SELECT pg_terminate_backend(pid) {FILLING}")
        wait_until(lambda: is_fit(door))


def test_a_look_that_gets_no_answer_is_given_up(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "ANSWER_SECONDS", 2.0)
    monkeypatch.setattr(replica, "_LOOK", "SELECT pg_sleep(600)")  # Frozen once it was connected.
    url = replica.replica_url(pair.settings)
    assert url is not None
    with pytest.raises(psycopg.OperationalError):
        replica.look_at(url)


def test_a_replica_far_behind_is_not_read_from(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened_with_replica(pair.settings) as door:
        before = shown(door)
        with pair.standby.paused():
            add(door, "Ada likes snow.")
            with answered_by("replica"):
                assert shown(door) == before
            with monkeypatch.context() as patched:
                patched.setattr(replica, "STALE_SECONDS", 0.5)
                wait_until(lambda: not is_fit(door))
                with answered_by("unfit"):
                    assert "Ada likes snow." in shown(door)
        wait_until(lambda: is_fit(door))


@pytest.mark.parametrize("wrong", ["primary", "other cluster", "superuser", "nobody"])
def test_what_is_no_replica_of_this_database_is_not_read_from(
    pair: Pair, standby_server: Standby, settings: Settings, wrong: str
) -> None:
    urls = {
        "primary": replica.storage.app_url(pair.settings).render_as_string(hide_password=False),
        "other cluster": standby_server.app_url(settings),
        "superuser": pair.standby.admin_url,
        "nobody": "postgresql://127.0.0.1:1/imprint",
    }
    with opened(reading_from(pair.settings, urls[wrong])) as door:
        deps = door.client.app.state.deps  # type: ignore[attr-defined]
        deps.replica.look()
        assert not deps.replica.is_fit
        with answered_by("unfit"):
            shown(door)


def test_while_the_primary_is_away_searches_are_answered(pair: Pair) -> None:
    with opened_with_replica(pair.settings) as door:
        seen = add(door, "Ada likes wind.")
        door.post("/v1/events", [{"event_type": "message.added", "source": "t", "payload": {
            "session_id": "s1", "user_id": "ada", "role": "user", "content": "I like wind."}}])  # fmt: skip
        key = key_of(pair.settings, TENANT, ("read",))
        pair.standby.catch_up()
        recalled = pair.standby.run(RECALLED)
        pair.primary.stop()
        try:
            with answered_by("replica", 3):  # With a key that was never seen: the replica knows it, too.
                assert "Ada likes wind." in shown(door, headers=seen, key=key)
                context = {"user_id": "ada", "session_id": "s1", "query": "wind", "max_tokens": 500}
                assert "wind" in door.post("/v1/context", context, key=key).text
                assert door.post("/v1/answer", {"user_id": "ada", "question": "Wind?"}, key=key).status_code == 200
            assert door.post("/v1/memories", {"user_id": "ada", "content": "Ada likes ice."}).status_code == 503
            assert door.post("/v1/search", QUERY, key=f"{key[:-1]}!").status_code == 503
            assert door.post("/v1/search", QUERY, headers={HEADER: "FFFFFFFF/0"}, key=key).status_code == 503
        finally:
            pair.primary.start()
        wait_until(lambda: pair.standby.run(RECALLED) > recalled)
        add(door, "Ada likes ice.")
        assert "Ada likes ice." in shown(door, headers={HEADER: "latest"})


def test_a_promoted_replica_answers_nothing_any_more(pair: Pair) -> None:
    with opened_with_replica(pair.settings) as door:
        before = shown(door)
        pair.standby.run("SELECT pg_promote()")
        pair.standby.run("UPDATE memories SET content = 'Ada likes nothing.'")
        for _ in range(3):
            assert shown(door) == before
        wait_until(lambda: not is_fit(door))
