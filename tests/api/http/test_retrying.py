from __future__ import annotations

import pytest

from api.http.retrying import ATTEMPTS, run_with_retries
from core.errors import Conflict, NotFound
from core.storage.db import Database, Tx
from tests.samples import TENANT


def test_work_that_was_overtaken_begins_again(app: Database) -> None:
    begun: list[int] = []

    def work(_: Tx) -> str:
        begun.append(1)
        if len(begun) < ATTEMPTS:
            raise Conflict("overtaken")
        return "done"

    assert run_with_retries(app, TENANT, work) == "done"
    assert len(begun) == ATTEMPTS


def test_after_the_last_attempt_the_conflict_is_told(app: Database) -> None:
    begun: list[int] = []

    def work(_: Tx) -> None:
        begun.append(1)
        raise Conflict("overtaken")

    with pytest.raises(Conflict):
        run_with_retries(app, TENANT, work)
    assert len(begun) == ATTEMPTS


def test_another_error_is_told_at_once(app: Database) -> None:
    begun: list[int] = []

    def work(_: Tx) -> None:
        begun.append(1)
        raise NotFound("gone")

    with pytest.raises(NotFound):
        run_with_retries(app, TENANT, work)
    assert begun == [1]
