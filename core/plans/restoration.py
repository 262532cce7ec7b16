"""Restores plans from an archive."""

from __future__ import annotations

from sqlalchemy import text

from core.plans import tracker
from core.plans.tracker import SessionPlan
from core.storage.db import Tx


def restore(tx: Tx, tenant_id: str, plan: SessionPlan) -> bool:
    """Store a plan unless its session has one of this id; return whether it was stored. Its event asked for it.

    A plan whose session is not there, or belongs to another user, is not stored.
    """
    return tx.execute(_INSERT, {**tracker.values(tenant_id, plan), "at": plan.updated_at}).rowcount == 1


_INSERT = text("""
    INSERT INTO plans (tenant_id, session_id, id, user_id, group_id, goal, status, steps, current, event_id, event_seq,
                       version, updated_at)
    SELECT :tenant, :session, :id, :user, :group, :goal, :status, cast(:steps AS jsonb), :current, :event_id,
           :event_seq, :version, :at
    WHERE EXISTS (SELECT FROM sessions s WHERE s.id = :session
                  AND (s.user_id = :user OR s.user_id IS NULL OR s.group_id IS NOT NULL))
    ON CONFLICT DO NOTHING
""")
