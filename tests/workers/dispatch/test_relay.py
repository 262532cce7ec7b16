from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.storage.db import Database, Tx
from tests.samples import TENANT
from tests.workers.dispatch.owing import (
    a_ledger,
    in_lane,
    works,
)
from workers.dispatch import ledger
from workers.dispatch.fair_share import Key
from workers.dispatch.model import Job, Outcome


def test_two_that_end_at_once_do_not_both_call_the_same_one(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ending, waiting = in_lane(app, 2, 2), in_lane(app, 2, 2)
    book = a_ledger(app, {"agent": works})
    jobs = [ledger._claim(book, TENANT, one) for one in ending]
    together, make_room = threading.Barrier(2, timeout=20), ledger._make_room

    def once_both_are_done(tx: Tx, job: Job) -> list[Key]:
        together.wait()
        return make_room(tx, job)

    monkeypatch.setattr(ledger, "_make_room", once_both_are_done)
    with ThreadPoolExecutor(2) as pool:
        called = list(pool.map(lambda job: ledger._finish(book, job, Outcome(), None)[0] if job else [], jobs))
    assert {owed.id for owed in called[0] + called[1]} == set(waiting)
