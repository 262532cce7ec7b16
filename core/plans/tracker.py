"""Plans of a session, projected from the log.

An agent publishes `plan.updated`; otherwise its messages are searched for a plan. Messages about single steps ("step 2
is done") update a plan if it is clear which step of which plan is meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text

from core.errors import Conflict, Never
from core.events.publishing import Author
from core.inference.token_counting import Counter
from core.language import languages
from core.plans import checklists, parsing, rendering
from core.plans import tree as plans_tree
from core.plans.tree import PlanNode, Tree
from core.screening import output
from core.storage.db import Database, Tx
from core.types import Event, Json

UPDATED: Final = "plan.updated"

MAIN: Final = "main"
"""The id of a session's plan that was given none."""

PAGE: Final = 200
"""Events of a session read in one query."""

LIKE: Final = r"(^|\n)\s*([-*+•]|\d{1,2}[.)、])\s*\[[ x~>/!-]\]|[✅☑✔⬜☐]|(^|\n)\s*1[.)、]|" + "|".join(
    language.plans.mentioned for language in languages.ALL if language.plans
)
"""LIKE patterns that every message about a plan matches. The rule `track_plans` filters less strictly."""


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """A plan of a session; `current`: id of the step being worked on."""

    session_id: str
    id: str
    user_id: str
    group_id: str | None
    goal: str
    status: str
    steps: Sequence[PlanNode]
    current: str | None
    event_id: str
    event_seq: int
    version: int
    updated_at: datetime | None = None

    @property
    def tree(self) -> Tree:
        return Tree(self.goal, tuple(self.steps), self.status, self.current)


@dataclass(frozen=True, slots=True)
class PendingPlans:
    """Changed plans, to be written if nobody else has changed them."""

    tenant_id: str
    session_id: str
    changed: Sequence[SessionPlan]
    read: Sequence[int]

    def write(self, tx: Tx, _author: Author) -> Json:
        """Write the plans. Conflict: another worker has updated one of them, or what they rest on was erased."""
        if self.changed and tx.execute(_BLANK, {"session": self.session_id, "seqs": list(self.read)}).first():
            raise Conflict("A message that the plan was read from was erased in the meantime.")
        for plan in sorted(self.changed, key=lambda plan: plan.id):
            if tx.execute(_WRITE, values(self.tenant_id, plan)).rowcount != 1:
                raise Conflict("Another worker has updated this plan in the meantime.")
        return {"plans": len(self.changed)}


@dataclass(slots=True)
class _Projection:
    """Plans of a session while events are applied to them."""

    session_id: str
    plans: dict[str, SessionPlan]
    published: bool
    changed: set[str]

    def apply(self, event: Event, request: str | None) -> None:
        """Apply one event, unless the plan that it is about has seen a later one."""
        if event.event_type == UPDATED:
            self.published = True
            self._replace(event, _plan_id(event.payload), parsing.parse(output.value(event.payload["plan"])))
            return
        content = output.screened_output(event.payload["content"]).text
        plan_text = None if self.published else checklists.of_message(content, event.payload["role"], request)
        if plan_text is not None:
            self._replace(event, MAIN, parsing.parse(plan_text))
            return
        for reference, status in checklists.mentions(content):
            self._mark(event, reference, status)

    def _replace(self, event: Event, plan_id: str, tree: Tree) -> None:
        existing = self.plans.get(plan_id)
        if existing is not None and existing.event_seq >= event.seq:
            return
        self._keep(event, plan_id, plans_tree.update(existing.tree if existing else None, tree), replaced=True)

    def _mark(self, event: Event, reference: str, status: str) -> None:
        """Mark a step, if exactly one open plan has it."""
        marked = {
            plan.id: tree
            for plan in self.plans.values()
            if plan.status in plans_tree.OPEN
            and (tree := plans_tree.mark_step(plan.tree, reference, status)) is not None
        }
        for plan_id, tree in marked.items() if len(marked) == 1 else ():
            existing = self.plans[plan_id]
            if existing.event_seq < event.seq or (existing.event_seq == event.seq and plan_id in self.changed):
                self._keep(event, plan_id, tree)

    def _keep(self, event: Event, plan_id: str, tree: Tree, *, replaced: bool = False) -> None:
        """Store a plan. It belongs to the user who last said what is to be done, not to one who reports progress."""
        existing = self.plans.get(plan_id)
        group = event.payload.get("group_id")
        self.plans[plan_id] = SessionPlan(
            session_id=self.session_id,
            id=plan_id,
            user_id=existing.user_id if existing and not replaced else str(event.user_id),
            group_id=existing.group_id if existing else group if isinstance(group, str) else None,
            goal=tree.goal,
            status=tree.status or plans_tree.overall_status(tree.steps),
            steps=tree.steps,
            current=tree.current,
            event_id=event.id,
            event_seq=event.seq,
            version=existing.version if existing else 0,
        )
        self.changed.add(plan_id)


