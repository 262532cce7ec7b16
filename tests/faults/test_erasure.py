"""A user, or a group, is erased while people talk and workers learn: nothing hangs, and in the end nothing is left."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy.exc import OperationalError

from core.config import Settings
from core.errors import Conflict
from core.storage.db import Database
from tests.core.erasing import group_erased, holding, user_erased
from tests.samples import accept_all, ended, said
from tests.works import Works

SECONDS = 6
WHO, CREW = "yolanda", "crew-7f3a9c"


@contextlib.contextmanager
def _beside(work: Callable[[], object], times: int, pause: float) -> Iterator[list[Exception]]:
    """Do something over and over in threads of its own; what went wrong."""
    over, failed = threading.Event(), list[Exception]()

    def repeat() -> None:
        while not over.wait(pause):
            try:
                work()
            except Exception as error:  # noqa: BLE001 - shown at the end
                failed.append(error)

    threads = [threading.Thread(target=repeat) for _ in range(times)]
    for thread in threads:
        thread.start()
    try:
        yield failed
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("name", [WHO, CREW])
def test_erasing_someone_who_is_talked_with_and_learnt_from(
    app: Database, works: Works, settings: Settings, name: str
) -> None:
    turn = iter(range(10_000))

    def erase() -> None:
        user_erased(app, settings, name) if name == WHO else group_erased(app, name)

    def talk() -> None:
        n = next(turn)
        spoken = [said(f"I live in City{n}.", session=f"g{n % 2}", user=who, group_id=CREW) for who in (WHO, "bob")]
        accept_all(app, [*spoken, ended(f"g{n % 2}", "bob", message_count=3, group_id=CREW)])

    done, until = 0, time.monotonic() + SECONDS
    with _beside(works.settle, 2, 0.01) as unworked, _beside(talk, 1, 0.3) as unsaid:  # who talks stops first
        while time.monotonic() < until or done <= SECONDS / 2:  # Erasures meet the work, also on a slow machine.
            # What the door begins again for.
            with contextlib.suppress(Conflict, OperationalError):
                erase()
                done += 1
            time.sleep(0.2)
    assert (unsaid, unworked) == ([], [])
    for _ in range(2):
        works.settle()
        erase()
    assert holding(app, name) == []
