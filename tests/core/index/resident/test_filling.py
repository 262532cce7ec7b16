from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from core.index.resident import cache, filling, loading
from core.index.resident.cache import OwnerCache
from core.index.resident.filling import Filler
from core.storage.db import Database
from tests.core.index.resident.kept import DIMENSION, at_hand, cold
from tests.core.search.searching import remember
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.samples import TENANT


@pytest.fixture
def filler() -> Iterator[Filler]:
    one = Filler()
    yield one
    one.stop()


def entry_of(app: Database, user: str = "ada") -> OwnerCache:
    return cache.of(app.engine).owner(TENANT, user, None, app.sight)


@pytest.fixture
def reading(app: Database, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event, list[str]]:
    """A reading of all rows begins, goes on when it is let, and notes whose rows it reads."""
    begun, let, read = threading.Event(), threading.Event(), []
    whole = loading.load_all

    def held(tx: object, rows: loading.Rows, dimension: int, pause: Callable[[], None]) -> object:
        read.append(str(rows.user_id))
        begun.set()
        assert let.wait(PATIENCE_SECONDS)
        pause()
        return whole(tx, rows, dimension, pause)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "load_all", held)
    return begun, let, read


Reading = tuple[threading.Event, threading.Event, list[str]]


def test_an_entry_is_filled_once_however_often_it_is_asked_for(app: Database, filler: Filler, reading: Reading) -> None:
    begun, let, read = reading
    remember(app, "Ada likes tea.")
    entry = entry_of(app)
    for _ in range(5):
        filler.later(app, TENANT, entry, DIMENSION)
    assert begun.wait(PATIENCE_SECONDS)
    filler.later(app, TENANT, entry, DIMENSION)
    let.set()
    assert filler.wait(PATIENCE_SECONDS)
    assert read == ["ada"]
    assert len(entry.state.view) == 1
    assert not entry.filling


def test_owners_are_filled_one_after_the_other_and_not_more_than_may_wait(
    app: Database, filler: Filler, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, let, read = reading
    monkeypatch.setattr(filling, "MOST_WAITING", 2)
    filler.later(app, TENANT, entry_of(app, "u0"), DIMENSION)
    assert begun.wait(PATIENCE_SECONDS)
    for n in range(1, 5):
        filler.later(app, TENANT, entry_of(app, f"u{n}"), DIMENSION)
    assert [thread.name for thread in threading.enumerate()].count("filler") == 1
    let.set()
    assert filler.wait(PATIENCE_SECONDS)
    assert read == ["u0", "u1", "u2"]


def test_an_entry_stays_while_it_is_filled(app: Database, filler: Filler, reading: Reading) -> None:
    begun, let, _ = reading
    entry = entry_of(app)
    filler.later(app, TENANT, entry, DIMENSION)
    assert begun.wait(PATIENCE_SECONDS)
    entry.used_at -= 2 * cache.SWEEP_SECONDS
    cache.of(app.engine).sweep()
    assert entry_of(app) is entry
    let.set()


def test_rows_of_another_tenant_or_with_other_labels_are_not_read(app: Database, filler: Filler) -> None:
    remember(app, "Ada likes tea.")
    remember(app, "Ada hides a safe.")
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET audience_labels = '{family}' WHERE content LIKE '%safe%'"))
    for db, tenant, count in (
        (app, "other", 0),
        (app.as_reader([]), TENANT, 1),
        (app.as_reader(["family"]), TENANT, 2),
    ):
        entry = cache.of(app.engine).owner(tenant, "ada", None, db.sight)
        filler.later(db, tenant, entry, DIMENSION)
        assert filler.wait(PATIENCE_SECONDS)
        assert len(entry.state.view) == count


def test_what_is_written_while_an_entry_is_filled_is_read_with_the_next_question(
    app: Database, filler: Filler, reading: Reading
) -> None:
    begun, let, _ = reading
    remember(app, "Ada likes tea.")
    add = remember(app, "Ada likes rain.")
    filler.later(app, TENANT, entry_of(app), DIMENSION)
    assert begun.wait(PATIENCE_SECONDS)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM search_index WHERE ref = (SELECT max(ref) FROM search_index)"))
    let.set()
    assert filler.wait(PATIENCE_SECONDS)
    assert add is not None
    with app.tenant(TENANT) as tx:
        assert len(at_hand(app, tx, "ada", None, DIMENSION)) == 1


def test_a_filler_that_is_stopped_ends_at_the_next_piece_and_begins_anew_later(
    app: Database, filler: Filler, reading: Reading
) -> None:
    begun, let, _ = reading
    remember(app, "Ada likes tea.")
    entry, other = entry_of(app), entry_of(app, "ben")
    filler.later(app, TENANT, entry, DIMENSION)
    filler.later(app, TENANT, other, DIMENSION)
    assert begun.wait(PATIENCE_SECONDS)
    filler.stop(0)
    let.set()
    wait_until(lambda: not entry.filling)
    assert entry.state.horizon is None
    assert not other.filling
    filler.later(app, TENANT, entry, DIMENSION)
    assert filler.wait(PATIENCE_SECONDS)
    assert len(entry.state.view) == 1


def test_a_failure_leaves_the_entry_to_the_next_question(
    app: Database, filler: Filler, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(app, "Ada likes tea.")
    entry = entry_of(app)
    with monkeypatch.context() as patched, capture_logs() as lines:
        patched.setattr(filling, "CHANGED", text("SELECT 1/0"))
        filler.later(app, TENANT, entry, DIMENSION)
        assert filler.wait(PATIENCE_SECONDS)
    assert "search.filling_failed" in [line["event"] for line in lines]
    filler.later(app, TENANT, entry, DIMENSION)
    assert filler.wait(PATIENCE_SECONDS)
    assert len(entry.state.view) == 1


def test_it_pauses_while_questions_are_asked_unless_one_waits_for_it(
    app: Database, filler: Filler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(6):
        remember(app, f"Ada likes tea {n}.")
    monkeypatch.setattr(loading, "PIECE", 1)
    monkeypatch.setattr(filling, "LONGEST_PAUSE_SECONDS", 0.1)

    def seconds() -> float:
        cold(app)
        began = time.monotonic()
        filler.later(app, TENANT, entry_of(app), DIMENSION)
        assert filler.wait(PATIENCE_SECONDS)
        return time.monotonic() - began

    with filler.asking():
        assert seconds() > 1.0, "twelve pieces"
        with filler.needed():
            assert seconds() < 1.0
