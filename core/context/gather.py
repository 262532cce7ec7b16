"""Everything that a context could show, read in one short transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core import hiding, plans, recent, summarise
from core.db import Tx
from core.memories import STANDING
from core.plans import Plan
from core.summarise import Summary
from core.types import Message, Trust

INSTRUCTIONS: Final = 200
"""Pinned and standing memories that are read, the most important: more than any prompt should hold."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A session as its context needs it. `ends`: the session's tokens up to and with each message."""

    session_id: str
    messages: Sequence[Message]
    ends: Sequence[int]
    hidden: frozenset[str]
    summary: Summary | None
    plans: Sequence[Plan]


@dataclass(frozen=True, slots=True)
class Material:
    """What stands about a user (or a group), and the session, where one is named and known."""

    instructions: Sequence[Any]
    talk: Talk | None

    def bare(self) -> Material:
        """The newest message alone: what is left where there is room for nothing else."""
        talk = self.talk
        if talk is None:
            return Material((), None)
        return Material((), replace(talk, messages=talk.messages[-1:], ends=talk.ends[-1:], summary=None, plans=()))


def material(
    tx: Tx, user_id: str | None, group_id: str | None, session_id: str | None, window: recent.Window
) -> Material:
    """Standing instructions and the session, with the newest of its messages."""
    values = {"user": user_id, "group": group_id, "most": INSTRUCTIONS}
    return Material(tx.execute(_INSTRUCTIONS, values).all(), _talk(tx, session_id, window))


def disputes(tx: Tx, ids: Sequence[UUID]) -> Mapping[UUID, frozenset[UUID]]:
    """Which standing memories deny each of these."""
    found: dict[UUID, set[UUID]] = {}
    for row in tx.execute(_DISPUTES, {"ids": list(ids)}) if ids else ():
        found.setdefault(row.one, set()).add(row.other)
    return {one: frozenset(others) for one, others in found.items()}


def standing(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Any]:
    """Those of the memories that still hold, by id."""
    rows = tx.execute(_STANDING, {"ids": list(ids)}) if ids else ()
    return {row.id: row for row in rows}


def _talk(tx: Tx, session_id: str | None, window: recent.Window) -> Talk | None:
    if session_id is None or not window.messages:
        return None  # Its first message is on the way; what is known of the user can be shown already.
    return Talk(
        session_id,
        window.messages,
        window.ends,
        hiding.hidden(tx, session_id),
        summarise.latest(tx, session_id),
        plans.current(tx, session_id),
    )


_INSTRUCTIONS = text(f"""
    SELECT m.* FROM memories m
    WHERE (m.user_id = :user OR m.group_id = :group) AND (m.pinned OR m.category = 'instruction')
      AND {STANDING} AND (m.valid_to IS NULL OR m.valid_to > now())
    ORDER BY m.pinned DESC, m.importance DESC, m.id LIMIT :most
""")

_DISPUTES = text(f"""
    SELECT r.from_id AS one, r.to_id AS other FROM relations r JOIN memories m ON m.id = r.to_id
    WHERE r.relation = 'contradicts' AND r.from_id = ANY(:ids) AND m.trust = '{Trust.DISPUTED}' AND {STANDING}
    UNION
    SELECT r.to_id, r.from_id FROM relations r JOIN memories m ON m.id = r.from_id
    WHERE r.relation = 'contradicts' AND r.to_id = ANY(:ids) AND m.trust = '{Trust.DISPUTED}' AND {STANDING}
""")

_STANDING = text(f"""
    SELECT m.* FROM memories m WHERE m.id = ANY(:ids) AND {STANDING} AND (m.valid_to IS NULL OR m.valid_to > now())
""")
