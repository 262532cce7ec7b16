from __future__ import annotations

from sqlalchemy import text

from core.maintenance import heartbeat
from core.storage.db import Database
from tests.api.posting import problem
from tests.doors import Doors


def test_health_is_the_process_and_readiness_the_whole(door: Doors, queue: Database) -> None:
    assert door.client.get("/healthz").json() == {"status": "alive"}
    assert "router" in problem(door.client.get("/readyz"), 503)["detail"]
    with queue.queue() as tx:
        for name in heartbeat.REQUIRED_PROCESSES:
            tx.execute(text("INSERT INTO heartbeats (process, at) VALUES (:name, clock_timestamp())"), {"name": name})
    assert door.client.get("/readyz").status_code == 200
