"""External addresses that have been failing, and enabling them again."""

from __future__ import annotations

from sqlalchemy import text

from core.errors import NotFound
from core.storage.db import Tx
from core.types import Json


def failing_endpoints(tx: Tx) -> list[Json]:
    """Return the addresses that failed when they were last called, the latest to begin failing first."""
    return [dict(row) for row in tx.execute(_FAILING).mappings()]


def enable(tx: Tx, address: str) -> None:
    """Have an address called again; its failures so far count no longer. NotFound: it has not been failing."""
    if tx.execute(_ENABLE, {"address": address}).rowcount == 0:
        raise NotFound(f"No address {address!r} has been failing. GET /v1/endpoints lists the failing ones.")


_FAILING = text(
    "SELECT address, failing_since, failures, disabled_at, error FROM endpoints ORDER BY failing_since DESC, address"
)

_ENABLE = text("DELETE FROM endpoints WHERE address = :address")
