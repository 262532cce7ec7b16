"""Router and clock as threads of one process: both wait most of the time, and each would carry the same modules."""

from __future__ import annotations

from celery import Celery

from core.config import Settings
from core.loop import Loop
from core.maintenance import heartbeat
from core.storage.db import Database
from workers import processes
from workers.clock import Clock


def run_router_and_clock(settings: Settings) -> None:
    """Route and tick until stopped."""
    processes.run_router(settings, beside=start_clock, also=[heartbeat.ProcessPart("clock")])


def start_clock(celery: Celery, settings: Settings, database: Database) -> list[Loop | Clock]:
    """Start a clock in a thread, on the router's pool; return what to close, in this order."""
    clock = Clock(app=celery, settings=settings, database=database)
    ticking = Loop("clock", clock.tick)
    ticking.start()
    return [ticking, clock]
