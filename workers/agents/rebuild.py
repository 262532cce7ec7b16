"""Agent that rebuilds a user's memories from the log, separately from the stored ones."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.errors import Invalid, Never
from core.events import publishing
from core.events.log import Emission
from core.events.pending import Effect, Reported
from core.events.publishing import Author
from core.extraction import extractor_setting
from core.extraction.session import CandidateReader
from core.inference import configured_embedder
from core.memory import shadow
from core.storage.db import Tx
from core.tenancy import tenants
from core.types import Json
from rules.backtest import rebuild as backtest_rebuild
from rules.backtest.rebuild import RebuildPlan
from rules.document.schema import Rule, parse
from rules.document.targets import TARGETS
from rules.engine.similarity import Meanings
from rules.registry import store
from workers.agents import extraction
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, id_of

OPEN = "running"
"""Status of a rebuild that has not been dropped."""

GONE = Outcome(Reported({"rebuild": "gone"}))


def rebuild_memories(tools: Tools, job: Job) -> Outcome:
    """Carry out the rebuild that the event requests, up to the difference; a person decides whether to apply it.

    Each attempt writes a set of its own, because a cancelled one may still be writing. The set is deleted if the
    rebuild was dropped meanwhile, its user erased, or another attempt has begun.
    """
    mine = f"{tenants.RESERVED}{job.lease.hex}"
    rebuild = _begin(tools, job, mine)
    if rebuild is None:
        return GONE
    try:
        counts, difference = _build_set(tools, job, rebuild, mine)
    finally:
        is_current = _is_current(tools, job, rebuild.id, mine)
        if not is_current:
            shadow.drop(tools.db, mine)
    if not is_current:
        return GONE

    def write(tx: Tx, author: Author) -> Json:
        written = json.dumps(difference, ensure_ascii=False)
        values = {"id": rebuild.id, "difference": written, "open": OPEN, "shadow": mine}
        if tx.execute(_READY, values).rowcount:
            numbers = {name: len(difference[name]) for name in ("added", "gone", "changed")}
            payload = {"user_id": rebuild.user_id, "rebuild_id": str(rebuild.id), **numbers}
            publishing.publish(tx, job.tenant_id, author, [Emission("rebuild.ready", payload)])
        return counts

    return Outcome(Effect(write))


def _build_set(tools: Tools, job: Job, rebuild: Any, mine: str) -> tuple[Json, Json]:
    """Build the set; return counts of what was read, and the difference."""
    params = rebuild.params
    plan = RebuildPlan(rebuild.user_id, _rules(tools, job, params), datetime.fromisoformat(params["as_of"]))
    chosen = params.get("embedding")
    settings = tools.settings.model_copy(update={"embedding": chosen}) if chosen else tools.settings
    vectors = configured_embedder.embedder(settings) if chosen else tools.embedder
    consolidation = Tools(tools.db, vectors, settings).consolidation
    extract = _extractor(tools, job, params)
    counts = backtest_rebuild.run(consolidation, job.tenant_id, mine, plan, extract, Meanings(vectors))
    return counts, backtest_rebuild.compare(tools.db, job.tenant_id, mine, rebuild.user_id).as_json()


def _begin(tools: Tools, job: Job, mine: str) -> Any:
    """Return the rebuild and make the set `mine` its own; None: it was dropped."""
    rebuild_id = id_of(job, "rebuild_id")
    with tools.db.tenant(job.tenant_id) as tx:
        rebuild = tx.execute(_OPEN_REBUILD, {"id": rebuild_id, "open": OPEN}).one_or_none()
        if rebuild is not None:
            tx.execute(_TAKE_OVER, {"id": rebuild_id, "shadow": mine})
    if rebuild is not None:
        shadow.drop(tools.db, rebuild.shadow_id)
    return rebuild


def _is_current(tools: Tools, job: Job, rebuild_id: UUID, mine: str) -> bool:
    with tools.db.tenant(job.tenant_id) as tx:
        row = tx.execute(_OPEN_REBUILD, {"id": rebuild_id, "open": OPEN}).one_or_none()
    return row is not None and row.shadow_id == mine


def _rules(tools: Tools, job: Job, params: Json) -> list[tuple[Rule, int]]:
    """Return the rules of the request, which were checked when it was made; else those in force."""
    given = params.get("rules")
    try:
        if given is not None:
            return [(parse(document, TARGETS), 1) for document in given]
        with tools.db.tenant(job.tenant_id) as tx:
            return [(parse(stored.document, TARGETS), stored.version) for stored in store.in_force(tx)]
    except Invalid as error:
        raise Never(f"A rule of the rebuild cannot be read: {error}") from error


def _extractor(tools: Tools, job: Job, params: Json) -> CandidateReader:
    chosen = params.get("extractor")
    if chosen in extractor_setting.WITH_MODEL and job.model is None:
        raise Never("No model is configured. Set IMPRINT_LLM_BASE_URL, or rebuild with the extractor `offline`.")
    return extraction.extractor(tools, job, chosen)


_OPEN_REBUILD = text("SELECT * FROM rebuilds WHERE id = :id AND status = :open FOR UPDATE")

_TAKE_OVER = text("UPDATE rebuilds SET shadow_id = :shadow WHERE id = :id")

_READY = text("""
    UPDATE rebuilds SET status = 'ready', difference = cast(:difference AS jsonb)
    WHERE id = :id AND status = :open AND shadow_id = :shadow
""")
