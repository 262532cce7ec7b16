"""Agents that read: from messages to memories, and into the search index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core import metrics
from core.consolidation import llm_judge, pipeline
from core.consolidation.pipeline import Gateway
from core.errors import Conflict, Misconfigured, Never, NotFound
from core.events import log
from core.events.log import Cause, Emission
from core.extraction import configured_extractor, requests
from core.extraction import session as extraction
from core.extraction.protocol import Retold
from core.extraction.session import Extracted, Failed, Reader, Stretch
from core.storage.db import Tx
from core.summaries import units
from core.summaries.units import Planned
from core.types import DispatchStatus, Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes, note_call


def extract_session(tools: Tools, job: Job) -> Outcome:
    """Extract what is new in the event's session, judge it against what is known, write it; the consolidator links.

    With `from` and `to`, positions of messages, those of `group_id` are read once more and nothing else. Of a request
    to remember something there is nothing to extract: what it asks for is judged and kept.
    """
    if job.event.event_type == requests.REQUESTED and "session_id" not in job.params:
        return _remember(tools, job)
    session_id = job.params.get("session_id") or job.event.session_id
    if not session_id:
        raise Never(f"{job.target} needs an event with a session; {job.event.event_type} {job.event.id!r} has none.")
    try:
        found = _extracted(tools, job, session_id)
    except NotFound as error:
        raise Never(f"{job.target} has nothing to read: {error}") from error

    cut = _cut(tools, job, session_id, found.retold) if found.retold else None

    def write(tx: Tx) -> Json:
        for failed in found.failed:
            _set_aside(tx, job, session_id, failed)
        return found.write(tx, job.author) | (_keep(tx, job, cut) if cut else {})

    then = [(job.target, {"session_id": session_id})] if found.more else []
    return Outcome(write, then, partial(_count, len(found.failed), job.target))


def _cut(tools: Tools, job: Job, session_id: str, retold: Sequence[Retold]) -> Planned:
    """The units of the session, those that the model has told in its words."""
    with tools.db.tenant(job.tenant_id) as tx:
        talk = units.read(tx, session_id, retold=retold)
    return units.think(talk, tools.embedder, tools.settings.unit_gap_seconds, retold)


def _keep(tx: Tx, job: Job, cut: Planned) -> Json:
    """Write the units, unless another worker has cut the session meanwhile: what was paid for is not lost by that."""
    try:
        with tx.begin_nested():
            return cut.write(tx, job.tenant_id)
    except Conflict:
        return {}


def _remember(tools: Tools, job: Job) -> Outcome:
    """Keep what the event asks for, and what it asks for beside the words."""
    owner, candidate = requests.requested(job.event)
    link = job.target == "memory_consolidator"
    decided = pipeline.judged(_gate(tools, job), job.tenant_id, owner, [candidate], explicit=True, link=link)
    return Outcome(lambda tx: requests.keep(tx, job.tenant_id, owner, decided, job.author), (), count_changes)


def _gate(tools: Tools, job: Job) -> Gateway:
    """The way from statements to changes; the model, where there is one, is asked what words leave open."""
    ask = llm_judge.of(tools.model, partial(note_call, tools, job)) if tools.model else None
    return pipeline.usual(tools.db, tools.embedder, tools.settings, ask)


def extractor(tools: Tools, job: Job, name: str | None = None) -> extraction.Extract:
    """All that the extractor of that name, or the one that is set, finds in messages. Never: there is none."""
    return extraction.extract(_reader(tools, job, name))


def _reader(tools: Tools, job: Job, name: str | None = None) -> Reader:
    try:
        who = configured_extractor.chosen(tools.settings, tools.model, name)
    except Misconfigured as error:
        raise Never(str(error)) from error
    return Reader(who, partial(note_call, tools, job))


def _extracted(tools: Tools, job: Job, session_id: str) -> Extracted:
    """What is new in the session, or the stretch of it that a window set aside names."""
    gate, reader, link = _gate(tools, job), _reader(tools, job), job.target == "memory_consolidator"
    if "from" not in job.params:
        limit = tools.settings.extract_messages
        return extraction.session(gate, job.tenant_id, session_id, reader, limit=limit, link=link)
    try:
        where = Stretch(int(job.params["from"]), int(job.params["to"]), job.params.get("group_id"))
    except (KeyError, TypeError, ValueError):
        raise Never(f"{job.target} needs `from` and `to` as positions of messages.") from None
    return extraction.again(gate, job.tenant_id, session_id, reader, where, link=link)


def _set_aside(tx: Tx, job: Job, session_id: str, failed: Failed) -> None:
    """A window that could not be read becomes a dispatch of its own, dead from its beginning, and is told of."""
    params: Json = {"session_id": session_id, "from": failed.where.first, "to": failed.where.last}
    params |= {"group_id": failed.where.group_id} if failed.where.group_id else {}
    values = {"id": uuid7(), "of": job.id, "params": json.dumps(params), "error": failed.reason}
    tx.execute(_SET_ASIDE, values)
    payload = {"dispatch_id": str(values["id"]), "target": job.target, "rule": job.author.rule, "reason": failed.reason}
    told = Emission("dispatch.dead", payload, subject=f"dispatch:{values['id']}")
    log.emit(tx, job.tenant_id, Cause(job.event, job.id), [told])


def _count(failed: int, target: str, counts: Json) -> None:
    metrics.DISPATCHES.labels(target, DispatchStatus.DEAD).inc(failed)
    count_changes(counts)


_SET_ASIDE = text("""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
                            target, params, queue, alone, lineage, lane, lane_limit, status, attempt, error, ended_at)
    SELECT tenant_id, :id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
           target, cast(:params AS jsonb), queue, alone, lineage, lane, lane_limit, 'dead', 1,
           :error || ' What was answered is kept with the calls of dispatch ' || id || '.', clock_timestamp()
    FROM dispatches WHERE id = :of
""")
"""Beside the one that read the window, and not behind it: what comes next in its rule waits for no dead one."""
