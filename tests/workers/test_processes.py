from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from core.config import Settings
from core.events.doorbell import DoorbellListener, broker_url
from core.storage.db import Database
from workers import app as celery_app
from workers import processes, wiring


def test_a_signal_that_comes_while_a_router_starts_stops_it(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(DoorbellListener):
        def __init__(self, url: str, ring: Callable[[], None]) -> None:
            signal.raise_signal(signal.SIGUSR2)
            super().__init__(url, ring)

    monkeypatch.setattr(processes, "DoorbellListener", Interrupted)
    before = signal.signal(signal.SIGUSR2, lambda *_: None)
    routing = wiring.router(settings)
    celery = celery_app.create(settings, broker_url(settings))
    loop, parts = processes.routing_loop(settings, celery, routing, app, [], stopped_by=[signal.SIGUSR2])
    try:
        assert loop.is_stopped
    finally:
        signal.signal(signal.SIGUSR2, before)
        for part in (*parts, routing.db):
            part.close()
