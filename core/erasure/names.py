"""Removes names from the events that announced erasures, once everything that follows from them has ended."""

from __future__ import annotations

import json
from typing import Final

from sqlalchemy import text

from core.erasure import runner
from core.erasure.steps import ErasurePart
from core.storage.db import Tx
from core.storage.tables import ANNOUNCES_ERASURE

USER: Final = "user.erased"
GROUP: Final = "group.erased"


def forget(tx: Tx, tenant_id: str) -> int:
    """Remove the names of erased users and groups from ended announcements; return how many."""
    rows = tx.execute(_NAMED).all()
    if not rows:
        return 0
    values = {"seqs": [row.seq for row in rows], "keys": [row.subject for row in rows]}
    runner.run(tx, tenant_id, ErasurePart.NAMES, values)
    return len(rows)


def in_json(name: str) -> list[str]:
    """Return how JSON may write a name: escaped, and as it is."""
    return sorted({json.dumps(name), json.dumps(name, ensure_ascii=False)})


_NAMED = text(f"""
    SELECT e.seq, e.subject FROM events e
    WHERE e.{ANNOUNCES_ERASURE} AND e.subject IS NOT NULL AND e.routed_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM dispatches d WHERE d.event_seq = e.seq AND d.ended_at IS NULL)
""")
"""The subject is the name behind `user:` or `group:`, as in the default key of a flow."""
