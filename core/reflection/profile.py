"""Profile rows: build, refresh, read.

A group's profile is based only on what was said in that group, not on what members said elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.entities import reading as entities
from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.memory import memories, writer
from core.reflection import profile_attributes
from core.storage.db import Database, Tx
from core.types import Json

READ: Final = 10_000
"""Newest memories used for a profile: the default limit of a user."""

ATTEMPTS: Final = 3
"""Attempts to build a profile for a waiting request while memories change."""

GROUPS: Final = 20
"""Groups whose profiles are updated after a user's; the rest follow with the next event."""

GRACE: Final = timedelta(seconds=30)
"""Time before a build during which a change may have begun that was not committed and therefore not visible."""


@dataclass(frozen=True, slots=True)
class ProfileOwner:
    """Owner of a profile: a user or a group."""

    user_id: str | None = None
    group_id: str | None = None

    @property
    def key(self) -> str:
        """The name of the profile's row."""
        return f"group:{self.group_id}" if self.group_id is not None else f"user:{self.user_id}"

    def as_json(self) -> Json:
        return {"group_id": self.group_id} if self.group_id is not None else {"user_id": self.user_id}


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A stored profile.

    `built_at`: when it was last found to be correct. `until`: when the first of its memories expires.
    """

    version: int
    attributes: Json
    built_at: datetime
    until: datetime | None

    def lapsed(self, now: datetime) -> bool:
        return self.until is not None and self.until <= now


@dataclass(frozen=True, slots=True)
class PendingProfile:
    """A new version of a profile over the one it follows (0: none), ready to be written."""

    tenant_id: str
    owner: ProfileOwner
    seen: int
    before: Json
    attributes: Json
    until: datetime | None
    at: datetime

    def write(self, tx: Tx, author: Author) -> Json:
        """Store it if it differs, and announce the changes. Conflict: its sources have changed."""
        document = _document(self.attributes, self.until)
        if document == self.before:
            tx.execute(_RIGHT, {"owner": self.owner.key, "seen": self.seen, "at": self.at})
            return {**self.owner.as_json(), "version": self.seen, "changed": []}
        if self.owner.user_id is not None:
            writer.lock(tx, self.tenant_id, self.owner.user_id)
        self._refuse_overtaken(tx)
        version = self._put(tx, document)
        names = profile_attributes.changed_names(_attributes(self.before), self.attributes)
        payload = {**self.owner.as_json(), "version": version, "changed": names}
        publishing.publish(tx, self.tenant_id, author, [Emission("profile.updated", payload, subject=self.owner.key)])
        return payload

    def _refuse_overtaken(self, tx: Tx) -> None:
        ids = [UUID(memory_id) for memory_id in profile_attributes.memory_ids_in(self.attributes)]
        if tx.execute(_STILL, {"ids": ids}).scalar_one() != len(ids):
            raise Conflict("A memory of this profile has been changed while it was built.")

    def _put(self, tx: Tx, document: Json) -> int:
        values = {
            "tenant": self.tenant_id,
            "owner": self.owner.key,
            "attributes": json.dumps(document, ensure_ascii=False),
            "at": self.at,
            "seen": self.seen,
        }
        version = tx.execute(_REPLACE if self.seen else _FIRST, values).scalar_one_or_none()
        if version is None:
            raise Conflict("Another worker has built this profile in the meantime.")
        return int(version)


def get(tx: Tx, owner: ProfileOwner) -> StoredProfile | None:
    """Return the stored profile by one read of one row; None: none was built yet."""
    row = tx.execute(_GET, {"owner": owner.key}).one_or_none()
    if row is None:
        return None
    until = row.attributes.get("until")
    return StoredProfile(
        row.version, _attributes(row.attributes), row.built_at, datetime.fromisoformat(until) if until else None
    )


def restore(tx: Tx, tenant_id: str, owner: ProfileOwner, version: int, document: Json) -> bool:
    """Store a profile of an archive unless the owner has one; return whether it was stored.

    `document`: attributes that name memories by their ids, and when the first of these expires. Nothing is announced.
    """
    values = {
        "tenant": tenant_id,
        "owner": owner.key,
        "version": version,
        "attributes": json.dumps(document, ensure_ascii=False),
    }
    return tx.execute(_RESTORE, values).rowcount == 1


def build(db: Database, tenant_id: str, owner: ProfileOwner, now: datetime | None = None) -> PendingProfile:
    """Build a profile from the owner's active memories; nothing is written yet."""
    moment = now or memories.now()
    with db.tenant(tenant_id) as tx:
        stored = get(tx, owner)
        rows, own = _read(tx, owner, moment)
        people = entities.directory(tx, owner.user_id) if owner.user_id is not None else None
    traits = [profile_attributes.trait(row, moment) for row in rows]
    if people is None:
        attributes = profile_attributes.of_group(traits)
    else:
        attributes = profile_attributes.of_user(traits, own, lambda subject: people.bearer_of(subject) or subject)
    before = _document(stored.attributes, stored.until) if stored else {}
    return PendingProfile(
        tenant_id, owner, stored.version if stored else 0, before, attributes, profile_attributes.lapses(traits), moment
    )


