"""Positions of a moved tenant in the target: those of its events stay, and later ones are behind them.

`seq` comes from a sequence, and `written_in` from the counter of transactions (docs/decisions/0026). Both are of a
database, not of a tenant, so the target's must be ahead of the source's.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Engine, text

from core.cells import freezing
from core.storage.db import Tx

MOST_SKIPPED: Final = 10_000_000
"""Most transactions that are skipped: they take minutes, and are a twentieth of those between two vacuums."""

BATCH: Final = 10_000
"""Transactions that are skipped at a time."""

_SKIP: Final = f"""
    DO $$ BEGIN FOR number IN 1..{BATCH} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$
"""


def newest_transaction(tx: Tx) -> int:
    """Return a number beyond which no transaction of this database has written yet."""
    return int(tx.execute(text("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")).scalar_one())


def lead_transactions(owner: Engine, beyond: int) -> bool:
    """Skip transactions until new ones have higher numbers; return False if those are too many, and skip none."""
    with owner.connect().execution_options(isolation_level="AUTOCOMMIT") as tx:
        missing = beyond - newest_transaction(tx)
        if missing > MOST_SKIPPED:
            return False
        for _ in range(0, max(missing + 1, 0), BATCH):
            tx.execute(text(_SKIP))
        return True


def highest_seq(tx: Tx) -> int:
    """Return the last position that the log of this database has given, of whichever tenant."""
    return int(tx.execute(text("SELECT last_value FROM events_seq_seq")).scalar_one())


def lead_seqs(owner: Engine, beyond: int) -> None:
    """Let the log give higher positions than this one from now on."""
    with owner.connect() as tx:
        if highest_seq(tx) >= beyond:
            return
    # Altering the sequence waits for writers and holds them off: one that took the next number would be overtaken.
    with freezing.patiently(owner, "ALTER SEQUENCE events_seq_seq INCREMENT BY 1") as tx:
        raised = "SELECT setval('events_seq_seq', greatest(last_value, :beyond)) FROM events_seq_seq"
        tx.execute(text(raised), {"beyond": beyond})
