"""Sessions, messages and plans of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from core.index import search_index
from core.plans import restoration as plans
from core.plans import tree as plan_tree
from core.plans.tracker import SessionPlan
from core.screening import output
from core.sessions import restoration, sessions
from core.sessions.restoration import Fate, RestoredMessage, RestoredSession
from core.storage.db import Tx
from core.transfer import imports
from core.transfer.archive_reader import ReadLine
from core.transfer.restoring.context import ERASED, Context, ErasedUntil

Fates = Iterator[Fate | str]


def write_sessions(tx: Tx, context: Context, batch: Sequence[ReadLine], until: ErasedUntil) -> Fates:
    """Store the sessions that are not there."""
    kept = [line.checked for line in batch if not until.covers(line.checked.started_at, line.checked.group_id)]
    restored = [RestoredSession(s.id, s.group_id, s.started_at, s.ended_at, s.state) for s in kept]
    yield from restoration.restore_sessions(tx, context.tenant_id, context.user_id, restored)
    yield from [ERASED] * (len(batch) - len(kept))


def write_messages(tx: Tx, context: Context, batch: Sequence[ReadLine], until: ErasedUntil) -> Fates:
    """Store the messages that are not there, found by their words from the commit on."""
    kept = [line.checked for line in batch if not until.covers(line.checked.occurred_at, line.checked.group_id)]
    messages = [RestoredMessage(**{name: getattr(m, name) for name in RestoredMessage.__slots__}) for m in kept]
    fates = restoration.restore_messages(tx, context.tenant_id, context.user_id, messages, context.cause)
    there = {(m.session_id, m.ordinal): m.id for m, fate in zip(kept, fates, strict=True) if fate != "of another"}
    imports.put_places(tx, context.tenant_id, context.import_id, "messages", there)
    _index(tx, context.tenant_id, sorted({session for session, _ in there}))
    yield from fates
    yield from [ERASED] * (len(batch) - len(kept))


def write_plans(tx: Tx, context: Context, batch: Sequence[ReadLine], until: ErasedUntil) -> Fates:
    """Store the plans that their sessions do not have, without secrets."""
    for line in batch:
        checked, masked = line.checked, output.value({"goal": line.checked.goal, "steps": line.plain["steps"]})
        tree = plan_tree.from_json(masked["goal"], checked.status, masked["steps"], checked.current)
        kept = {name: getattr(checked, name) for name in _FIELDS_OF_PLAN}
        event = context.cause.event
        plan = SessionPlan(
            **kept, user_id=context.user_id, goal=tree.goal, steps=tree.steps, event_id=event.id, event_seq=event.seq
        )
        if until.covers(checked.updated_at, checked.group_id):
            yield ERASED
        else:
            stored = plans.restore(tx, context.tenant_id, plan)
            yield "restored" if stored else "known"


_FIELDS_OF_PLAN: Final = ("session_id", "id", "group_id", "status", "current", "version", "updated_at")


def _index(tx: Tx, tenant_id: str, session_ids: Sequence[str]) -> None:
    while waiting := sessions.find_unindexed(tx, session_ids):
        planned = [
            (session, search_index.plan(session, search_index.unindexed_messages(tx, session))) for session in waiting
        ]
        search_index.put_messages(tx, tenant_id, planned)
