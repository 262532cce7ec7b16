"""Last agreed state of both sides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.config import Settings
from core.memory.memories import ACTIVE_SQL
from core.mirror import arrangement, files, front_matter, markdown
from core.mirror.arrangement import Memory
from core.mirror.files import FileState
from core.mirror.front_matter import FORMAT, UnreadableFile
from core.mirror.markdown import FILES, Document, FilePlace, ShownMemory
from core.storage.db import Tx
from core.types import Category, Topic, Trust


@dataclass(frozen=True, slots=True)
class Mirror:
    """A user's mirror and its parent folder."""

    root: Path
    tenant_id: str
    user_id: str

    @property
    def folder(self) -> Path:
        return files.folder(self.root, self.tenant_id, self.user_id)

    def path(self, file: str) -> Path:
        return self.folder / file

    def names(self, file: str) -> dict[str, str]:
        """Return the names that the front matter of its files must have."""
        return {"format": FORMAT, "tenant": self.tenant_id, "user": self.user_id, "file": file}


@dataclass(frozen=True, slots=True)
class AgreedFile:
    """A file as both sides last agreed on it, and the version of each memory in it."""

    text: str
    versions: Mapping[UUID, int]


@dataclass(frozen=True, slots=True)
class SyncState:
    """The state of a user's mirror, read at once.

    `then` and `now`: the parsed files, as agreed on and current; missing and refused files count as unchanged.
    `refused`: unreadable files and the reasons.
    """

    seen: Mapping[str, FileState | None]
    agreed: Mapping[str, AgreedFile]
    then: Mapping[str, Document]
    now: Mapping[str, Document]
    refused: Mapping[str, str]
    memories: Mapping[UUID, Memory]

    @property
    def versions(self) -> dict[UUID, int]:
        return {memory_id: n for agreed in self.agreed.values() for memory_id, n in agreed.versions.items()}

    @property
    def readable(self) -> list[str]:
        """Return the files that exist and can be read."""
        return [file for file in FILES if self.seen.get(file) is not None and file not in self.refused]


def of(settings: Settings, tenant_id: str, user_id: str) -> Mirror | None:
    """Return a user's mirror; None: no folder is configured."""
    if settings.mirror_dir is None:
        return None
    return Mirror(settings.mirror_dir.absolute(), tenant_id, user_id)


def load(tx: Tx, mirror: Mirror) -> SyncState:
    """Read the current state. Later: a file is being written."""
    seen, refused = _files(mirror)
    agreed = {
        row.file: AgreedFile(row.content, _versions(row)) for row in tx.execute(_AGREED, {"user": mirror.user_id})
    }
    then = {file: markdown.parse(agreed[file].text) for file in FILES if file in agreed}
    now = dict[str, Document]()
    for file in FILES:
        now[file] = then[file] if file in then else arrangement.fresh(file, names(mirror, file, 0))
        file_state = seen.get(file)
        if file_state is None:
            continue
        if file in then and file_state.text == agreed[file].text:
            continue
        try:
            now[file] = _parse(file_state.text, mirror.names(file))
        except UnreadableFile as error:
            refused[file] = error.detail
    memory_ids = {line.id for document in (*then.values(), *now.values()) for _, line in document.lines() if line.id}
    return SyncState(seen, agreed, then, now, refused, memories_of(tx, mirror.user_id, memory_ids))


def names(mirror: Mirror, file: str, memories: int, at: datetime | None = None) -> dict[str, str]:
    """Return the values that the service writes into the front matter of a file."""
    moment = (at or datetime.now(UTC)).replace(microsecond=0)
    return {**mirror.names(file), "memories": str(memories), "generated": moment.isoformat().replace("+00:00", "Z")}


def memories_of(tx: Tx, user_id: str, also: Iterable[UUID] = ()) -> dict[UUID, Memory]:
    """Return a user's active memories, and those of the other ids."""
    rows = tx.execute(_MEMORIES, {"user": user_id, "also": list(also)})
    return {row.id: _memory(row) for row in rows}


def agree(tx: Tx, mirror: Mirror, file: str, content: str, versions: Mapping[UUID, int]) -> None:
    """Store the state that both sides agree on."""
    kept = json.dumps({str(memory_id): version for memory_id, version in versions.items()})
    values = {"tenant": mirror.tenant_id, "user": mirror.user_id, "file": file, "content": content, "versions": kept}
    tx.execute(_AGREE, values)


def _files(mirror: Mirror) -> tuple[dict[str, FileState | None], dict[str, str]]:
    seen, refused = dict[str, FileState | None](), dict[str, str]()
    for file in FILES:
        try:
            seen[file] = files.read(mirror.path(file))
        except UnreadableFile as error:
            refused[file] = error.detail
    return seen, refused


def _parse(text_of_file: str, expected: Mapping[str, str]) -> Document:
    document = markdown.parse(text_of_file)
    front_matter.require(document.front, expected)
    return document


def _versions(row: Any) -> dict[UUID, int]:
    return {UUID(memory_id): int(version) for memory_id, version in row.versions.items()}


def _memory(row: Any) -> Memory:
    tags = tuple(tag for tag in row.tags if tag)
    disputed = row.trust == Trust.DISPUTED
    importance = round(float(row.importance), markdown.DECIMALS)
    return Memory(
        id=row.id,
        version=row.version,
        displayed=ShownMemory(row.content, importance, tags, row.pinned, disputed),
        group=FilePlace(Category(row.category), Topic(row.topic)),
        standing=row.standing,
        status=row.status,
        subject=row.subject,
        key=row.statement_key,
        attribute=row.attribute,
        value=row.value,
    )


_AGREED = text("SELECT file, content, versions FROM mirrors WHERE user_id = :user")

_MEMORIES = text(f"""
    SELECT m.id, m.version, m.content, m.importance, m.tags, m.pinned, m.trust, m.category, m.topic, m.status,
           m.subject, m.statement_key, m.attribute, m.value, m.confidence, ({ACTIVE_SQL}) AS standing
    FROM memories m WHERE m.user_id = :user AND (({ACTIVE_SQL}) OR m.id = ANY(cast(:also AS uuid[])))
""")

_AGREE = text("""
    INSERT INTO mirrors (tenant_id, user_id, file, content, versions)
    VALUES (:tenant, :user, :file, :content, cast(:versions AS jsonb))
    ON CONFLICT (tenant_id, user_id, file) DO UPDATE
    SET content = excluded.content, versions = excluded.versions, synced_at = clock_timestamp()
""")
