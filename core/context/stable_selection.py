"""Stable selection of a session, for prompt caching.

Each turn finds other memories. Shown in the middle of the context, they would invalidate a model's cache of all that
follows; so the first selection stays, and what a later question needs comes at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Tx


@dataclass(frozen=True, slots=True)
class StableSelection:
    """Memories by id and passages as `<document>#<passage>@<version>`, in display order.

    `from_position`: the first message shown in full; when it changes, everything is selected again. `instructions`:
    memory ids in order; `profile`: memory ids that identify its lines and their values.
    """

    from_position: int
    memory_ids: Sequence[UUID]
    passages: Sequence[str]
    instructions: Sequence[UUID] = field(default_factory=list)
    profile: Sequence[str] = field(default_factory=list)


def get(tx: Tx, session_id: str, reader: str) -> StableSelection | None:
    """Return the selection for a reader of a session; None: there is none yet."""
    row = tx.execute(_GET, {"session": session_id, "reader": reader}).one_or_none()
    if row is None:
        return None
    return StableSelection(row.from_position, row.memory_ids, row.passages, row.instruction_ids, row.profile)


def keep(tx: Tx, tenant_id: str, session_id: str, reader: str, chosen: StableSelection) -> None:
    """Store the selection. Of two at once the later one stays: each is as good as the other."""
    values = {
        "tenant": tenant_id,
        "session": session_id,
        "reader": reader,
        "position": chosen.from_position,
        "memories": list(chosen.memory_ids),
        "passages": list(chosen.passages),
        "instructions": list(chosen.instructions),
        "profile": list(chosen.profile),
    }
    tx.execute(_KEEP, values)


_GET = text("SELECT * FROM contexts WHERE session_id = :session AND reader = :reader")

_KEEP = text("""
    INSERT INTO contexts (tenant_id, session_id, reader, from_position, memory_ids, passages, instruction_ids, profile)
    SELECT :tenant, id, :reader, :position, cast(:memories AS uuid[]), cast(:passages AS text[]),
           cast(:instructions AS uuid[]), cast(:profile AS text[])
    FROM sessions WHERE id = :session
    ON CONFLICT (tenant_id, session_id, reader) DO UPDATE SET
        from_position = excluded.from_position, memory_ids = excluded.memory_ids, passages = excluded.passages,
        instruction_ids = excluded.instruction_ids, profile = excluded.profile, at = clock_timestamp()
""")
"""Only for an existing session: nothing is stored for one that was erased concurrently."""
