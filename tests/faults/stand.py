"""Waiting for a running stack, and killing parts of it."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from bench.stand import Stand
from tests.patience import PATIENCE_SECONDS

FAULT = [pytest.mark.fault, pytest.mark.timeout(2 * PATIENCE_SECONDS)]
"""Marks of a module of these suites."""

IMPATIENT = {
    "embedding": "hash",
    "lease_seconds": "2",
    "resend_seconds": "1",
    "sweep_seconds": "0.2",
    "retry_base_seconds": "0.2",
    "rules_poll_seconds": "0.1",
    "worker_niceness": "0",
    "schedule_page": "20",
}
"""Settings of a stack that notices within seconds that a process has died."""


def found(rows: Engine, query: str, **values: Any) -> list[Any]:
    with rows.connect() as tx:
        return list(tx.execute(text(query), values))


def pid(stand: Stand, name: str) -> int:
    return int((stand.home / "run" / f"{name}.pid").read_text().split()[0])


def kill_group(stand: Stand, name: str) -> None:
    """The worker and the processes it has forked, at once; one that is being started again, once it runs."""

    def killed() -> bool:
        os.killpg(pid(stand, name), signal.SIGKILL)
        return True

    eventually(killed)


def eventually(look: Callable[[], Any]) -> Any:
    """What `look` answers once it answers something true."""
    end = time.monotonic() + PATIENCE_SECONDS
    trouble: object = "it stayed false"
    while time.monotonic() < end:
        try:
            found = look()
        except (httpx.HTTPError, OSError, IndexError) as error:
            trouble = error
        else:
            if found:
                return found
        time.sleep(0.1)
    pytest.fail(f"not within {PATIENCE_SECONDS} s: {trouble}")


def rules_in_force(stand: Stand) -> None:
    """Wait until the router decides by the rules as they are saved now.

    A router takes over all rules at once, so that one more rule, saved last, acts once the others do.
    """
    name = f"sentinel.{uuid.uuid4().hex[:8]}"
    emit = {"action_type": "emit", "event_type": f"{name}.done", "payload": {}}
    stand.call("PUT", f"/v1/rules/{name}", {"event_type": name, "actions": [emit]})

    def acted() -> bool:
        stand.call("POST", "/v1/events", [{"event_type": name, "source": "sentinel", "payload": {}}])
        return bool(stand.call("GET", f"/v1/dispatches?rule={name}&limit=1")["items"])

    eventually(acted)
    stand.call("DELETE", f"/v1/rules/{name}")
