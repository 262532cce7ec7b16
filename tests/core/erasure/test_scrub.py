"""The scrub: what it does where it may not do everything, and where someone still looks at what was erased."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import scrub
from core.errors import Later
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from tests.core.changing import Bench, an_add
from tests.core.erasing import holding, rows, user_erased
from tests.works import Works


def test_all_tables_are_written_anew_and_the_names_of_the_erased_forgotten(
    app: Database, works: Works, settings: Settings
) -> None:
    Bench(app, "yolanda").apply(an_add("Yolanda lives in Lisbon."))
    Bench(app).apply(an_add("Ada lives in Lisbon."))
    stands = rows(app, "SELECT m::text FROM memories m WHERE user_id = 'ada'")
    user_erased(app, settings, "yolanda")
    works.settle()
    heard: list[str] = []
    done = scrub.run(settings, heard.append)
    assert done.names == 1
    assert done.notes == []
    assert done.tables == len(TENANT_TABLES) + 1
    assert {"names", "events", "pg_catalog.pg_statistic", "write-ahead log", "broker"} <= set(heard)
    assert holding(app, "yolanda") == []
    assert rows(app, "SELECT m::text FROM memories m") == stands


def test_while_someone_still_sees_what_was_erased_it_says_so(
    app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    Bench(app).apply(an_add("Ada lives in Lisbon."))
    monkeypatch.setattr(scrub, "WAIT_SECONDS", 1)
    with app.engine.connect().execution_options(isolation_level="REPEATABLE READ") as looking:
        looking.execute(text("SELECT count(*) FROM pg_class"))
        user_erased(app, settings)
        with pytest.raises(Later, match="End it and scrub again"):
            scrub.run(settings)


def test_whoever_uses_a_table_is_waited_for_and_not_everyone_behind_them(
    app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrub, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(scrub, "LOCK_SECONDS", 1)
    with app.engine.connect() as using:
        using.execute(text("SELECT count(*) FROM api_keys"))
        with pytest.raises(Later, match="api_keys"):
            scrub.run(settings)


def test_an_owner_who_may_not_touch_the_log_is_told_what_is_left(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrub, "_SWITCH", "SELECT pg_read_file('nothing')")  # May be done by no owner.
    done = scrub.run(settings)
    assert any("write-ahead log" in note and "pg_checkpoint" in note for note in done.notes)


def test_another_broker_keeps_what_it_keeps_and_says_so() -> None:
    done = scrub.ScrubResult()
    scrub._rewrite_broker("amqp://guest@localhost//", done)
    assert not done.broker
    assert any("no Redis" in note for note in done.notes)
