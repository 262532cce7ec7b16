"""Restores plans from an archive."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from core.plans.tree import Tree
from core.storage.db import Tx
from core.types import Event


@dataclass(frozen=True, slots=True)
class RestoredPlan:
    """A plan of an archive."""

    session_id: str
    id: str
    group_id: str | None
    tree: Tree
    version: int
    updated_at: datetime


def restore(tx: Tx, tenant_id: str, user_id: str, plan: RestoredPlan, event: Event) -> bool:
    """Store a plan unless its session has one of this id; return whether it was stored. `event`: asked for it.

    A plan whose session is not there, or belongs to another user, is not stored.
    """
    steps = json.dumps([step.as_json() for step in plan.tree.steps], ensure_ascii=False)
    values = {
        "tenant": tenant_id,
        "session": plan.session_id,
        "id": plan.id,
        "user": user_id,
        "group": plan.group_id,
        "goal": plan.tree.goal,
        "status": plan.tree.status,
        "steps": steps,
        "current": plan.tree.current,
        "event": event.id,
        "seq": event.seq,
        "version": plan.version,
        "at": plan.updated_at,
    }
    return tx.execute(_INSERT, values).rowcount == 1


_INSERT = text("""
    INSERT INTO plans (tenant_id, session_id, id, user_id, group_id, goal, status, steps, current, event_id, event_seq,
                       version, updated_at)
    SELECT :tenant, :session, :id, :user, :group, :goal, :status, cast(:steps AS jsonb), :current, :event, :seq,
           :version, :at
    WHERE EXISTS (SELECT FROM sessions s WHERE s.id = :session
                  AND (s.user_id = :user OR s.user_id IS NULL OR s.group_id IS NOT NULL))
    ON CONFLICT DO NOTHING
""")
