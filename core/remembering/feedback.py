"""Feedback on a memory: `feedback.given` with a `memory_id` and a `verdict`.

It moves how far a memory is believed and how long it lasts, and never makes it confirmed: that is for a person to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.errors import Invalid, Never, NotFound
from core.events import parsing
from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import Change, Edit, Owner, Use, Vector
from core.remembering import edits
from core.storage.db import Tx
from core.types import Category, Event, Json, Status, Trust

CONFIRMED: Final = 0.5
"""Share of the doubt (1 - confidence) that a confirmation removes."""

WEAKENED: Final = 0.7
"""Factor of confidence and importance: after three of them about a third is left."""

LEAST: Final = 0.01
"""Least confidence and importance: none is ever exactly zero."""


@dataclass(frozen=True, slots=True)
class PendingFeedback:
    """An edit that feedback leads to; `used`: it also counts as a use."""

    tenant_id: str
    owner: Owner
    edit: Edit
    used: bool

    def write(self, tx: Tx, author: Author) -> Json:
        """Write it. Conflict: the memory was changed in the meantime."""
        changes: list[Change] = [self.edit]
        if self.used:
            changes.append(Use(self.edit.id))
        counts = writer.apply(tx, self.tenant_id, self.owner, changes, author)
        return {"memory_id": str(self.edit.id), "change_id": str(self.edit.change_id), **counts}


def read(tx: Tx, event: Event) -> Any:
    """Return the row of the memory that the feedback is about.

    Never: the event is no feedback on a memory; there is none, it is not active, or it belongs to somebody else.
    """
    try:
        parsing.FeedbackGiven.model_validate({"user_id": event.user_id, **event.payload})
        memory_id = UUID(event.payload["memory_id"])
    except (KeyError, ValueError, TypeError):
        raise Never(f"{event.event_type} {event.id!r} is no feedback on a memory: see docs/events.md.") from None
    try:
        row = memories.get(tx, memory_id)
    except NotFound as error:
        raise Never(error.detail) from None
    mine = row.user_id == event.user_id or (row.group_id is not None and row.group_id == event.payload.get("group_id"))
    if not mine:
        raise Never(f"Memory {memory_id} belongs to neither the user nor the group of this feedback.")
    if row.status != Status.ACTIVE or row.trust in edits.UNSERVED:
        raise Never(f"Memory {memory_id} is {row.status} and {row.trust}; feedback is for memories that are served.")
    return row


def preview(tx: Tx, event: Event, secrets: str) -> Json:
    """Return what feedback would change, each field before and after; `refused` says why it would change nothing."""
    try:
        row = read(tx, event)
        fields = _changes(row, event, secrets)
    except Never as error:
        return {"verdict": event.payload.get("verdict"), "refused": error.detail}
    return {
        "verdict": event.payload["verdict"],
        "memory_id": str(row.id),
        "content": row.content,
        "before": {name: getattr(row, name) for name in fields},
        "after": fields,
    }


def decide(row: Any, event: Event, embed: Callable[[str], Vector], secrets: str) -> PendingFeedback | None:
    """Return what the feedback changes; None: nothing. Never: the correction holds a secret."""
    verdict, comment = str(event.payload["verdict"]), str(event.payload.get("comment") or "").strip()
    fields = _changes(row, event, secrets)
    if not fields:
        return None
    reason = f"Feedback: {verdict}. {comment}".strip()[:2_000]
    vector = embed(fields["content"]) if "content" in fields else None
    edit = Edit(row.id, row.version, fields, reason, vector)
    return PendingFeedback(row.tenant_id, Owner(row.user_id, row.group_id), edit, verdict == "confirm")


def _changes(row: Any, event: Event, secrets: str) -> Json:
    """Return the fields that the feedback sets. Never: the correction holds a secret."""
    if event.payload["verdict"] == "correct":
        return _corrected(row, str(event.payload["content"]).strip(), secrets)
    if event.payload["verdict"] == "confirm":
        return {"confidence": round(row.confidence + (1 - row.confidence) * CONFIRMED, 4)}
    return {name: round(max(LEAST, getattr(row, name) * WEAKENED), 4) for name in ("confidence", "importance")}


def _corrected(row: Any, content: str, secrets: str) -> Json:
    """Return the new content and what follows from it; an instruction needs a person's word again."""
    if content == row.content:
        return {}
    try:
        fields = edits.complete(row, {"content": content}, {"content", "trust"}, secrets)
    except Invalid as error:
        raise Never(error.detail) from None
    if "content" in fields and row.category == Category.INSTRUCTION and "trust" not in fields:
        fields["trust"] = Trust.CANDIDATE
    return fields
