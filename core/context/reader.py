"""Reads everything a context may show, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.memory.as_of import EARLIEST_CLOCK_SQL
from core.memory.memories import ACTIVE_SQL
from core.plans import tracker
from core.plans.tracker import SessionPlan
from core.sessions import hidden_messages, pinned, recent_messages
from core.sessions.pinned import Pinned
from core.storage.db import Tx
from core.summaries import rolling
from core.summaries.rolling import Summary
from core.types import Message, Trust

INSTRUCTIONS: Final = 200
"""Pinned and standing memories read, the most important: more than any prompt should hold."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as its context needs it."""

    session_id: str
    messages: Sequence[Message]
    hidden: frozenset[str]
    summary: Summary | None
    plans: Sequence[SessionPlan]


@dataclass(frozen=True, slots=True)
class OwnerMaterial:
    """Instructions of a user (or a group), the session, if one is named and exists, and its pinned texts.

    `guidance`: for the model, if it was asked for.
    """

    instructions: Sequence[Any]
    conversation: SessionView | None
    pinned: Pinned = pinned.NOTHING
    guidance: str = ""

    def bare(self) -> OwnerMaterial:
        """Return the newest message and the pinned texts alone, for a context without room for more."""
        newest = self.conversation
        if newest is not None:
            newest = replace(newest, messages=newest.messages[-1:], summary=None, plans=())
        return OwnerMaterial((), newest, self.pinned, self.guidance)


@dataclass(frozen=True, slots=True)
class ContextReader:
    """Owner of the memory read, and listener of the session, whose own words a context for the group leaves out."""

    user_id: str | None
    group_id: str | None
    listener: str | None

    @property
    def hears(self) -> Mapping[str, object]:
        """Return who could hear a message that is shown: of a context for a group, everybody in it."""
        return {"user": None if self.user_id is None and self.group_id else self.listener, "group": self.group_id}


def material(
    tx: Tx,
    reader: ContextReader,
    session_id: str | None,
    window: recent_messages.RecentWindow,
    *,
    instructions: bool = True,
) -> OwnerMaterial:
    """Read standing instructions, and of the session what this user, or all of this group, could hear.

    Without `instructions` only pinned memories are read.
    """
    hears = reader.hears
    conversation = _session_slice(tx, session_id, window, hears) if session_id is not None and window.messages else None
    values = {"user": reader.user_id, "group": reader.group_id, "most": INSTRUCTIONS, "instructions": instructions}
    orders = tx.execute(_INSTRUCTIONS, values).all()
    if session_id is None or (window.messages and conversation is None):
        return OwnerMaterial(orders, conversation)
    texts = _pinned(tx, session_id, hears, heard=conversation is not None)
    return OwnerMaterial(orders, _without(conversation, texts.message_id), texts)


def disputes(tx: Tx, ids: Sequence[UUID]) -> Mapping[UUID, frozenset[UUID]]:
    """Return the active memories that contradict each of these."""
    contradicting: dict[UUID, set[UUID]] = {}
    for row in tx.execute(_DISPUTES, {"ids": list(ids)}) if ids else ():
        contradicting.setdefault(row.one, set()).add(row.other)
    return {memory_id: frozenset(others) for memory_id, others in contradicting.items()}


def active_memories(tx: Tx, user_id: str | None, group_id: str | None, ids: Sequence[UUID]) -> dict[UUID, Any]:
    """Return the still active ones among these memories of a user or a group, by id."""
    values = {"user": user_id, "group": group_id, "ids": list(ids)}
    return {row.id: row for row in tx.execute(_STANDING, values)} if ids else {}


def inactive_ids(tx: Tx, ids: Sequence[UUID]) -> frozenset[str]:
    """Return those that are inactive or disputed; a profile follows only with the next event."""
    return frozenset(tx.execute(_GONE, {"ids": list(ids)}).scalars()) if ids else frozenset()


