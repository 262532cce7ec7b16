"""Imports as rows: uploads in parts, status, progress, and how far an archive has been restored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import log
from core.events.log import Announcement
from core.events.publishing import Author
from core.settings.limits import LimitReached, QuotaReached, TenantLimits
from core.storage.db import Tx, recordset, required_row
from core.types import Json

PART_BYTES: Final = 4 * 1024 * 1024
"""Bytes of each part of an upload but the last: read at once, by the API and by a worker."""

KEPT: Final = timedelta(days=1)
"""Time after which an upload that nobody goes on with, or that nobody restores, is deleted."""

RETRY_SECONDS: Final = 30
"""Retry-After at the limit of concurrent imports."""

COMPLETED: Final = "import.completed"
FAILED: Final = "import.failed"

INTERRUPTED: Final = Problem("", "was interrupted; send it again, and only what is missing is added")

ABANDONED: Final = "Nobody went on with it for a day, so the upload was deleted. Import again."


def open_upload(
    tx: Tx, tenant_id: str, user_id: str, size: int, sha256: str, author: Author, limits: TenantLimits
) -> Any:
    """Open an upload, and return its row; one of the same bytes for the same user that was interrupted goes on.

    LimitReached: too many imports are under way. QuotaReached: too many bytes are kept for them.
    """
    tx.execute(_LOCK, {"tenant": tenant_id})
    expire(tx)
    interrupted = tx.execute(_INTERRUPTED, {"user": user_id, "size": size, "sha256": sha256}).one_or_none()
    if interrupted is not None:
        return interrupted
    open_ones = tx.execute(_OPEN).one()
    if open_ones.number >= limits.imports:
        raise LimitReached("imports", limits.imports, RETRY_SECONDS)
    if open_ones.bytes + size > limits.import_bytes:
        raise QuotaReached("import_bytes", limits.import_bytes)
    values = {
        "tenant": tenant_id,
        "id": uuid7(),
        "user": user_id,
        "size": size,
        "sha256": sha256,
        "author": json.dumps(author.as_json()),
    }
    return tx.execute(_UPLOAD, values).one()


def add_part(tx: Tx, tenant_id: str, import_id: UUID, number: int, data: bytes) -> None:
    """Store a part of an upload; sent again, it replaces itself. Invalid: it has not the length that it must have."""
    row = _locked(tx, import_id)
    if row.status != "uploading":
        raise Conflict(f"The import is {row.status}; open another one.")
    expected = part_length(row.size, number)
    if len(data) != expected:
        detail = f"part {number} of this upload has {expected} bytes, not {len(data)}"
        raise Invalid([Problem("", detail if expected else f"there is no part {number} of {row.size} bytes")])
    tx.execute(_PART, {"tenant": tenant_id, "id": import_id, "number": number, "data": data})
    tx.execute(_TOUCH, {"id": import_id})


def start(tx: Tx, tenant_id: str, import_id: UUID) -> Any:
    """Ask the workers to restore an upload, and return its row. Conflict: parts of it are missing."""
    row = _locked(tx, import_id)
    if row.status != "uploading":
        return row
    missing = missing_parts(tx, row)
    if missing:
        parts = ", ".join(map(str, missing[:10]))
        raise Conflict(f"{len(missing)} parts have not arrived: {parts}{' …' if len(missing) > 10 else ''}. Send them.")  # noqa: PLR2004
    payload = {"user_id": row.user_id, "import_id": str(import_id)}
    log.announce(tx, tenant_id, [Announcement(str(import_id), "import.requested", datetime.now(UTC), payload)])
    return tx.execute(_START, {"id": import_id, "event": str(import_id), "source": log.SOURCE}).one()


def missing_parts(tx: Tx, row: Any) -> list[int]:
    """Return the numbers of the parts of an upload that have not arrived."""
    there = set(tx.execute(_NUMBERS, {"id": row.id}).scalars())
    return [number for number in range(-(-row.size // PART_BYTES)) if number not in there]


def part_length(size: int, number: int) -> int:
    """Return the bytes of a part of an upload; 0: there is none of this number."""
    return max(0, min(PART_BYTES, size - number * PART_BYTES)) if number >= 0 else 0


def part(tx: Tx, import_id: UUID, number: int) -> bytes:
    """Return a part of an upload. NotFound: it was deleted meanwhile."""
    data = tx.execute(_READ_PART, {"id": import_id, "number": number}).scalar_one_or_none()
    if data is None:
        raise NotFound(f"The upload of import {import_id} has been deleted.")
    return bytes(data)


def note(tx: Tx, tenant_id: str, user_id: str, group_id: str | None, formats: Sequence[str], author: Author) -> UUID:
    """Store an import whose events are accepted while the caller waits; return its id."""
    values = {
        "tenant": tenant_id,
        "id": uuid7(),
        "user": user_id,
        "group": group_id,
        "formats": list(formats),
        "author": json.dumps(author.as_json()),
    }
    return UUID(str(tx.execute(_NOTE, values).scalar_one()))


def get(tx: Tx, import_id: UUID) -> Any:
    """Return the row of one import. NotFound."""
    return required_row(tx, _GET, {"id": import_id}, f"There is no import {import_id} in this tenant.")


def find(tx: Tx, user_id: str | None, *, after: UUID | None = None, limit: int = 50) -> Sequence[Any]:
    """Return imports, newest first; `after`: the last id of the page before."""
    return tx.execute(_LIST, {"user": user_id, "after": after, "limit": limit}).all()


def cancel(tx: Tx, import_id: UUID) -> Any:
    """Stop an import and delete its upload; what it has restored stays. Returns its row; one that has ended stays."""
    get(tx, import_id)
    _end(tx, import_id, "cancelled", None, None)
    return get(tx, import_id)


def begin(tx: Tx, import_id: UUID) -> Any:
    """Mark an import as running, and return its row; None: it has ended, or is gone."""
    return tx.execute(_BEGIN, {"id": import_id}).one_or_none()


def require_current(tx: Tx, row: Any) -> None:
    """Raise Conflict if the cursor of an import is no longer where `row` has it; `advance` decides."""
    now = tx.execute(_CURSOR, {"id": row.id}).one_or_none()
    if now is None or (now.file, now.line) != (row.file, row.line):
        raise Conflict(_OVERTAKEN.format(row.id))


def advance(tx: Tx, row: Any, file: str, line: int, report: Json) -> None:
    """Move the cursor of an import from where `row` has it. Conflict: it was stopped, or another worker moved it."""
    values = {"id": row.id, "old_file": row.file, "old_line": row.line, "file": file, "line": line}
    values |= {"report": json.dumps(report, ensure_ascii=False)}
    if tx.execute(_ADVANCE, values).rowcount != 1:
        raise Conflict(_OVERTAKEN.format(row.id))


def finish(tx: Tx, import_id: UUID, status: str, report: Json | None, problems: Sequence[Problem] = ()) -> bool:
    """End an import and delete its upload; return False if it had ended before."""
    error = [{"pointer": problem.pointer, "detail": problem.detail} for problem in problems] or None
    return _end(tx, import_id, status, report, error)


def put_places(tx: Tx, tenant_id: str, import_id: UUID, file: str, places: Mapping[tuple[str, int], str]) -> None:
    """Store which message or memory an ordinal stands for."""
    rows = [{"session_id": session, "ordinal": n, "ref": ref} for (session, n), ref in places.items()]
    tx.execute(_PUT_PLACES, {"tenant": tenant_id, "id": import_id, "file": file, "rows": recordset(rows)})


def places(tx: Tx, import_id: UUID, file: str, references: Sequence[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Return what ordinals stand for; those of lines that were left out are missing."""
    values = recordset([{"session_id": session, "ordinal": n} for session, n in sorted(set(references))])
    rows = tx.execute(_PLACES, {"id": import_id, "file": file, "rows": values})
    return {(row.session_id, row.ordinal): row.ref for row in rows}