def current(
    db: Database,
    tenant_id: str,
    owner: ProfileOwner,
    author: Author,
    *,
    fresh: bool = False,
    keep: bool = True,
    now: datetime | None = None,
) -> StoredProfile | None:
    """Return the profile, built now if `fresh` is set, it has expired or was never built. None: nothing is known.

    Without `keep` a built profile is returned without storing or announcing it. Conflict: the owner's memories kept
    changing while it was built.
    """
    moment = now or memories.now()
    with db.tenant(tenant_id) as tx:
        stored = get(tx, owner)
    if stored is not None and not fresh and not stored.lapsed(moment):
        return stored
    for left in reversed(range(ATTEMPTS)):
        built = build(db, tenant_id, owner, moment)
        if not keep:
            return StoredProfile(built.seen, built.attributes, built.at, built.until)
        try:
            with db.tenant(tenant_id) as tx:
                built.write(tx, author)
                return get(tx, owner)
        except Conflict:
            if not left:
                raise
    raise AssertionError


def groups_behind(tx: Tx, user_id: str) -> Sequence[str]:
    """Return groups with changes of the user since their profile was built, latest first."""
    return tx.execute(_GROUPS_BEHIND, {"user": user_id, "grace": GRACE, "limit": GROUPS}).scalars().all()


def _read(tx: Tx, owner: ProfileOwner, now: datetime) -> tuple[Sequence[Any], frozenset[str]]:
    """Read the memories that are active and valid at a moment, and the names by which a user calls themselves."""
    values = {"user": owner.user_id, "group": owner.group_id, "now": now, "limit": READ}
    if owner.group_id is not None:
        return tx.execute(_OF_GROUP, values).all(), frozenset()
    rows = tx.execute(_OF_USER, values).all()
    spoken = {str(owner.user_id), *tx.execute(_SPEAKS_AS, values).scalars()}
    folded = {name.casefold() for name in spoken}
    return rows, frozenset(row.subject for row in rows if row.subject.casefold() in folded)


def _document(attributes: Json, until: datetime | None) -> Json:
    """Return the profile as stored; None if it is empty."""
    return {**attributes, **({"until": until.isoformat()} if until and attributes else {})}


def _attributes(document: Json) -> Json:
    return {name: part for name, part in document.items() if name != "until"}


_GET = text("SELECT version, attributes, built_at FROM profiles WHERE owner = :owner")

_RESTORE = text("""
    INSERT INTO profiles (tenant_id, owner, version, attributes)
    VALUES (:tenant, :owner, :version, cast(:attributes AS jsonb)) ON CONFLICT DO NOTHING
""")

_FIRST = text("""
    INSERT INTO profiles (tenant_id, owner, version, attributes, built_at)
    VALUES (:tenant, :owner, 1, cast(:attributes AS jsonb), :at)
    ON CONFLICT DO NOTHING RETURNING version
""")

_REPLACE = text("""
    UPDATE profiles SET version = version + 1, attributes = cast(:attributes AS jsonb), built_at = :at
    WHERE owner = :owner AND version = :seen RETURNING version
""")
"""An update instead of an insert: a profile deleted with its user must not return."""

_RIGHT = text("UPDATE profiles SET built_at = :at WHERE owner = :owner AND version = :seen")

_STILL = text(f"""
    SELECT count(*) FROM memories m
    WHERE m.id = ANY(:ids) AND m.audience_labels = '{{}}' AND {memories.ACTIVE_SQL}
""")

_COLUMNS = """
    m.id, m.user_id, m.subject, m.category, m.topic, m.content, m.structured, m.attribute, m.value, m.confidence,
    m.trust, m.valid_from, m.valid_to, m.occurred_at, m.expires_at, m.recorded_at, m.last_used_at, m.fade_height,
    m.fade_floor, m.fade_half_life
"""

_HOLDS = f"{memories.ACTIVE_SQL} AND (m.valid_to IS NULL OR m.valid_to > :now) AND m.audience_labels = '{{}}'"
"""A profile is for everybody who may read of its owner: it tells nothing that has audience labels."""

_OF_USER = text(
    f"SELECT {_COLUMNS} FROM memories m WHERE m.user_id = :user AND {_HOLDS} ORDER BY m.id DESC LIMIT :limit"
)

_SPEAKS_AS = text(f"""
    SELECT DISTINCT m.subject FROM memories m
    JOIN evidence e ON e.memory_id = m.id
    JOIN messages s ON s.session_id = e.session_id AND s.id = e.message_id
    WHERE m.user_id = :user AND {memories.ACTIVE_SQL}
      AND s.role = 'user' AND s.user_id = :user AND coalesce(s.speaker, s.user_id) = m.subject
""")
"""Subjects of memories that cite a message which the user spoke under that name."""

_OF_GROUP = text(f"""
    SELECT {_COLUMNS} FROM memories m
    WHERE m.group_id = :group AND {_HOLDS} AND NOT EXISTS (
        SELECT FROM evidence e
        LEFT JOIN messages s ON s.session_id = e.session_id AND s.id = e.message_id
        WHERE e.memory_id = m.id AND e.session_id <> '' AND s.group_id IS DISTINCT FROM :group
          AND NOT EXISTS (SELECT FROM memory_versions v
                          WHERE v.memory_id = m.id AND v.change_id = e.change_id AND v.change = 'confirm'))
    ORDER BY m.id DESC LIMIT :limit
""")
"""Memories worded from the group only; other evidence has only confirmed them."""

_GROUPS_BEHIND = text("""
    SELECT m.group_id FROM memories m LEFT JOIN profiles p ON p.owner = 'group:' || m.group_id
    WHERE m.user_id = :user AND m.group_id IS NOT NULL
    GROUP BY m.group_id, p.built_at HAVING p.built_at IS NULL OR max(m.updated_at) > p.built_at - :grace
    ORDER BY max(m.updated_at) DESC LIMIT :limit
""")
