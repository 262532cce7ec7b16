"""Subjects of statements under the name in use: what is said of "my mother" and of Evelyn is said of one person."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import text

from core.entities import reading
from core.entities.resolution import Entity
from core.memory.memories import ACTIVE_SQL
from core.storage.db import Database

READ = 1_000
"""Subjects of a user's memories, those of most memories, among which the name in use is looked for."""


def in_use(db: Database, tenant_id: str, user_id: str, subjects: Iterable[str]) -> dict[str, str]:
    """Return the subjects that memories have under another name, each with that of most memories."""
    others = {subject for subject in subjects if subject.casefold() != user_id.casefold()}
    if not others:
        return {}
    directory = reading.of_answers(user_id, db.ask(tenant_id, *reading.asking(user_id)))
    bearers = {subject: entity for subject in others if (entity := directory.bearer_of(subject)) is not None}
    if not any(len(entity.spans) > 1 for entity in bearers.values()):
        return {}
    used = [row.subject for row in db.ask(tenant_id, (_SUBJECTS, {"user": user_id, "most": READ}))[0]]
    first: dict[Entity, str] = {}
    for subject in used:
        if (entity := directory.bearer_of(subject)) is not None:
            first.setdefault(entity, subject)
    return {
        subject: first[entity]
        for subject, entity in bearers.items()
        if entity in first and first[entity] != subject and subject not in used
    }


_SUBJECTS = text(f"""
    SELECT m.subject FROM memories m WHERE m.user_id = :user AND {ACTIVE_SQL}
    GROUP BY m.subject ORDER BY count(*) DESC, m.subject LIMIT :most
""")