def taken(tx: Tx, import_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
    """Return those of the memories that a line of this import stands for already."""
    refs = tx.execute(_TAKEN, {"id": import_id, "refs": [str(memory_id) for memory_id in ids]}).scalars()
    return {UUID(ref) for ref in refs}


def expire(tx: Tx) -> int:
    """End imports that nobody has gone on with for a day; return how many."""
    rows = tx.execute(_STALE, {"seconds": KEPT.total_seconds()}).scalars().all()
    for import_id in rows:
        _end(tx, import_id, "failed", None, [{"pointer": "", "detail": ABANDONED}])
    return len(rows)


def _end(tx: Tx, import_id: UUID, status: str, report: Json | None, error: object) -> bool:
    values = {
        "id": import_id,
        "status": status,
        "report": None if report is None else json.dumps(report, ensure_ascii=False),
        "error": None if error is None else json.dumps(error, ensure_ascii=False),
    }
    ended = tx.execute(_END, values).rowcount == 1
    for statement in (_DELETE_PARTS, _DELETE_PLACES):
        tx.execute(statement, {"id": import_id})
    return ended


def _locked(tx: Tx, import_id: UUID) -> Any:
    tx.execute(_LOCK_ROW, {"id": import_id})
    return get(tx, import_id)


_COLUMNS = "tenant_id, id, user_id, group_id, formats, status, size, author"

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('imports of ' || :tenant, 0))")

