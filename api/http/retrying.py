"""A transaction that begins again where someone has written in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from psycopg.errors import DeadlockDetected
from sqlalchemy.exc import OperationalError

from core.errors import Conflict
from core.storage.db import Database, Tx

Done = TypeVar("Done")

ATTEMPTS: Final = 5
"""How often an erasure begins again where someone keeps writing what it is to erase."""


def carried_out(db: Database, tenant_id: str, work: Callable[[Tx], Done]) -> Done:
    """What the work comes to, committed. Conflict, OperationalError: it was overtaken each time, or cannot be."""
    for left in reversed(range(ATTEMPTS)):
        try:
            with db.tenant(tenant_id) as tx:
                return work(tx)
        except (Conflict, OperationalError) as error:
            if not left or not _is_passing(error):
                raise
    raise AssertionError


def _is_passing(error: Conflict | OperationalError) -> bool:
    """Return whether a retry may succeed: a concurrent write or a deadlock stood in the way."""
    return isinstance(error, Conflict) or isinstance(error.orig, DeadlockDetected)
