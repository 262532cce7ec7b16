"""The check of the replica that answers searches."""

from __future__ import annotations

import time
from typing import Final

import psycopg
from sqlalchemy import text

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.errors import Misconfigured
from core.storage import db
from core.storage import replica as replicas
from core.storage.replica import CLUSTER

CATCH_UP_SECONDS: Final = 2.0
"""Time for the replica to replay what the primary has written when it is asked."""

STEP_SECONDS: Final = 0.1


def has_replica(installation: Installation) -> bool:
    return installation.has_database and installation.settings.replica_url is not None


def replica(installation: Installation) -> str:
    """Check that the replica is a standby of the database, for a bound role, and not behind."""
    url = replicas.replica_url(installation.settings)
    if url is None:
        return "none"
    (primary,) = installation.rows(_PRIMARY, db.app_url(installation.settings))
    until, behind = time.monotonic() + CATCH_UP_SECONDS, 1
    while behind > 0 and time.monotonic() < until:
        try:
            state = replicas.look_at(url)
        except psycopg.Error as error:
            raise Misconfigured(f"{url.host}:{url.port} does not answer: {str(error).splitlines()[0]}") from None
        if (fault := replicas.fault_of(state, primary.cluster)) is not None:
            raise Misconfigured(f"{url.host}:{url.port} is not used: {fault}")
        if (behind := primary.position - state.position) > 0:
            time.sleep(STEP_SECONDS)
    if behind > 0:
        raise CheckWarning(f"{url.host}:{url.port} is {behind:,} bytes of the log behind, after {CATCH_UP_SECONDS} s")
    return f"{url.host}:{url.port} replays the log of the database"


_PRIMARY: Final = text(f"SELECT {CLUSTER}, cast(pg_current_wal_flush_lsn() - '0/0' AS bigint) AS position")
