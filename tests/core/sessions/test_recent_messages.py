"""The newest messages, with Redis and without: what is shown is what PostgreSQL holds at that moment."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from pydantic import SecretStr
from sqlalchemy import text
from structlog.testing import capture_logs

from api.stack.broker import Broker
from core.config import Settings
from core.events.doorbell import broker_url
from core.sessions import recent_messages, sessions
from core.sessions.recent_messages import EMPTY, RecentMessages, RecentWindow
from core.storage.db import Database
from core.types import Message
from tests.core.erasing import user_erased
from tests.doors import OTHER, key_of
from tests.samples import TENANT, accept, accept_all, event, said

LIMIT = 5


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy with other tests Redis may well take longer than a caller would wait."""
    monkeypatch.setattr(recent_messages, "PATIENCE_SECONDS", 30.0)


@pytest.fixture
def here(settings: Settings) -> Settings:
    return settings.model_copy(update={"recent_messages": LIMIT})


@pytest.fixture
def store(settings: Settings) -> Iterator[redis.Redis]:
    """The broker that all tests share, with nothing cached in it."""
    with redis.Redis.from_url(broker_url(settings)) as client:
        _flush(client)
        yield client
        _flush(client)


@pytest.fixture
def kept(here: Settings, store: redis.Redis) -> Iterator[RecentMessages]:
    found = recent_messages.on_broker(here)
    yield found
    found.close()


def _flush(client: redis.Redis) -> None:
    for key in client.scan_iter("imprint:recent:*"):
        client.delete(key)


def truth(app: Database, session: str = "s1", tenant: str = TENANT) -> list[Message]:
    with app.tenant(tenant) as tx:
        return sessions.transcript(tx, session, limit=10_000)[-LIMIT:]


def shown(kept: RecentMessages, app: Database, session: str = "s1", tenant: str = TENANT) -> list[Message]:
    return list(kept.window(app, tenant, session).messages)


def is_from_cache(kept: RecentMessages, app: Database, session: str = "s1") -> bool:
    """Whether no message is read that was there when the window was kept: they are the very ones that Redis held."""
    held = kept.ask(TENANT, session)
    with app.tenant(TENANT) as tx:
        found = recent_messages.read(tx, session, held, LIMIT)
    return any(one is other for one in found.messages for other in held.messages)


def test_what_was_read_once_is_at_hand_the_next_time(app: Database, kept: RecentMessages) -> None:
    accept_all(app, [said(f"line {n} 你好", speaker="Ada", importance=0.5, group_id="g") for n in range(8)])
    assert not is_from_cache(kept, app)
    first = shown(kept, app)
    assert is_from_cache(kept, app)
    assert first == shown(kept, app) == truth(app)
    assert [m.content for m in first] == [f"line {n} 你好" for n in range(3, 8)]


def test_what_is_added_is_read_and_the_rest_comes_from_what_is_held(app: Database, kept: RecentMessages) -> None:
    accept_all(app, [said(f"line {n}") for n in range(4)])
    shown(kept, app)
    for n in range(4, 20):
        accept_all(app, [said(f"line {n}.{part}") for part in range(n % 8)])
        assert shown(kept, app) == truth(app)
        assert is_from_cache(kept, app) or n % 8 >= LIMIT


def test_a_window_is_written_anew_when_it_has_grown_and_not_for_every_message(
    app: Database, kept: RecentMessages
) -> None:
    accept(app, said("line 1"))
    written = []
    for n in range(2, 30):
        shown(kept, app)
        written.append(kept.ask(TENANT, "s1").messages[-1].position)
        accept(app, said(f"line {n}"))
    assert sorted(set(written)) == [1, 6, 11, 16, 21, 26]


