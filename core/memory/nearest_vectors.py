"""Exact nearest neighbours among a user's memories, from the cache of index rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, text

from core.index.resident import cache
from core.index.resident.arrays import Flags
from core.index.resident.columns import Place
from core.index.resident.encoding import ENUMERATED
from core.index.resident.snapshot import Snapshot
from core.memory.rows import MemoryRow
from core.storage.db import Database, Sight, Tx, run_together
from core.storage.multiquery import BoundStatement
from core.types import Status, Trust

AT_ONCE: Final = 64
"""Vectors compared at once: with 50,000 memories their cosines take 13 MB."""

Vectors = NDArray[np.float32]
Near = list[tuple[UUID, float]]


class Bound(NamedTuple):
    """Tenant and sight that a transaction is bound to."""

    tenant_id: str
    sight: Sight


def bound_by(db: Database, tenant_id: str) -> Bound:
    """Return what transactions of a tenant are bound to."""
    return Bound(tenant_id, db.sight)


def bound(tx: Tx) -> Bound:
    """Return what a transaction is bound to."""
    tenant_id, reader, schema = tx.execute(_BOUND).one()
    return Bound(tenant_id, Sight(reader, schema))


def nearest(tx: Tx, user_id: str, vectors: Vectors, limit: int, *, active: bool = False) -> list[Near]:
    """Return for each vector the user's nearest memories with their cosines, nearest first.

    `active`: only those that are active and trusted; else whatever their status.
    """
    if not len(vectors):
        return []
    cached = CachedMemories(tx.engine, bound(tx), user_id, vectors.shape[1])
    near_keys = nearest_keys(cached.view(tx, *run_together(tx, *cached.asking)), vectors, limit, active=active)
    return [[(UUID(key), cosine) for key, cosine in ones] for ones in near_keys]


def written(tx: Tx, tenant_id: str, user_id: str, rows: Sequence[MemoryRow]) -> None:
    """Note what this process has written of a user: what compares next reads it in its first round trip."""
    cache.of(tx.engine).written(tenant_id, user_id, [str(row.id) for row in rows])


class CachedMemories:
    """The cached index rows of a user's memories.

    `asking`: the statements that say whether they are as they were read, to be run together with others.
    """

    def __init__(self, engine: Engine, bound_to: Bound, user_id: str, dimension: int) -> None:
        self._entry = cache.of(engine).memories(bound_to.tenant_id, user_id, bound_to.sight)
        self._check = self._entry.check(dimension)
        self.asking: list[BoundStatement | None] = [(cache.CHANGED, self._check.values), *self._check.expecting]

    def discard(self) -> None:
        """Give up the cached rows: they have a memory that is gone."""
        self._entry.discard(self._entry.state)

    def view(self, tx: Tx, changed: Sequence[Any], *expected: Sequence[Any]) -> Snapshot:
        """Return the rows as they are now, by the answers to `asking`."""
        (changes,) = changed
        return self._entry.view(tx, self._check, changes, expected=expected if all(expected) else ())


def nearest_keys(
    view: Snapshot, vectors: Vectors, limit: int, *, active: bool = False, audience: Place | None = None
) -> list[list[tuple[str, float]]]:
    """Return the same of cached rows, with ids as texts. `audience`: only those said there; None: anywhere."""
    # Rounded as a scan in the database would round them.
    unit_vectors = _unit(vectors.astype(np.float16).astype(np.float32))
    if not len(view):
        return [[] for _ in unit_vectors]
    eligible = view.alive & view.fields["memory"]
    if active:
        eligible &= (view.fields["status"] == _ACTIVE) & ~np.isin(view.fields["trust"], _UNTRUSTED)
    if audience is not None:
        eligible &= view.said_to(audience)
    starts = range(0, len(unit_vectors), AT_ONCE)
    return [near for at in starts for near in _nearest(view, eligible, unit_vectors[at : at + AT_ONCE], limit)]


def _nearest(view: Snapshot, eligible: Flags, vectors: Vectors, limit: int) -> list[list[tuple[str, float]]]:
    cosines = view.products(vectors)
    cosines[:, ~eligible] = 0
    best = np.argpartition(cosines, min(max(len(view) - limit, 0), len(view) - 1), axis=1)[:, -limit:]
    return [_in_order(view, places, row[places]) for row, places in zip(cosines, best, strict=True)]


def _in_order(view: Snapshot, places: NDArray[np.intp], cosines: Vectors) -> list[tuple[str, float]]:
    """Return the neighbours nearest first, of equals by id. A right angle, or no vector at all, is no neighbour."""
    near = cosines > 0
    ordered = sorted(zip((-cosines[near]).tolist(), view.keys[places[near]].tolist(), strict=True))
    return [(key, -cosine) for cosine, key in ordered]


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)


_ACTIVE: Final = ENUMERATED["status"].index(Status.ACTIVE) + 1
_UNTRUSTED: Final = [ENUMERATED["trust"].index(trust) + 1 for trust in (Trust.REJECTED, Trust.QUARANTINED)]

_BOUND = text(
    "SELECT current_setting('imprint.tenant'), current_setting('imprint.reader'), cast(current_schema() AS text)"
)
