"""Announces edited files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text

from core.events import log
from core.events.log import Announcement
from core.mirror import files, markdown
from core.mirror.files import FileState
from core.mirror.front_matter import UnreadableFile
from core.storage.db import Tx, recordset
from core.types import Json


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A possibly edited file, as read."""

    user_id: str
    file: str
    seen: FileState


def user_of(path: Path, seen: FileState) -> str | None:
    """Return the user of a file; None: neither its folder nor its front matter names one."""
    named = files.user_of_folder(path.parent.name)
    if named is not None:
        return named
    try:
        user = markdown.parse(seen.text).front.values.get("user")
    except UnreadableFile:
        return None
    return user if user is not None and files.folder_name(user) == path.parent.name else None


def announce(tx: Tx, tenant_id: str, edits: Sequence[FileEdit]) -> int:
    """Announce one tenant's files that differ from the agreed state as `mirror.edited`; return how many were new.

    The same save always leads to the same event, however often and by whomever it is noticed.
    """
    if not edits:
        return 0
    rows = [{"n": n, "user_id": e.user_id, "file": e.file, "md5": _md5(e.seen.text)} for n, e in enumerate(edits)]
    edited = tx.execute(_EDITED, {"tenant": tenant_id, "rows": recordset(rows)}).scalars()
    return log.announce(tx, tenant_id, [_announcement(edits[n]) for n in edited])


def _announcement(edit: FileEdit) -> Announcement:
    save = f"{edit.user_id}\n{edit.file}\n{edit.seen.stamp[0]}\n{edit.seen.digest}"
    event_id = f"mirror-{hashlib.sha256(save.encode()).hexdigest()[:32]}"
    payload: Json = {"user_id": edit.user_id, "file": edit.file}
    return Announcement(event_id, "mirror.edited", datetime.now(UTC), payload, f"user:{edit.user_id}")


def _md5(content: str) -> str:
    return hashlib.md5(content.encode(), usedforsecurity=False).hexdigest()


_EDITED = text("""
    SELECT f.n FROM json_to_recordset(cast(:rows AS json)) AS f (n int, user_id text, file text, md5 text)
    LEFT JOIN mirrors a ON a.user_id = f.user_id AND a.file = f.file
    WHERE EXISTS (SELECT FROM tenants WHERE id = :tenant) AND md5(a.content) IS DISTINCT FROM f.md5
    ORDER BY f.n
""")
"""Files that differ from the agreed state. PostgreSQL computes MD5; nothing depends on its strength."""
