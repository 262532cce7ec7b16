"""Positions in the log of the primary: what a caller has seen already, and what a request has reached.

A replica that has replayed the log up to a position shows everything that was committed before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import text

from core.errors import Malformed
from core.storage.multiquery import BoundStatement

Positions = TypeVar("Positions", "RequestPositions", None)

NEWEST: Final = "latest"
"""Stands for the position that the primary has reached when it is asked."""


@dataclass(slots=True)
class RequestPositions:
    """Positions of a request. `after`: as the caller sends it; None: any state will do. `reached`: bytes; 0: none.

    `leniently`: where the primary cannot say what is newest, any state will do.
    """

    after: str | None = None
    reached: int = 0
    leniently: bool = False

    def note(self, position: int) -> None:
        """Note a position that the request has seen."""
        self.reached = max(self.reached, position)


def of_request(after: str | None) -> AbstractContextManager[RequestPositions]:
    """Collect the positions of a request, whose threads inherit the context."""
    return _collecting(RequestPositions(after))


def uncollected() -> AbstractContextManager[None]:
    """Ask no server for its position meanwhile."""
    return _collecting(None)


def after_newest() -> AbstractContextManager[Any]:
    """Let what is read meanwhile show everything that is committed now, for callers who know no position.

    Where the primary is away, any state will do.
    """
    return _collecting(RequestPositions(NEWEST, leniently=True))


@contextmanager
def _collecting(positions: Positions) -> Iterator[Positions]:
    token = _CURRENT.set(positions)
    try:
        yield positions
    finally:
        _CURRENT.reset(token)


def current() -> RequestPositions | None:
    """Return the positions of this request; None: none are collected."""
    return _CURRENT.get()


def parse(position: str) -> int:
    """Return a position as PostgreSQL prints it, such as `0/16B3748`, in bytes from the beginning. Malformed."""
    if _FORM.fullmatch(position) is None:
        raise Malformed(
            f"The header `Imprint-Position` is malformed: {position[:40]!a}. Send that of an earlier answer, such as "
            f"`0/16B3748`, or `{NEWEST}`, or leave it out."
        )
    high, low = position.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def written(position: int) -> str:
    """Return a position as PostgreSQL prints it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def ending() -> list[BoundStatement]:
    """Return what ends a transaction; where positions are collected, with the position behind it."""
    return [_END] if _CURRENT.get() is None else [_END, (_POSITION, {})]


def note(answers: list[list[Any]]) -> None:
    """Note the position in the answers to `ending`."""
    positions = _CURRENT.get()
    if positions is not None:
        positions.note(answers[-1][0].position)


_FORM: Final = re.compile(r"[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}")
_CURRENT: ContextVar[RequestPositions | None] = ContextVar("positions", default=None)
_END: Final[BoundStatement] = text("COMMIT"), {}

_POSITION: Final = text("""
    SELECT cast(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END
                - '0/0' AS bigint) AS position
""")
"""What is inserted, though not yet flushed: a commit that does not wait for the disk is visible before it is there.

Where the log ends with a page, this is behind the next page's header, and reached with the next record.
"""
