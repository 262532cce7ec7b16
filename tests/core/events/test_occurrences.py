"""What happens too often for an event each is added up and announced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core.config import Settings
from core.events import log as event_log
from core.events import occurrences
from core.events.doorbell import Doorbell, broker_url
from core.events.log import Announcement
from core.events.occurrences import REFUSED, SEARCHED, Occurrences
from core.storage.db import Database, Tx
from core.tenancy import tenants
from core.types import Json
from tests.doors import OTHER, opened
from tests.patience import wait_until
from tests.samples import TENANT

NEVER = 1e6


@pytest.fixture
def sums(settings: Settings, app: Database) -> Iterator[Occurrences]:
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
    with closing(Doorbell(broker_url(settings))) as bell, closing(Occurrences(app, bell, NEVER)) as counted:
        yield counted


def announced(app: Database, tenant: str = TENANT) -> list[tuple[str, Json]]:
    query = text("SELECT event_type, payload FROM events WHERE event_type = ANY(:types) ORDER BY seq")
    with app.tenant(tenant) as tx:
        return [(row.event_type, row.payload) for row in tx.execute(query, {"types": [REFUSED, SEARCHED]})]


def test_numbers_are_added_up_by_tenant_type_and_names(sums: Occurrences, app: Database) -> None:
    for reason in ("invalid", "invalid", "overloaded"):
        sums.note(TENANT, REFUSED, {"door": "http", "reason": reason}, refused=1)
    sums.note(TENANT, SEARCHED, {}, searches=1, without_memories=1)
    sums.note(TENANT, SEARCHED, {}, searches=1, without_memories=0)
    sums.note(OTHER, SEARCHED, {}, searches=1, without_memories=0)
    sums.announce()
    assert announced(app) == [
        (REFUSED, {"door": "http", "reason": "invalid", "refused": 2}),
        (REFUSED, {"door": "http", "reason": "overloaded", "refused": 1}),
        (SEARCHED, {"searches": 2, "without_memories": 1}),
    ]
    assert announced(app, OTHER) == [(SEARCHED, {"searches": 1, "without_memories": 0})]
    sums.announce()
    assert len(announced(app)) == 3, "what was announced is forgotten"


def test_what_is_told_apart_is_bounded(sums: Occurrences, app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "KINDS", 1)
    for reason in ("invalid", "overloaded", "invalid"):
        sums.note(TENANT, REFUSED, {"reason": reason}, refused=1)
    sums.announce()
    assert announced(app) == [(REFUSED, {"reason": "invalid", "refused": 2})]


def test_of_a_tenant_that_is_not_here_any_more_nothing_is_announced(sums: Occurrences, app: Database) -> None:
    for tenant in ("gone", TENANT):
        sums.note(tenant, SEARCHED, {}, searches=1)
    sums.announce()
    assert (announced(app, "gone"), len(announced(app))) == ([], 1)


def test_what_the_database_refused_is_announced_later(
    sums: Occurrences, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce = event_log.announce

    def refuse(tx: Tx, tenant_id: str, events: Sequence[Announcement]) -> None:
        if tenant_id == TENANT:
            tx.execute(text("SELECT 1 / 0"))
        announce(tx, tenant_id, events)

    for tenant in (TENANT, OTHER):
        sums.note(tenant, SEARCHED, {}, searches=1)
    with monkeypatch.context() as failing:
        failing.setattr(event_log, "announce", refuse)
        with pytest.raises(DBAPIError):
            sums.announce()
    assert (announced(app), len(announced(app, OTHER))) == ([], 1)
    sums.note(TENANT, SEARCHED, {}, searches=1)
    sums.announce()
    assert announced(app) == [(SEARCHED, {"searches": 2})]
    assert len(announced(app, OTHER)) == 1


def test_it_announces_by_itself(settings: Settings, app: Database) -> None:
    with closing(Doorbell(broker_url(settings))) as bell, closing(Occurrences(app, bell, 0.05)) as sums:
        sums.note(TENANT, SEARCHED, {}, searches=1)
        wait_until(lambda: announced(app) == [(SEARCHED, {"searches": 1})])


def test_searches_and_refused_requests_are_counted(settings: Settings, app: Database) -> None:
    with opened(settings) as door:
        assert door.post("/v1/search", {"user_id": "ada", "query": "tea"}).status_code == 200
        assert door.post("/v1/events", {"event_type": 7}).status_code == 422
        door.client.app.state.deps.occurrences.announce()  # type: ignore[attr-defined]
    assert sorted(announced(app)) == [
        (REFUSED, {"door": "http", "reason": "invalid", "refused": 1}),
        (SEARCHED, {"searches": 1, "without_memories": 1}),
    ]
