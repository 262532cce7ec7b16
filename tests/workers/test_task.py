from __future__ import annotations

import threading

import pytest
from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown
from sqlalchemy import text

from core import logs
from core.config import Settings
from core.events.doorbell import broker_url
from core.storage.db import Database
from tests.samples import TENANT, accept, said
from tests.works import Works
from workers import app as celery_app
from workers import task
from workers.dispatch import relay
from workers.routing import router


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other application listens to the signals, and the logs of the tests stay as they are."""
    for signal in (worker_process_init, worker_process_shutdown):
        monkeypatch.setattr(signal, "receivers", [])
        signal.sender_receivers_cache.clear()
    monkeypatch.setattr(logs, "configure", lambda *_: None)


@pytest.fixture
def application(settings: Settings) -> Celery:
    return task.with_task(celery_app.create(settings, broker_url(settings)), settings)


@pytest.mark.usefixtures("application")
def test_a_child_that_ends_before_it_has_begun_closes_nothing() -> None:
    answers = [answer for _, answer in worker_process_shutdown.send(sender=None)]
    assert answers
    assert not [answer for answer in answers if isinstance(answer, Exception)]


def test_a_process_runs_what_it_is_handed_and_sends_what_follows(
    application: Celery, app: Database, works: Works
) -> None:
    accept(app, said("I live in Lisbon."))
    owed = [one for one in router.route(works.router)[1] if one.queue == "cpu"]
    worker_process_init.send(sender=None)
    try:
        for one in owed:
            done = application.tasks[relay.TASK].apply((TENANT, [str(one.id)], one.queue))
            assert done.successful(), done.traceback
    finally:
        worker_process_shutdown.send(sender=None)
    with app.tenant(TENANT) as tx:
        found = {row.id: row.status for row in tx.execute(text("SELECT id, status FROM dispatches"))}
    assert owed
    assert {found[one.id] for one in owed} == {"done"}


def sweepers() -> int:
    return sum("cache sweeper" in thread.name for thread in threading.enumerate())


@pytest.mark.usefixtures("application")
def test_what_a_process_opened_is_closed_when_it_ends() -> None:
    """The fixture of the settings sees to the connections."""
    before = sweepers()
    worker_process_init.send(sender=None)
    assert sweepers() == before + 1
    worker_process_shutdown.send(sender=None)
    assert sweepers() == before


def test_before_its_process_has_begun_nothing_can_be_run(application: Celery) -> None:
    assert application.tasks[relay.TASK].apply((TENANT, [], "cpu")).failed()
