"""Transactions that are retried after a conflict with a concurrent write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from psycopg.errors import DeadlockDetected
from sqlalchemy.exc import OperationalError

from core.errors import Conflict
from core.storage.db import Database, Tx

Done = TypeVar("Done")

ATTEMPTS: Final = 5
"""Attempts while others keep writing the same rows."""


def run_with_retries(db: Database, tenant_id: str, work: Callable[[Tx], Done]) -> Done:
    """Run the work in a transaction and return its result.

    Conflict, OperationalError: every attempt failed, or a retry cannot help.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            with db.tenant(tenant_id) as tx:
                return work(tx)
        except (Conflict, OperationalError) as error:
            if not left or not _is_passing(error):
                raise
    raise AssertionError


def _is_passing(error: Conflict | OperationalError) -> bool:
    """Return whether a retry may succeed: the cause was a concurrent write or a deadlock."""
    return isinstance(error, Conflict) or isinstance(error.orig, DeadlockDetected)
