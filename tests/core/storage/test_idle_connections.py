from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage import db, idle_connections
from core.storage.db import Database


@pytest.fixture
def pool(settings: Settings) -> Iterator[Database]:
    with closing(db.connect(db.app_url(settings), 4)) as opened:
        yield opened


def use(pool: Database, at_once: int) -> set[int]:
    """Return the connections of so many transactions at once, by the processes of the server."""
    with ExitStack() as open_ones:
        txs = [open_ones.enter_context(pool.queue()) for _ in range(at_once)]
        return {tx.execute(text("SELECT pg_backend_pid()")).scalar_one() for tx in txs}


def kept(pool: Database) -> int:
    """Return the number of connections that the pool keeps open."""
    return pool.engine.pool.checkedin()  # type: ignore[attr-defined]  # of a QueuePool


def test_connections_of_a_busier_time_are_closed_and_opened_again_when_they_are_needed(pool: Database) -> None:
    assert len(use(pool, 3)) == kept(pool) == 3
    idle_connections.sweep()
    assert kept(pool) == 3  # They were in use since the last sweep.
    use(pool, 1)
    idle_connections.sweep()
    assert kept(pool) == 0
    (only,) = use(pool, 1)
    for _ in range(2):
        idle_connections.sweep()
        assert use(pool, 1) == {only}  # One stays, also if nothing has used it.
    assert len(use(pool, 3)) == 3


def test_a_connection_in_use_survives_a_sweep(pool: Database) -> None:
    use(pool, 3)
    idle_connections.sweep()
    with pool.queue() as tx:
        idle_connections.sweep()
        idle_connections.sweep()
        assert tx.execute(text("SELECT 1")).scalar() == 1


def test_the_connection_used_last_is_used_next_so_that_others_fall_idle(pool: Database) -> None:
    use(pool, 3)
    assert len({pid for _ in range(5) for pid in use(pool, 1)}) == 1


def test_a_forked_process_leaves_the_connections_of_its_parent_alone(pool: Database) -> None:
    mine = use(pool, 3)
    idle_connections.sweep()
    child = os.fork()
    if not child:
        idle_connections.sweep()
        idle_connections.sweep()
        os._exit(kept(pool))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert use(pool, 3) == mine
