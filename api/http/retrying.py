"""Transactions that are retried after a conflict with a concurrent write, or rolled back after a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from psycopg.errors import DeadlockDetected
from sqlalchemy.exc import OperationalError

from core.errors import Conflict
from core.storage.db import Database, Tx

Done = TypeVar("Done")

ATTEMPTS: Final = 5
"""Attempts while others keep writing the same rows."""


class _Rehearsed(Exception):
    """Ends the transaction of a rehearsal, so that everything it has changed is as before; carries its result."""

    def __init__(self, result: Any) -> None:
        self.result = result


def rehearse(db: Database, tenant_id: str, work: Callable[[Tx], Done]) -> Done:
    """Run the work in a transaction that is rolled back, and return its result."""
    try:
        with db.tenant(tenant_id) as tx:
            raise _Rehearsed(work(tx))
    except _Rehearsed as rehearsed:
        done: Done = rehearsed.result
        return done


def run_with_retries(db: Database, tenant_id: str, work: Callable[[Tx], Done], *, rehearsal: bool = False) -> Done:
    """Run the work in a transaction and return its result; a rehearsal is rolled back.

    Conflict, OperationalError: every attempt failed, or a retry cannot help.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            if rehearsal:
                return rehearse(db, tenant_id, work)
            with db.tenant(tenant_id) as tx:
                return work(tx)
        except (Conflict, OperationalError) as error:
            if not left or not _is_passing(error):
                raise
    raise AssertionError


def _is_passing(error: Conflict | OperationalError) -> bool:
    """Return whether a retry may succeed: the cause was a concurrent write or a deadlock."""
    return isinstance(error, Conflict) or isinstance(error.orig, DeadlockDetected)
