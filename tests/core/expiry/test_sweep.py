"""A sweep goes on behind the page that it has removed, and ends when nothing that is due can leave."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import Invalid
from core.expiry import due, sweep
from core.storage.db import Database
from core.types import Json
from tests.core.expiry.sweeping import choose
from tests.samples import TENANT, accept_all, ended, said
from tests.works import Works

PAST = (datetime.now(UTC) - timedelta(days=5)).isoformat()


def talks(app: Database, works: Works, count: int) -> None:
    sessions = [f"s{n}" for n in range(count)]
    accept_all(app, [said("Hm.", session=name, time=PAST) for name in sessions])
    accept_all(app, [ended(name, time=PAST) for name in sessions])
    works.settle()


def stepped(app: Database, place: Json) -> sweep.SweepStep:
    with app.tenant(TENANT) as tx:
        return sweep.step(tx, TENANT, place)


def test_without_a_choice_it_ends_at_once(app: Database) -> None:
    assert stepped(app, sweep.BEGINNING) == sweep.SweepStep(Counter(), None)


def test_it_removes_page_after_page_and_goes_on_behind_each(app: Database, works: Works) -> None:
    talks(app, works, due.SESSIONS + 1)
    choose(app, sessions_days=1)
    first = stepped(app, sweep.BEGINNING)
    assert first.counts["sessions"] == due.SESSIONS
    assert first.after is not None
    second = stepped(app, first.after)
    assert second.counts["sessions"] == 1
    left, place = Counter[str](), second.after
    while place is not None:
        done = stepped(app, place)
        left, place = left + done.counts, done.after
    assert left["sessions"] == 0


@pytest.mark.parametrize("place", [{}, {"stage": "x"}, {"stage": None}])
def test_what_is_no_place_of_a_sweep_is_refused(app: Database, place: Json) -> None:
    with pytest.raises(Invalid, match="place of a sweep"):
        stepped(app, place)


def test_a_place_behind_the_last_stage_ends_it(app: Database) -> None:
    """The tenant may have chosen to keep more since the page before."""
    assert stepped(app, {"stage": 9}) == sweep.SweepStep(Counter(), None)