_LOCK_ROW = text("SELECT FROM imports WHERE id = :id FOR UPDATE")

_GET = text("""
    SELECT i.*, (SELECT d.error FROM dispatches d
                 WHERE d.event_seq = i.event_seq AND d.status IN ('dead', 'cancelled')
                   AND NOT EXISTS (SELECT FROM dispatches edited WHERE edited.edit_of = d.id)
                 ORDER BY d.id DESC LIMIT 1) AS dead
    FROM imports i WHERE i.id = :id
""")
"""`dead`: why the workers have given up, if they have."""

_LIST = text("""
    SELECT i.*, NULL AS dead FROM imports i
    WHERE (cast(:user AS text) IS NULL OR user_id = :user) AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")

_INTERRUPTED = text("""
    SELECT *, NULL AS dead FROM imports
    WHERE user_id = :user AND status = 'uploading' AND size = :size AND sha256 = :sha256 ORDER BY id LIMIT 1
""")

_OPEN = text("""
    SELECT count(*) AS number, coalesce(sum(size), 0) AS bytes FROM imports WHERE ended_at IS NULL
      AND sha256 IS NOT NULL
""")

_UPLOAD = text("""
    INSERT INTO imports (tenant_id, id, user_id, formats, status, size, sha256, author)
    VALUES (:tenant, :id, :user, '{imprint}', 'uploading', :size, :sha256, cast(:author AS jsonb))
    RETURNING *, NULL AS dead
""")

_NOTE = text(f"""
    INSERT INTO imports ({_COLUMNS})
    VALUES (:tenant, :id, :user, :group, :formats, 'running', 0, cast(:author AS jsonb)) RETURNING id
""")

_PART = text("""
    INSERT INTO import_parts (tenant_id, import_id, number, data) VALUES (:tenant, :id, :number, :data)
    ON CONFLICT (tenant_id, import_id, number) DO UPDATE SET data = excluded.data
""")

_TOUCH = text("UPDATE imports SET updated_at = clock_timestamp() WHERE id = :id")

_NUMBERS = text("SELECT number FROM import_parts WHERE import_id = :id")

_READ_PART = text("SELECT data FROM import_parts WHERE import_id = :id AND number = :number")

_START = text("""
    UPDATE imports SET status = 'pending', updated_at = clock_timestamp(),
                       event_seq = (SELECT seq FROM events WHERE id = :event AND source = :source)
    WHERE id = :id RETURNING *, NULL AS dead
""")

_BEGIN = text("""
    UPDATE imports SET status = 'running', updated_at = clock_timestamp()
    WHERE id = :id AND status IN ('pending', 'running') RETURNING *
""")

_OVERTAKEN: Final = "Import {} was stopped, or another worker goes on with it."

_CURSOR = text("SELECT file, line FROM imports WHERE id = :id AND status = 'running'")

_ADVANCE = text("""
    UPDATE imports SET file = :file, line = :line, report = cast(:report AS jsonb), updated_at = clock_timestamp()
    WHERE id = :id AND status = 'running' AND file = :old_file AND line = :old_line
""")

_END = text("""
    UPDATE imports SET status = :status, report = coalesce(cast(:report AS jsonb), report),
                       error = cast(:error AS jsonb), ended_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = :id AND ended_at IS NULL
""")

_DELETE_PARTS = text("DELETE FROM import_parts WHERE import_id = :id")

_DELETE_PLACES = text("DELETE FROM import_places WHERE import_id = :id")

_PUT_PLACES = text("""
    INSERT INTO import_places (tenant_id, import_id, file, session_id, ordinal, ref)
    SELECT :tenant, :id, :file, session_id, ordinal, ref
    FROM json_to_recordset(cast(:rows AS json)) AS r (session_id text, ordinal int, ref text)
""")

_PLACES = text("""
    SELECT p.session_id, p.ordinal, p.ref
    FROM json_to_recordset(cast(:rows AS json)) AS r (session_id text, ordinal int)
    JOIN import_places p ON p.import_id = :id AND p.file = :file AND p.session_id = r.session_id
                        AND p.ordinal = r.ordinal
""")

_TAKEN = text("SELECT ref FROM import_places WHERE import_id = :id AND file = 'memories' AND ref = ANY(:refs)")

_STALE = text("""
    SELECT id FROM imports
    WHERE ended_at IS NULL AND updated_at < clock_timestamp() - make_interval(secs => :seconds) LIMIT 100
""")
