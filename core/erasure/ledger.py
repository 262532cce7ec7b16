"""Erasures on record, to be repeated on a database that was restored to a time before them.

A record is JSON lines without words of what was erased: signed receipts (their subject is a salted hash), tombstones,
and ids of sessions, documents, memories and blanked messages. The restored database has the same salts, so it finds the
subject of a receipt among its own users, groups and memories.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import islice
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.config import Settings
from core.documents import documents
from core.erasure import group, memory, passages, resumption, session, user
from core.erasure.memory import Erased
from core.erasure.resumption import Resumed
from core.errors import Conflict, Misconfigured, NotFound
from core.events.publishing import Author
from core.memory import receipts, tombstones
from core.memory.receipts import Receipt
from core.statements.redaction import ERASED
from core.storage.db import Database, Tx, plain
from core.types import Json

FORMAT: Final = "imprint-erasures/1"
AUTHOR: Final = Author("restore")

OVERLAP: Final = timedelta(days=1)
"""Recorded beyond the time in question, because a row's time is before its commit: what the restored database has
already erased is recognised. Events that say what was erased are kept as long as records reach back, and this longer.
"""

BATCH: Final = 1_000
ATTEMPTS: Final = 5
NAMED: Final = 20
"""Users, groups, sessions and memories that an error names."""


@dataclass(frozen=True, slots=True)
class _Restored:
    """The restored database: settings of the core, and the subjects of receipts by tenant and scope.

    `in_use`: something has been at work on it since. `resumed`: whose erasures are left to a person because of that.
    """

    settings: Settings
    in_use: bool = False
    subjects: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    resumed: list[str] = field(default_factory=list)

    def find(self, tx: Tx, tenant_id: str, scope: str, subject_hash: str) -> str | None:
        """Return the user, group or memory that a receipt is about; None if the database did not hold it."""
        key = tenant_id, scope
        if key not in self.subjects:
            candidates = (str(subject) for subject in tx.execute(_CANDIDATES[scope]).scalars())
            hashed = tombstones.digests(tx, tenant_id, scope, candidates)
            self.subjects[key] = {digest: subject for subject, digest in hashed}
        return self.subjects[key].get(subject_hash)

    def is_left(self, tx: Tx, kind: str, name: str, at: str | None) -> bool:
        """Return whether something is there from before an erasure; a record of an earlier version has no times."""
        if not self.in_use or at is None:
            return True
        return resumption.is_left(tx, kind, name, datetime.fromisoformat(at))


def record(app: Database, tenants: Iterable[str], since: datetime) -> Iterator[str]:
    """Yield the lines of the record of what was erased since a day before this time."""
    begin = since - OVERLAP
    yield _line({"format": FORMAT, "since": begin.isoformat()})
    for tenant_id in tenants:
        with app.tenant(tenant_id) as tx:
            for kind, query in _QUERIES.items():
                for row in tx.execute(query, {"since": begin, "erased": ERASED}).mappings():
                    yield _line({"kind": kind, "tenant": tenant_id, **row})
            yield from _blanked(tx, tenant_id, begin)


def _blanked(tx: Tx, tenant_id: str, since: datetime) -> Iterator[str]:
    """Yield the messages that may have lost words since then, with a salted hash of what is left of each."""
    for row in tx.execute(_MESSAGES, {"since": since, "erased": ERASED}):
        entry = {"session": row.session_id, "id": row.id, "left": _hashed(tx, tenant_id, row.content)}
        entry["event"] = _hashed(tx, tenant_id, row.event_id)
        yield _line({"kind": "message", "tenant": tenant_id, **entry})


def _hashed(tx: Tx, tenant_id: str, content: str) -> str:
    return tombstones.digest(tx, tenant_id, "message", content)


def repeat(app: Database, settings: Settings, lines: Iterable[str], *, in_use: bool = False) -> Counter[str]:
    """Repeat the erasures of a record; return how many of each kind had to be.

    Receipts and tombstones are stored again as they were, so that nothing erased comes back, and proofs stay.
    `in_use`: something may have been at work on the database since it was restored; what came after an erasure stays.

    Raises:
        Misconfigured: a line is no record.
        Conflict: of some, something is from before the erasure and something came after; all else was repeated.
    """
    entries = enumerate(lines, 1)
    is_held = cache(partial(_is_held, app))
    if _read(*next(entries, (1, ""))).get("format") != FORMAT:
        raise Misconfigured(f"Line 1 is not the beginning of a record of erasures ({FORMAT}).")
    repeated: Counter[str] = Counter()
    restored = _Restored(settings, in_use)
    last_kept: dict[str, list[tuple[str, str]]] = {}
    for number, line in entries:
        entry = _read(number, line)
        if not is_held(entry["tenant"]):
            continue  # The tenant began after the backup.
        if entry["kind"] == "tombstone":
            last_kept.setdefault(entry["tenant"], []).append((entry["hash"], entry["at"]))
            continue
        repeated[entry["kind"]] += _attempt(app, restored, entry)
    for tenant_id, hashes in last_kept.items():  # At the end: what is erased again lays them with a new time.
        _put_back(app, tenant_id, hashes)
    if restored.resumed:
        raise Conflict(
            f"Not erased again, because something new has come since the erasure: {', '.join(restored.resumed[:NAMED])}"
            f"{' and others' if restored.resumed[NAMED:] else ''}. Erase by hand what is to go; the rest was repeated."
        )
    return +repeated


def _is_held(app: Database, tenant_id: str) -> bool:
    with app.tenant(tenant_id) as tx:
        return bool(tx.execute(_TENANT, {"tenant": tenant_id}).scalar_one())


def _attempt(app: Database, restored: _Restored, entry: Json) -> int:
    """Repeat one erasure in its own transaction; return 1, or 0 if there was nothing left to erase."""
    for left in reversed(range(ATTEMPTS)):
        try:
            with app.tenant(entry["tenant"]) as tx:
                return int(_KINDS[entry["kind"]](tx, restored, entry))
        except NotFound:
            return 0
        except Resumed as resumed:
            restored.resumed.append(str(resumed))
            return 0
        except Conflict:
            if not left:
                raise
    raise AssertionError


def _receipt(tx: Tx, restored: _Restored, entry: Json) -> bool:
    tenant_id, body = entry["tenant"], entry["body"]
    if not receipts.store(tx, tenant_id, Receipt(body, entry["signature"])):
        return False  # The restored database has it: the erasure was before.
    erase = _ERASERS.get(body["scope"])
    subject = erase and restored.find(tx, tenant_id, body["scope"], body["subject_hash"])
    kind = "memory with evidence" if _is_with_evidence(entry) else body["scope"]
    if erase and subject and (kind == "memory" or restored.is_left(tx, kind, subject, body["at"])):
        with suppress(NotFound), tx.begin_nested():  # An earlier one may have erased it as well.
            erase(tx, restored.settings, entry, subject)
    return True


def _is_with_evidence(entry: Json) -> bool:
    return bool(entry["body"]["statement"] == receipts.STATEMENTS["memory with evidence"])


def _session(tx: Tx, restored: _Restored, entry: Json) -> bool:
    if tx.execute(_ANNOUNCED, {"event": entry.get("event")}).scalar_one():
        return False  # The restored database has erased it; another session may have its id by now.
    if not restored.is_left(tx, "session", entry["id"], entry.get("at")):
        return False
    session.erase(tx, entry["tenant"], entry["id"], AUTHOR)
    return True


def _document(tx: Tx, restored: _Restored, entry: Json) -> bool:
    if not restored.is_left(tx, "document", entry["id"], entry.get("at")):
        return False
    documents.delete(tx, entry["tenant"], UUID(entry["id"]), AUTHOR)
    return True


def _memory(tx: Tx, _: _Restored, entry: Json) -> bool:
    memory.erase(tx, entry["tenant"], UUID(entry["id"]), AUTHOR)
    return True


def _message(tx: Tx, _: _Restored, entry: Json) -> bool:
    """Blank the whole message unless it is as it was: which passage of it was erased is not on record."""
    key = entry["session"], entry["id"]
    row = tx.execute(_CONTENT, {"session": key[0], "id": key[1], "erased": ERASED}).one_or_none()
    if row is None or _hashed(tx, entry["tenant"], row.content) == entry.get("left"):
        return False
    if "event" in entry and _hashed(tx, entry["tenant"], row.event_id) != entry["event"]:
        return False  # Another message has its id by now.
    owners = sorted({row.user_id, *tx.execute(_CITING, {"session": key[0], "id": key[1]}).scalars()} - {""})
    spots = {key: [(0, len(row.content))]}
    passages.erase(tx, entry["tenant"], spots, {key: row.content}, [row.content], owners)
    return True


def _put_back(app: Database, tenant_id: str, hashes: Iterable[tuple[str, str]]) -> None:
    rows = iter(hashes)
    while batch := list(islice(rows, BATCH)):
        with app.tenant(tenant_id) as tx:
            tombstones.put_back(tx, tenant_id, batch)


def _read(number: int, line: str) -> Json:
    try:
        entry: Any = json.loads(line)
    except ValueError:
        entry = None
    if not isinstance(entry, dict) or (number > 1 and entry.get("kind") not in {*_KINDS, "tombstone"}):
        raise Misconfigured(f"Line {number} of the record of erasures cannot be read. Use the file as it was written.")
    return entry


def _line(entry: Json) -> str:
    return json.dumps(entry, ensure_ascii=False, default=plain) + "\n"


_KINDS: Final[Mapping[str, Callable[[Tx, _Restored, Json], bool]]] = {
    "receipt": _receipt,
    "session": _session,
    "document": _document,
    "memory": _memory,
    "message": _message,
}

_ERASERS: Final[Mapping[str, Callable[[Tx, Settings, Json, str], Erased]]] = {
    "user": lambda tx, settings, entry, subject: user.erase(tx, entry["tenant"], subject, AUTHOR, settings),
    "group": lambda tx, _, entry, subject: group.erase(tx, entry["tenant"], subject, AUTHOR),
    "memory": lambda tx, _, entry, subject: memory.erase(
        tx, entry["tenant"], UUID(subject), AUTHOR, evidence=_is_with_evidence(entry)
    ),
}

_CANDIDATES: Final = {
    "user": text("SELECT id FROM owners WHERE kind = 'user'"),
    "group": text("SELECT id FROM owners WHERE kind = 'group'"),
    "memory": text("SELECT id FROM memories"),
}

_QUERIES: Final = {
    "receipt": text("""
        SELECT body, signature FROM receipts
        WHERE at > :since OR cast(body ->> 'settled_at' AS timestamptz) > :since ORDER BY at, id
    """),
    "session": text("""
        SELECT payload ->> 'session_id' AS id, id AS event, received_at AS at FROM events
        WHERE event_type = 'session.erased' AND received_at > :since ORDER BY seq
    """),
    "document": text("""
        SELECT payload ->> 'document_id' AS id, received_at AS at FROM events
        WHERE event_type = 'document.deleted' AND received_at > :since ORDER BY seq
    """),
    "memory": text("""
        SELECT DISTINCT erased.id FROM events, jsonb_array_elements_text(payload -> 'memory_ids') AS erased (id)
        WHERE event_type = 'memory.erased' AND received_at > :since
          AND NOT EXISTS (SELECT FROM memories WHERE id = cast(erased.id AS uuid))
    """),
    "tombstone": text("SELECT hash, at FROM tombstones WHERE at > :since"),
}
"""A memory that is there had its request undone."""

_MESSAGES = text("""
    SELECT session_id, id, event_id, content FROM messages
    WHERE strpos(content, :erased) > 0 AND EXISTS (
              SELECT FROM receipts WHERE scope = 'request'
                AND (at > :since OR cast(body ->> 'settled_at' AS timestamptz) > :since))
       OR content = '' AND EXISTS (SELECT FROM receipts WHERE scope = 'memory' AND at > :since)
""")
"""Requests to forget blank passages, memories that are erased with evidence whole messages; no receipt says of which:
all that were ever blanked are on record.
"""

_ANNOUNCED = text("SELECT EXISTS (SELECT FROM events WHERE source = 'imprint' AND id = :event)")

_TENANT = text("SELECT EXISTS (SELECT FROM tenants WHERE id = :tenant)")

_CONTENT = text("""
    SELECT content, user_id, event_id FROM messages
    WHERE session_id = :session AND id = :id AND content <> '' AND content <> :erased
""")

_CITING = text("""
    SELECT DISTINCT m.user_id FROM evidence e JOIN memories m ON m.id = e.memory_id
    WHERE e.session_id = :session AND e.message_id = :id
""")
