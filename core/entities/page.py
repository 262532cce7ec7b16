"""Everything that is remembered of somebody, by time, under whatever name it was said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import text

from core.entities import mentions, reading, resolution, written
from core.entities.resolution import Directory, Entity
from core.errors import NotFound
from core.language import introductions
from core.memoize import memo_scope
from core.statements import quotation
from core.storage.db import Tx

SEARCHED: Final = 2_000
"""Memories that one page looks through."""


class Place(NamedTuple):
    """A place in the list: since when a memory is true, and its id."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Whom a name means, and memories that mention them, the latest first. `following`: behind which there are more."""

    entity: Entity
    rows: Sequence[Any]
    following: Place | None


def about(tx: Tx, user_id: str, name: str, after: Place | None, limit: int) -> EntityPage:
    """Return a page of the memories about whom a name means. NotFound: nothing mentions them.

    A page looks through `SEARCHED` memories, so that it may be short and yet not the last.
    """
    (form,) = written.forms({"/name": name})
    directory = reading.directory(tx, user_id)
    entity = directory.find(form)
    if entity is None:
        entity = Entity()
        directory.add(entity, [form], resolution.NEVER)
    begins = {"at": after and after.at, "after": after and after.id}
    values = {"user": user_id, "words": _words(entity), "searched": SEARCHED, **begins}
    matching = tx.execute(_ABOUT, values)
    with memo_scope():
        rows = list(islice((row for row in matching if _is_about(directory, entity, row)), limit + 1))
    if len(rows) > limit:
        last = rows[limit - 1]
        return EntityPage(entity, rows[:limit], Place(last.at, last.id))
    looked = tx.execute(_LOOKED, values).one_or_none()
    if not rows and after is None and looked is None and entity.last == resolution.NEVER:
        raise NotFound("Nothing is known under this name.")
    return EntityPage(entity, rows, Place(looked.at, looked.id) if looked else None)


def _is_about(directory: Directory, entity: Entity, row: Any) -> bool:
    """Return whether a memory mentions somebody; what was said before it counts where it names nobody itself."""
    quoted = quotation.read(row.content)
    own = quoted.words if quoted else f"{row.subject}: {row.content}"
    mentioned = mentions.of(directory, own, row.at) or mentions.of(directory, row.content, row.at)
    return any(mention.entity is entity for mention in mentioned)


def _words(entity: Entity) -> list[str]:
    """Return words of which each memory about somebody has one, in lower case."""
    named = [part for name in entity.names for part in (name, *introductions.short_forms(name))]
    nouns = introductions.nouns({resolution.role_of(form) for form in entity.roles})
    return sorted({part.lower() for part in (*named, *nouns)})


_LISTED: Final = """
    SELECT m.id, coalesce(m.valid_from, m.occurred_at) AS at FROM memories m
    WHERE m.user_id = :user AND m.status IN ('active', 'superseded', 'archived')
      AND m.trust NOT IN ('quarantined', 'rejected')
      AND (cast(:after AS uuid) IS NULL
           OR (coalesce(m.valid_from, m.occurred_at), m.id) < (cast(:at AS timestamptz), cast(:after AS uuid)))
    ORDER BY coalesce(m.valid_from, m.occurred_at) DESC, m.id DESC
"""

_ABOUT = text(f"""
    SELECT m.*, looked.at FROM ({_LISTED} LIMIT :searched) AS looked JOIN memories m ON m.id = looked.id
    WHERE EXISTS (SELECT FROM unnest(cast(:words AS text[])) AS w (word)
                  WHERE strpos(lower(m.subject || ' ' || m.content), w.word) > 0)
    ORDER BY looked.at DESC, looked.id DESC
""")

_LOOKED = text(f"{_LISTED} LIMIT 1 OFFSET :searched - 1")
"""The last that was looked through; none if all were."""
