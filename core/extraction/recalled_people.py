"""People named in the memories of a user, but for those with audience labels, for reading their next conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from sqlalchemy import text

from core.extraction.known_people import Acquaintance, AcquaintancesByUser, people_in
from core.memory import memories
from core.storage.db import Tx
from core.types import Message

MOST: Final = 400
"""Memories of one user that are looked through, the latest first."""


def acquaintances(tx: Tx, messages: Sequence[Message]) -> dict[str | None, AcquaintancesByUser]:
    """Return the acquaintances of all speakers by group; a name given in one group is unknown in another."""
    speakers = dict.fromkeys((message.group_id, message.user_id) for message in messages if message.role == "user")
    people: defaultdict[str | None, dict[str, list[Acquaintance]]] = defaultdict(dict)
    for group, user in speakers:
        rows = tx.execute(_TOLD_OF_OTHERS, {"user": user, "group": group, "most": MOST})
        named_people = [
            person
            for row in rows
            for person in people_in(row.attribute, row.value, row.subject, row.structured, row.content)
        ]
        people[group][user] = list(dict.fromkeys(named_people))
    return dict(people)


_TOLD_OF_OTHERS = text(f"""
    SELECT m.attribute, m.value, m.subject, m.structured, m.content FROM memories m
    WHERE m.user_id = :user AND m.group_id IS NOT DISTINCT FROM cast(:group AS text) AND {memories.ACTIVE_SQL}
      AND m.audience_labels = '{{}}'
    ORDER BY m.recorded_at DESC LIMIT :most
""")
