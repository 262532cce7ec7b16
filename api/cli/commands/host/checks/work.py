"""Checks of the work: processes and their versions, queues without workers, what waits, dead letters, endpoints."""

from __future__ import annotations

import os
from typing import Final

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.agents import QUEUES
from core.errors import Misconfigured
from core.maintenance import heartbeat
from core.tenancy import endpoints
from core.types import Json

LAG_SECONDS: Final = 30
WAIT_SECONDS: Final = 300
"""As in the alerts `ImprintLogLag` and `ImprintDispatchesWaiting`."""


def processes(installation: Installation) -> str:
    """Check that each kind of process has a recent heartbeat."""
    with installation.app() as database, database.queue() as tx:
        missing = heartbeat.missing_processes(tx)
    if missing:
        raise Misconfigured(f"not at work: {', '.join(missing)}.")
    return f"at work: {', '.join(heartbeat.REQUIRED_PROCESSES)}"


def versions(installation: Installation) -> str:
    """Check that all processes run one version, that of this command."""
    with installation.app() as database, database.queue() as tx:
        running = {beat.version for beat in heartbeat.beats(tx) if beat.alive and beat.version}
    versions = sorted(running | {heartbeat.VERSION})
    if len(versions) > 1:
        raise CheckWarning(f"different versions are at work: {', '.join(versions)}")
    return f"all of version {versions[0]}"


def queues(installation: Installation) -> str:
    """Check that each queue has workers."""
    with installation.app() as database, database.queue() as tx:
        serving = heartbeat.processes_by_queue(tx)
    idle = [queue for queue in QUEUES if not serving.get(queue)]
    if idle:
        raise Misconfigured(f"no worker serves {' and '.join(idle)}")
    return ", ".join(f"{queue}: {serving[queue]} processes" for queue in QUEUES)


def backlog(installation: Installation) -> str:
    """Check whether work waits for long; a machine busy with other things is named as the cause."""
    gauges = _gauges(installation)
    if gauges is None:
        return "the clock has not counted yet"
    lag, oldest = gauges["lag_seconds"], gauges["oldest_seconds"]
    waiting = f"events wait {lag:.0f} s for the router, dispatches {oldest:.0f} s for a worker"
    if lag < LAG_SECONDS and oldest < WAIT_SECONDS:
        return waiting
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    busy = f"; this machine is overloaded: load {load:.1f} on {cores} cores" if load > 2 * cores else ""
    raise CheckWarning(waiting + busy)


def dead_letters(installation: Installation) -> str:
    """Check for dispatches that were given up."""
    gauges = _gauges(installation)
    dead = gauges["dispatches"]["dead"] if gauges else 0
    if dead:
        raise CheckWarning(f"{dead:,} dispatches were given up")
    return "none"


def outside(installation: Installation) -> str:
    """Check for addresses that are disabled because they kept failing."""
    disabled = 0
    with installation.app() as database:
        for tenant in installation.tenants():
            with database.tenant(tenant) as tx:
                disabled += sum(row["disabled_at"] is not None for row in endpoints.failing_endpoints(tx))
    if disabled:
        raise CheckWarning(f"{disabled} addresses of webhooks or channels are disabled after failing for days")
    return "no address is disabled"


def _gauges(installation: Installation) -> Json | None:
    with installation.app() as database, database.queue() as tx:
        return heartbeat.gauges(tx)
