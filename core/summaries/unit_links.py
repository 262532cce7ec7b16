"""Links between units and memories, read from the messages that both rest on; nothing is stored for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.memory import memories
from core.storage.db import Tx
from core.summaries.units import FIRST, SAME
from core.types import Category

MOST: Final = 200
"""Links of each kind that are shown, the newest ones."""


@dataclass(frozen=True, slots=True)
class UnitLinks:
    """Memories drawn from a unit's messages, and episodes that retell them."""

    memory_ids: Sequence[UUID]
    episode_ids: Sequence[UUID]


def of_unit(tx: Tx, unit_id: UUID, seen_by: str | None = None) -> UnitLinks:
    """Return the active memories and episodes of a unit; `seen_by`: those of this user and of the unit's group."""
    values = {"id": unit_id, "seen_by": seen_by, "most": MOST, "episode": Category.EPISODE.value}
    drawn = tx.execute(_DRAWN, values).scalars().all()
    retelling = tx.execute(_RETELLING, values).scalars().all()
    return UnitLinks(drawn, retelling)


def of_memory(tx: Tx, memory_id: UUID) -> list[UUID]:
    """Return the units that contain the messages which a memory cites; of an episode all units that it retells."""
    return list(tx.execute(_UNITS, {"id": memory_id, "most": MOST, "episode": Category.EPISODE.value}).scalars())


_THEIRS = "(cast(:seen_by AS text) IS NULL OR k.user_id = :seen_by OR k.group_id = u.group_id)"

_ACTIVE = memories.ACTIVE_SQL.replace("m.", "k.")

_DRAWN = text(f"""
    SELECT DISTINCT k.id FROM units u {FIRST}
    JOIN messages m ON m.session_id = u.session_id AND m.position BETWEEN u.from_position AND u.to_position AND {SAME}
    JOIN evidence e ON e.session_id = m.session_id AND e.message_id = m.id
    JOIN memories k ON k.id = e.memory_id AND k.category <> :episode AND {_ACTIVE}
    WHERE u.id = :id AND {_THEIRS} ORDER BY k.id DESC LIMIT :most
""")

_RETELLING = text(f"""
    SELECT DISTINCT k.id FROM units u
    JOIN evidence e ON e.session_id = u.session_id
    JOIN memories k ON k.id = e.memory_id AND k.category = :episode AND {_ACTIVE}
                    AND k.group_id IS NOT DISTINCT FROM u.group_id
    WHERE u.id = :id AND {_THEIRS} ORDER BY k.id DESC LIMIT :most
""")
"""An episode retells what all heard of a session, and cites a few messages of it."""

_UNITS = text(f"""
    SELECT id FROM (
        SELECT u.id, u.session_id, u.from_position FROM memories k
        JOIN evidence e ON e.memory_id = k.id
        JOIN messages m ON m.session_id = e.session_id AND m.id = e.message_id
        JOIN units u ON u.session_id = m.session_id AND m.position BETWEEN u.from_position AND u.to_position {FIRST}
                     AND {SAME}
        WHERE k.id = :id AND k.category <> :episode
        UNION
        SELECT u.id, u.session_id, u.from_position FROM memories k
        JOIN evidence e ON e.memory_id = k.id
        JOIN units u ON u.session_id = e.session_id AND u.group_id IS NOT DISTINCT FROM k.group_id {FIRST}
        WHERE k.id = :id AND k.category = :episode AND (u.group_id IS NOT NULL OR f.user_id = k.user_id)
    ) AS covering
    ORDER BY session_id, from_position LIMIT :most
""")
