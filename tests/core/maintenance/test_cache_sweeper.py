"""What nobody asks about goes with the clock, also where nobody asks about anything."""

from __future__ import annotations

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from core import memoize
from core.index.resident import cache
from core.maintenance import cache_sweeper
from core.maintenance.cache_sweeper import CacheSweeper
from core.memoize import DigestCache
from core.memory import nearest_vectors
from core.storage.db import Database
from tests.samples import TENANT


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_sweeper, "EVERY_SECONDS", 0.001)


@pytest.mark.usefixtures("hurried")
def test_it_goes_on_when_one_of_them_fails_and_ends_when_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    again, swept = threading.Event(), []

    def broken() -> None:
        raise ValueError("broken")

    def sweep() -> None:
        swept.append(threading.current_thread())
        if len(swept) > 1:
            again.set()

    monkeypatch.setattr(cache_sweeper, "SWEEPS", (broken, sweep))
    sweeper = CacheSweeper()
    assert again.wait(30)
    sweeper.close()
    assert not swept[0].is_alive()


@pytest.mark.usefixtures("hurried")
def test_what_was_worked_out_of_texts_is_among_what_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, gone = DigestCache[int](10), threading.Event()
    kept.put(b"a", 1)
    monkeypatch.setattr(memoize, "time", SimpleNamespace(monotonic=lambda: math.inf))
    monkeypatch.setattr(cache_sweeper, "SWEEPS", (*cache_sweeper.SWEEPS, gone.set))
    sweeper = CacheSweeper()
    assert gone.wait(30)
    sweeper.close()
    assert len(kept) == 0


def test_so_are_the_vectors_of_users_for_whom_nothing_is_judged(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with app.tenant(TENANT) as tx:
        nearest_vectors.nearest(tx, "ada", np.ones((1, 8), dtype=np.float32), 5)
        there = cache.of(tx.engine)
    monkeypatch.setattr(cache, "SWEEP_SECONDS", 60)
    cache.sweep()
    assert there.usage()[0] == 1
    monkeypatch.setattr(cache, "IDLE_SECONDS", -1)
    for sweep in cache_sweeper.SWEEPS:
        sweep()
    assert there.usage()[0] == 0
