"""Changes the embedding model of a tenant, while its questions are answered with the vectors of the old one.

Each step can be repeated: what it has done is in the database, so a worker that dies costs one page of vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.config import Settings
from core.errors import Conflict
from core.events import log, publishing
from core.events.log import Announcement, Emission
from core.events.publishing import Author
from core.index import reembedding
from core.inference import installed_embedders
from core.inference.embedders import Embedder
from core.inference.embedding_model import identity
from core.inference.installed_embedders import InstalledEmbedders
from core.storage import vector_spaces
from core.storage.db import Database, Tx
from core.storage.vector_spaces import EmbeddingModel
from core.tenancy import embedding
from core.tenancy.embedding import TenantEmbedding
from core.types import Json

REQUESTED: Final = "embedding.requested"
CHANGED: Final = "embedding.changed"

STEP_SECONDS: Final = 20.0
"""Time for which one dispatch makes or removes vectors before it yields to others."""

COUNTED: Final = 10_000
"""Rows whose vectors are counted where no change is under way."""

STALE_SECONDS: Final = 60.0
"""For what began with the model before: a request whose key was looked up some seconds ago, and its writes."""


def view(tx: Tx, tenant_id: str, settings: Settings) -> Json:
    """Return the tenant's model, the models that it may choose, and how far a change is.

    Vectors are counted up to `COUNTED`; all of them while a change is under way.
    """
    now = embedding.read(tx, tenant_id) or _installations(tx, settings)
    first, second, rows = tx.execute(_COUNT, {"most": COUNTED if now.other is None else None}).one()
    mine, others = (first, second) if now.place == vector_spaces.FIRST else (second, first)
    return {
        "model": installed_embedders.name_of(settings, now.model),
        "state": now.state,
        "other": None if now.other is None else installed_embedders.name_of(settings, now.other),
        "until": now.until and now.until.isoformat(),
        "vectors": {"model": mine, "other": others, "more": now.other is None and rows == COUNTED},
        "offered": sorted(installed_embedders.offered(settings)),
    }


def request(tx: Tx, tenant_id: str, settings: Settings, name: str) -> bool:
    """Announce that a tenant wants another model; return False if it has that one and nothing is under way.

    Invalid: the model is not offered. Conflict: another change is under way.
    """
    model = installed_embedders.chosen(settings, name)
    tx.execute(_LOCK, {"tenant": tenant_id})
    stored = embedding.read(tx, tenant_id, lock=True)
    if stored is None and len(vector_spaces.models_by_place(tx)) > 1:
        raise Conflict(
            "The installation itself is changing its model, so both columns of vectors are in use. Ask again when the "
            "operator has run `imprint memory reembed --finish`."
        )
    now = stored or _installations(tx, settings)
    then = now.asking(model, _removal(settings))
    if then.state == "settled":
        return False
    if then != stored:
        embedding.write(tx, tenant_id, then)
    payload = {"model": model.name, "previous": now.model.name}
    # Also where nothing is new: a change whose dispatch was cancelled or is dead goes on.
    log.announce(tx, tenant_id, [Announcement(str(uuid7()), REQUESTED, datetime.now(UTC), payload)])
    return True


@dataclass(frozen=True, slots=True)
class Step:
    """Result of a step, to be written with the end of its dispatch.

    `begun`: the state that it found. `then`: the state that follows; the same: the step goes on. `at`: when it does.
    """

    tenant_id: str
    begun: TenantEmbedding
    then: TenantEmbedding
    result: Json
    at: datetime | None = None

    def write(self, tx: Tx, author: Author) -> Json:
        """Store the state that follows, unless somebody has asked for another model in the meantime."""
        if self.then == self.begun:
            return self.result
        if embedding.read(tx, self.tenant_id, lock=True) != self.begun:
            return {**self.result, "state": "overtaken"}
        if self.then.other is None and vector_spaces.models_by_place(tx) == {self.then.place: self.then.model}:
            embedding.forget(tx, self.tenant_id)
        else:
            embedding.write(tx, self.tenant_id, self.then)
        if self.then.model != self.begun.model:
            payload = {"model": self.then.model.name, "previous": self.begun.model.name}
            publishing.publish(tx, self.tenant_id, author, [Emission(CHANGED, payload)])
        return self.result


def advance(
    db: Database, tenant_id: str, embedders: InstalledEmbedders, settings: Settings, seconds: float = STEP_SECONDS
) -> Step | None:
    """Do the next piece of a tenant's change; None: there is none, or its last piece was done before."""
    with db.tenant(tenant_id) as tx:
        now = embedding.read(tx, tenant_id)
    if now is None or now.other is None:
        return None
    mine, other = db.at(now.schema), db.at(now.other_schema)
    if now.state == "clearing":
        # What a process left here that went on with the model of an earlier change would be compared.
        cleared = reembedding.clear(other, tenant_id, seconds)
        return _step(tenant_id, now, now if cleared else replace(now, state="filling"), removed=cleared)
    if now.state == "filling":
        made, done = _fill(other, tenant_id, embedders.of(now.other), seconds)
        return _step(tenant_id, now, now.switched(_removal(settings)) if done else now, made=made)
    made, done = _fill(mine, tenant_id, embedders.of(now.model), seconds)
    if not done:
        return _step(tenant_id, now, now, made=made)
    if now.state == "leaving":
        over = now.until is None or now.until <= datetime.now(UTC)
        return Step(
            tenant_id,
            now,
            replace(now, state="removing") if over else now,
            _result(now, made=made),
            None if over else now.until,
        )
    cleared = reembedding.clear(other, tenant_id, seconds)
    return _step(tenant_id, now, now if cleared else now.settled(), made=made, removed=cleared)


def _fill(db: Database, tenant_id: str, embedder: Embedder, seconds: float) -> tuple[int, bool]:
    """Make missing vectors; return how many, and whether all but those of the last moments are there."""
    made = reembedding.fill(db, tenant_id, embedder, seconds=seconds)
    return made, made < reembedding.PAGE


def _step(tenant_id: str, now: TenantEmbedding, then: TenantEmbedding, **counts: int) -> Step:
    return Step(tenant_id, now, then, _result(now, **counts))


def _result(now: TenantEmbedding, **counts: int) -> Json:
    return {"state": now.state, "vectors": counts.get("made", 0), "removed": counts.get("removed", 0)}


def _removal(settings: Settings) -> datetime:
    """Return when nothing that began now can still use the vectors of today's model."""
    return datetime.now(UTC) + timedelta(seconds=settings.task_seconds + STALE_SECONDS)


def _installations(tx: Tx, settings: Settings) -> TenantEmbedding:
    """Return the model of the installation, and the column that it has for tenants without a choice."""
    model = EmbeddingModel(*identity(settings))
    return TenantEmbedding(model, vector_spaces.of(tx, model) or vector_spaces.FIRST)


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:tenant || chr(10) || 'embedding', 0))")

_COUNT = text("""
    SELECT count(embedding) AS first, count(embedding_next) AS second, count(*) AS rows
    FROM (SELECT embedding, embedding_next FROM public.search_index LIMIT :most) AS i
""")