def _session_slice(
    tx: Tx, session_id: str, window: recent_messages.RecentWindow, reader: Mapping[str, object]
) -> SessionView | None:
    """Return what the reader heard of the session; None: nothing, or no message has arrived."""
    parameters = {**reader, "session": session_id}
    others = [message.position for message in window.messages if not _is_mine(message, reader)]
    missed = (
        set(tx.execute(_UNHEARD, {**parameters, "first": others[0], "last": others[-1]}).scalars()) if others else ()
    )
    messages = [message for message in window.messages if message.id not in missed]
    if not messages:
        return None
    summary = rolling.latest(tx, session_id)
    if summary is not None and tx.execute(_UNHEARD, {**parameters, "first": 1, "last": summary.to_position}).first():
        summary = None  # It tells some of what this reader has not heard.
    own = [plan for plan in tracker.current(tx, session_id) if _is_of(plan, reader)]
    return SessionView(session_id, messages, hidden_messages.hidden_ids(tx, session_id), summary, own)


def _pinned(tx: Tx, session_id: str, reader: Mapping[str, object], *, heard: bool) -> Pinned:
    """Return the pinned texts; a first message said to others is none."""
    texts = pinned.read(tx, session_id, reader, heard=heard)
    first = {**reader, "session": session_id, "first": 1, "last": 1}
    if texts.message_id is not None and tx.execute(_UNHEARD, first).first():
        return replace(texts, system_prompt="", message_id=None)
    return texts


def _without(conversation: SessionView | None, message_id: str | None) -> SessionView | None:
    """Return the session without the message that is shown as the system prompt."""
    if conversation is None or message_id is None:
        return conversation
    return replace(conversation, messages=[m for m in conversation.messages if m.id != message_id])


def _is_mine(message: Message, reader: Mapping[str, object]) -> bool:
    """Return whether the message alone shows that its reader could hear it."""
    name = "user" if message.group_id is None else "group"
    return reader[name] == (message.user_id if message.group_id is None else message.group_id)


def _is_of(plan: SessionPlan, reader: Mapping[str, object]) -> bool:
    return plan.user_id == reader["user"] or (plan.group_id is not None and plan.group_id == reader["group"])


_PARTICIPANTS = "CASE jsonb_typeof({0}.extras -> 'participants') WHEN 'array' THEN {0}.extras -> 'participants' END"

_UNHEARD = text(f"""
    SELECT m.id FROM messages m
    WHERE m.session_id = :session AND m.position BETWEEN :first AND :last AND (CASE
        WHEN m.group_id IS NULL
        THEN m.user_id = :user OR jsonb_exists({_PARTICIPANTS.format("m")}, :user)
        WHEN m.group_id = :group THEN true
        ELSE EXISTS (SELECT FROM messages g WHERE g.session_id = m.session_id AND g.group_id = m.group_id
                     AND (g.user_id = :user OR jsonb_exists({_PARTICIPANTS.format("g")}, :user)))
    END) IS NOT TRUE
""")
"""Messages said to others: a user hears their own, those that name them, and all of a group they are in."""

_HOLDS = f"""
    (m.valid_from IS NULL OR m.valid_from <= now() + {EARLIEST_CLOCK_SQL})
    AND (m.valid_to IS NULL OR m.valid_to > now())
"""

_INSTRUCTIONS = text(f"""
    SELECT m.* FROM memories m
    WHERE (m.user_id = :user OR m.group_id = :group) AND (m.pinned OR (:instructions AND m.category = 'instruction'))
      AND {ACTIVE_SQL} AND {_HOLDS}
    ORDER BY m.pinned DESC, m.importance DESC, m.id LIMIT :most
""")

_DISPUTES = text(f"""
    SELECT r.from_id AS one, r.to_id AS other FROM relations r JOIN memories m ON m.id = r.to_id
    WHERE r.relation = 'contradicts' AND r.from_id = ANY(:ids) AND m.trust = '{Trust.DISPUTED}' AND {ACTIVE_SQL}
    UNION
    SELECT r.to_id, r.from_id FROM relations r JOIN memories m ON m.id = r.from_id
    WHERE r.relation = 'contradicts' AND r.to_id = ANY(:ids) AND m.trust = '{Trust.DISPUTED}' AND {ACTIVE_SQL}
""")

_STANDING = text(f"""
    SELECT m.* FROM memories m
    WHERE m.id = ANY(:ids) AND (m.user_id = :user OR m.group_id = :group) AND {ACTIVE_SQL} AND {_HOLDS}
""")

_GONE = text(f"""
    SELECT n.id::text FROM unnest(cast(:ids AS uuid[])) AS n (id) LEFT JOIN memories m ON m.id = n.id
    WHERE ({ACTIVE_SQL} AND {_HOLDS} AND m.trust <> '{Trust.DISPUTED}') IS NOT TRUE
""")