def read(db: Database, tenant_id: str, session_id: str, event: Event) -> PendingPlans:
    """Read from the log what has changed in the session's plans, this event included.

    Never: the event's plan is none, too deep, or too large. Other events raise that when it is their turn.
    """
    with db.tenant(tenant_id) as tx:
        plans = {plan.id: plan for plan in find(tx, session_id)}
        after = max((plan.event_seq for plan in plans.values()), default=0)
        published = tx.execute(_PUBLISHED, {"session": session_id, "upto": after}).scalar_one()
        heard = list(_plan_events(tx, session_id, after, event))
    standing = _Projection(session_id, dict(plans), published, set())
    for heard_event, request in heard:
        try:
            standing.apply(heard_event, request)
        except Never:
            # A message may only look like a plan and be too long for one; only a published plan is refused.
            if heard_event.seq == event.seq and heard_event.event_type == UPDATED:
                raise
    changed = [replace(standing.plans[plan_id]) for plan_id in sorted(standing.changed)]
    return PendingPlans(
        tenant_id,
        session_id,
        changed,
        [heard_event.seq for heard_event, _ in heard if heard_event.event_type != UPDATED],
    )


def find(tx: Tx, session_id: str) -> list[SessionPlan]:
    """Return all plans of a session, the latest mentioned first."""
    return [_plan(row) for row in tx.execute(_FIND, {"session": session_id})]


def current(tx: Tx, session_id: str) -> list[SessionPlan]:
    """Return the plans that are still open."""
    return [plan for plan in find(tx, session_id) if plan.status in plans_tree.OPEN]


def render(plan: SessionPlan, tokens: int, counter: Counter) -> str:
    """Render a plan within a number of tokens: goal, progress, current step, then as many others as fit."""
    return rendering.render(plan.tree, tokens, counter.count)


def forget_messages(tx: Tx, session_ids: Sequence[str]) -> int:
    """Delete plans of these sessions that may hold words of their messages; return how many.

    To be called when messages lose their text: a plan that an agent publishes comes back with its next update, one from
    remaining messages with the next message about it.
    """
    return tx.execute(_FORGET, {"sessions": list(session_ids)}).rowcount


def _plan_events(tx: Tx, session_id: str, after: int, event: Event) -> Iterator[tuple[Event, str | None]]:
    """Yield events about plans after a position in the log, then this one, each with the person's message before it."""
    while True:
        page = {"session": session_id, "after": after, "one": event.seq, "like": LIKE, "page": PAGE}
        rows = tx.execute(_HEARD, page).all()
        for row in rows:
            yield replace(event, seq=row.seq, id=row.id, event_type=row.event_type, user_id=row.user_id,
                          payload=row.payload), row.asked  # fmt: skip
        if len(rows) < PAGE:
            return
        after = rows[-1].seq


