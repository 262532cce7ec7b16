"""Opens, fills and clears a vector space."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Final

import numpy as np
import structlog
from sqlalchemy import text

from core import logs
from core.config import Settings
from core.index import search_index
from core.index.search_index import Unembedded
from core.inference.embedders import BrokenVectors, Embedder, Floats
from core.inference.embedding_model import identity
from core.storage import db
from core.storage.db import Database
from core.storage.vector_spaces import FIRST, SCHEMAS, EmbeddingModel, of

log = structlog.get_logger()

PAGE: Final = 256
"""Rows embedded at once."""


CLEARED: Final = 10_000
"""Rows cleared in one transaction."""


def open_database(settings: Settings, pool: int) -> Database:
    """Connect as the tenant-bound role, to the vector space of the configured model; else to the first."""
    model = EmbeddingModel(*identity(settings))
    asking = db.connect(db.app_url(settings), 1)
    try:
        with asking.queue() as tx:
            ready = tx.execute(text("SELECT to_regclass('deployment')")).scalar() is not None
            space = of(tx, model) if ready else None
    finally:
        asking.close()
    return db.connect(db.app_url(settings), pool, SCHEMAS[space or FIRST])


def fill(
    database: Database,
    tenant_id: str,
    embedder: Embedder,
    report_progress: Callable[[int], None] = lambda _size: None,
    seconds: float = inf,
) -> int:
    """Embed the rows of a tenant that lack a vector in the vector space of `database`; return how many.

    One whose vector is broken stays without it, and is found by its words.

    `report_progress` is called with the size of each page. Rows written concurrently are in the next page. No page
    begins after so many `seconds`.
    """
    made, after, ends = 0, ("", "", ""), time.monotonic() + seconds
    while time.monotonic() < ends:
        with database.tenant(tenant_id) as tx:
            rows = search_index.rows_without_vector(tx, after, PAGE)
        if not rows:
            return made
        sound, vectors = _embedded(embedder, rows)
        with database.tenant(tenant_id) as tx:
            search_index.put_vectors(tx, sound, vectors)
        after = (rows[-1].type, rows[-1].session_id, rows[-1].ref)
        made += len(sound)
        report_progress(len(sound))
    return made


def _embedded(embedder: Embedder, rows: Sequence[Unembedded]) -> tuple[Sequence[Unembedded], Floats]:
    """Return rows with their vectors, without those whose vector is broken."""
    try:
        return rows, embedder.embed([row.text for row in rows])
    except BrokenVectors as broken:
        log.warning("reembedding.broken", **logs.fault(broken))
        sound = [row for row in rows if row.text in broken.good]
        return sound, np.array([broken.good[row.text] for row in sound], dtype=np.float32)


def clear(database: Database, tenant_id: str, seconds: float = inf) -> int:
    """Remove a tenant's vectors from the vector space of `database`, a page a transaction; return how many.

    No page begins after so many `seconds`.
    """
    cleared, page, ends = 0, CLEARED, time.monotonic() + seconds
    while page == CLEARED and time.monotonic() < ends:
        with database.tenant(tenant_id) as tx:
            page = tx.execute(_CLEAR, {"limit": CLEARED}).rowcount
        cleared += page
    return cleared


_CLEAR = text("""
    UPDATE search_index i SET embedding = NULL FROM (
        SELECT tenant_id, type, session_id, ref FROM search_index WHERE embedding IS NOT NULL LIMIT :limit) AS page
    WHERE (i.tenant_id, i.type, i.session_id, i.ref) = (page.tenant_id, page.type, page.session_id, page.ref)
""")