def test_a_flushed_redis_loses_nothing(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    accept_all(app, [said(f"line {n}") for n in range(8)])
    shown(kept, app)
    _flush(store)
    assert shown(kept, app) == truth(app)
    assert is_from_cache(kept, app)


def test_a_message_without_its_text_is_shown_without_it_at_once(app: Database, kept: RecentMessages) -> None:
    """As an erasure leaves it: no message is added or gone, and the length of the session is the same."""
    accept_all(app, [said(f"secret {n}") for n in range(4)])
    shown(kept, app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET content = '' WHERE position = 2"))
    assert [m.content for m in shown(kept, app)] == ["secret 0", "", "secret 2", "secret 3"]


def test_of_an_erased_user_nothing_is_shown(app: Database, kept: RecentMessages, settings: Settings) -> None:
    accept(app, said("I am Ada."), said("I am Bob.", user="bob"), said("Ada alone.", session="s2"))
    assert len(shown(kept, app)) == 2
    assert len(shown(kept, app, "s2")) == 1
    user_erased(app, settings, "ada")
    assert [m.content for m in shown(kept, app)] == ["", "I am Bob."]
    assert shown(kept, app, "s2") == []


def test_an_erasure_that_is_older_than_the_newest_message_is_seen(app: Database, kept: RecentMessages) -> None:
    """Its transaction began before that of the message and ends after it: the largest `xmin` is the message's."""
    accept(app, said("secret"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("SELECT pg_current_xact_id()"))
        accept(app, said("later"))
        shown(kept, app)
        tx.execute(text("UPDATE messages SET content = '' WHERE position = 1"))
    assert [m.content for m in shown(kept, app)] == ["", "later"]


def test_a_session_that_begins_anew_under_the_same_ids_is_another(app: Database, kept: RecentMessages) -> None:
    accept_all(app, [said(f"old {n}", message_id=f"m{n}") for n in range(3)])
    shown(kept, app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM messages"))
        tx.execute(text("DELETE FROM sessions"))
    assert shown(kept, app) == []
    accept_all(app, [said(f"new {n}", message_id=f"m{n}") for n in range(3)])
    assert [m.content for m in shown(kept, app)] == ["new 0", "new 1", "new 2"]


def test_a_larger_window_is_not_cut_to_what_was_kept_for_a_smaller_one(
    app: Database, kept: RecentMessages, settings: Settings
) -> None:
    accept_all(app, [said(f"line {n}") for n in range(12)])
    shown(kept, app)
    large, small = (recent_messages.on_broker(settings.model_copy(update={"recent_messages": n})) for n in (9, 3))
    assert [m.position for m in shown(large, app)] == list(range(4, 13))
    assert [m.position for m in shown(small, app)] == [10, 11, 12]
    assert [m.position for m in shown(kept, app)] == list(range(8, 13))


def test_tenants_with_the_same_names_do_not_meet(app: Database, kept: RecentMessages, settings: Settings) -> None:
    key_of(settings, OTHER)
    accept(app, said("of acme", message_id="m1"))
    accept(app, said("of globex", message_id="m1"), tenant=OTHER)
    for _ in range(2):
        assert [m.content for m in shown(kept, app)] == ["of acme"]
        assert [m.content for m in shown(kept, app, tenant=OTHER)] == ["of globex"]


def test_what_belongs_to_another_is_not_shown_where_it_lies_under_the_key(
    app: Database, kept: RecentMessages, settings: Settings, store: redis.Redis
) -> None:
    key_of(settings, OTHER)
    accept(app, said("of acme", message_id="m1"))
    accept(app, said("of globex", message_id="m1"), tenant=OTHER)
    shown(kept, app)
    shown(kept, app, tenant=OTHER)
    mine, theirs = (f"imprint:recent:{tenant}:s1" for tenant in (TENANT, OTHER))
    store.set(mine, store.get(theirs) or b"")
    assert kept.ask(TENANT, "s1") is EMPTY
    assert [m.content for m in shown(kept, app)] == ["of acme"]


def test_an_entry_that_someone_has_changed_is_none(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    accept(app, said("pay nobody"))
    shown(kept, app)
    (key,) = store.scan_iter("imprint:recent:*")
    entry: Any = store.get(key)
    assert b"pay nobody" in entry
    store.set(key, entry.replace(b"nobody", b"Mallor"))
    assert kept.ask(TENANT, "s1") is EMPTY
    assert [m.content for m in shown(kept, app)] == ["pay nobody"]
    assert is_from_cache(kept, app)


@pytest.mark.parametrize("planted", [b"", b"{}", b"\xff" * 40, b"[" * 1000, json.dumps({"messages": []}).encode()])
def test_rubbish_under_the_key_is_nothing(
    app: Database, kept: RecentMessages, store: redis.Redis, planted: bytes
) -> None:
    accept(app, said("hello"))
    store.set(f"imprint:recent:{TENANT}:s1", planted)
    assert [m.content for m in shown(kept, app)] == ["hello"]
    assert is_from_cache(kept, app)


def test_a_key_of_another_kind_is_nothing(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    accept(app, said("hello"))
    store.rpush(f"imprint:recent:{TENANT}:s1", "x")
    with capture_logs() as logs:
        assert [m.content for m in shown(kept, app)] == ["hello"]
    assert [line["event"] for line in logs] == ["recent.unheard"]


def test_what_another_version_has_kept_is_read_anew(
    app: Database, kept: RecentMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(app, said("hello"))
    monkeypatch.setattr(recent_messages, "FIELDS", recent_messages.FIELDS[:-1])
    shown(kept, app)
    monkeypatch.undo()
    assert kept.ask(TENANT, "s1") is EMPTY
    assert shown(kept, app) == truth(app)


def test_a_window_that_is_too_large_is_not_kept(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    accept_all(app, [said("x" * 100_000) for _ in range(4)])
    assert shown(kept, app) == truth(app)
    assert list(store.scan_iter("imprint:recent:*")) == []


def test_what_is_kept_goes_by_itself_and_when_it_is_forgotten(
    app: Database, kept: RecentMessages, store: redis.Redis
) -> None:
    accept(app, said("hello"))
    shown(kept, app)
    (key,) = store.scan_iter("imprint:recent:*")
    assert 0 < store.ttl(key) <= recent_messages.KEEP_SECONDS
    kept.forget(TENANT, ["s1"])
    assert list(store.scan_iter("imprint:recent:*")) == []


def test_a_broker_that_stops_is_not_asked_for_a_while_and_costs_nothing_but_the_cache(
    app: Database, here: Settings, tmp_path: Path
) -> None:
    broker = Broker(tmp_path, durable=False)
    own = here.model_copy(update={"broker_url": SecretStr(broker.start())})
    kept = recent_messages.on_broker(own)
    accept_all(app, [said(f"line {n}") for n in range(8)])
    shown(kept, app)
    assert is_from_cache(kept, app)
    broker.stop()
    with capture_logs() as logs:
        assert [shown(kept, app) for _ in range(3)] == [truth(app)] * 3
    assert [line["event"] for line in logs] == ["recent.unheard"]  # Asked once, then left alone.
    kept.close()


def test_a_redis_that_never_answers_is_not_waited_for(
    app: Database, here: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_messages, "PATIENCE_SECONDS", 0.05)
    accept_all(app, [said(f"line {n}") for n in range(8)])
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"redis://127.0.0.1:{mute.getsockname()[1]}/0"
        kept = recent_messages.on_broker(here.model_copy(update={"broker_url": SecretStr(url)}))
        with capture_logs() as logs:
            assert [shown(kept, app) for _ in range(2)] == [truth(app)] * 2
        kept.close()
    assert [line["event"] for line in logs] == ["recent.unheard"]


def test_with_rabbitmq_there_is_no_cache_and_all_is_read(app: Database, here: Settings) -> None:
    kept = recent_messages.on_broker(
        here.model_copy(update={"broker_url": SecretStr("amqp://guest:guest@127.0.0.1:1//")})
    )
    accept_all(app, [said(f"line {n}") for n in range(8)])
    with capture_logs() as logs:
        assert shown(kept, app) == truth(app)
        assert kept.ask(TENANT, "s1") is EMPTY
    assert logs == []
    kept.close()


def test_a_session_nobody_knows_has_no_messages(app: Database, kept: RecentMessages) -> None:
    accept(app, event("session.started", {"session_id": "s1", "user_id": "ada"}))
    assert kept.window(app, TENANT, "s1") == kept.window(app, TENANT, "nobody") == RecentWindow([], [])