def _plan_id(payload: Json) -> str:
    plan_id = payload.get("plan_id", MAIN)
    if isinstance(plan_id, str | int) and not isinstance(plan_id, bool) and 0 < len(str(plan_id)) <= parsing.ID:
        return str(plan_id)
    raise Never(f"`plan_id` is a text of at most {parsing.ID} characters; leave it out if the session has one plan.")


def values(tenant_id: str, plan: SessionPlan) -> Mapping[str, Any]:
    """Return a plan as parameters of a statement that writes it."""
    return {
        "tenant": tenant_id,
        "session": plan.session_id,
        "id": plan.id,
        "user": plan.user_id,
        "group": plan.group_id,
        "goal": plan.goal,
        "status": plan.status,
        "steps": json.dumps([step.as_json() for step in plan.steps], ensure_ascii=False),
        "current": plan.current,
        "event_id": plan.event_id,
        "event_seq": plan.event_seq,
        "version": plan.version,
    }


def _plan(row: Any) -> SessionPlan:
    steps = plans_tree.from_json(row.goal, row.status, row.steps, row.current).steps
    return SessionPlan(**{name: getattr(row, name) for name in SessionPlan.__slots__} | {"steps": steps})


_FIND = text("SELECT * FROM plans WHERE session_id = :session ORDER BY event_seq DESC, id")

_PUBLISHED = text("""
    SELECT EXISTS (SELECT FROM events WHERE session_id = :session AND event_type = 'plan.updated' AND seq <= :upto)
""")
"""Returns whether an agent publishes its plans: then messages are not searched for one."""

_HEARD = text("""
    SELECT e.seq, e.id, e.event_type, e.user_id, e.payload, CASE WHEN e.payload ->> 'role' = 'assistant' THEN (
        SELECT left(m.content, 2000) FROM messages m
        WHERE m.session_id = e.session_id AND m.role = 'user' AND m.event_seq < e.seq AND m.audience_labels = '{}'
        ORDER BY m.position DESC LIMIT 1) END AS asked
    FROM events e
    WHERE e.session_id = :session AND (e.seq > :after OR e.seq = :one)
      AND coalesce(nullif(e.payload -> 'audience_labels', 'null'), '[]') = '[]' AND (
        (e.event_type = 'plan.updated' AND jsonb_exists(e.payload, 'plan'))
        OR (e.event_type = 'message.added' AND e.payload ->> 'role' IN ('user', 'assistant')
            AND length(e.payload ->> 'content') <= 20000 AND e.payload ->> 'content' ~* :like))
    ORDER BY e.seq LIMIT :page
""")

_BLANK = text("""
    SELECT FROM (SELECT content FROM messages WHERE session_id = :session AND event_seq = ANY(:seqs) FOR SHARE) AS held
    WHERE content = ''
""")
"""Locked, so that an erasure of one of them waits for the plan, and deletes it too."""

_WRITE = text("""
    INSERT INTO plans AS p (tenant_id, session_id, id, user_id, group_id, goal, status, steps, current, event_id,
                            event_seq, version)
    SELECT :tenant, :session, :id, :user, :group, :goal, :status, cast(:steps AS jsonb), :current, :event_id,
           :event_seq, cast(:version AS int) + 1
    WHERE :version = 0 OR EXISTS (SELECT FROM plans WHERE session_id = :session AND id = :id)
    ON CONFLICT (tenant_id, session_id, id) DO UPDATE SET
        user_id = excluded.user_id, goal = excluded.goal, status = excluded.status, steps = excluded.steps,
        current = excluded.current,
        event_id = excluded.event_id, event_seq = excluded.event_seq, version = excluded.version,
        updated_at = clock_timestamp()
    WHERE p.version = :version AND p.event_seq < excluded.event_seq
""")
"""Compare-and-set: only over the version that was read, never over a later event, nor for a deleted plan."""

_FORGET = text("DELETE FROM plans WHERE session_id = ANY(:sessions)")
