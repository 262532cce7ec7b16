"""Undoes a request to forget: puts the kept rows back, as far as nothing else has changed them since."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import TextClause, text

from core.erasure import memory, runner
from core.erasure.memory import Erased
from core.errors import Conflict, NotFound
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.forgetting import undo_window
from core.forgetting.undo_window import UndoableForgetting
from core.index import removal
from core.memory import announcements, memories, receipts
from core.memory.receipts import Signer
from core.storage import tables, vector_spaces
from core.storage.db import Tx
from core.summaries import rolling, units

UNDONE: Final = "memory.forgetting_undone"

REASON: Final = "The request to forget it was undone."

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "messages": ("content", "extras"),
    "events": ("payload", "extensions"),
    "sessions": ("state",),
    "hidden_messages": ("reason",),
    "model_calls": ("answer",),
    "units": ("subject", "summary", "narrative", "participants", "keywords", "facts", "prompt", "updated_at"),
    "evidence": ("quote",),
    "verdicts": ("candidate", "reason"),
    "memory_versions": ("snapshot", "reason"),
}
"""Columns that an erasure changes; a row gets them back if they still are as it left them."""

DELETED: Final = (
    "memories memory_versions evidence relations verdicts summaries plans working search_index tombstones "
    "naming_decisions"
).split()
"""Tables of which an erasure deletes rows, in the order in which they come back."""

OF_MEMORIES: Final = {"memory_versions": ("memory_id",), "evidence": ("memory_id",), "relations": ("from_id", "to_id")}
"""Tables whose rows come back only with the memories that they name."""


def undo(tx: Tx, tenant_id: str, forgetting_id: UUID, author: Author, sign: Signer) -> UndoableForgetting:
    """Bring back everything that a request erased, and sign its receipts anew; return what it was.

    NotFound: it is final, was undone, or never was. Conflict: a later request has to be undone first.
    """
    forgetting = undo_window.find(tx, forgetting_id)
    if forgetting is None:
        raise NotFound(
            f"There is no forgetting {forgetting_id} that can be undone: its time is over, it was undone, or what it "
            f"erased was erased for good since. GET /v1/forgettings lists those that can be."
        )
    later = undo_window.later(tx, forgetting)
    if later is not None:
        raise Conflict(f"Forgetting {later} came later and erased from the same conversations. Undo that one first.")
    undo_window.spare(tx)
    runner.restart_running(tx)
    runner.lock_owners(tx, tenant_id, forgetting.owners)
    _remove_made(tx, tenant_id, forgetting, author)
    _put_back(tx, tenant_id, forgetting)
    _index_again(tx, tenant_id, forgetting)
    restored = _announce(tx, tenant_id, forgetting, author)
    receipts.settle(tx, tenant_id, sign, scope="request", subject=forgetting.event_id, state="undone")
    undo_window.drop(tx, forgetting.id)
    payload = {name: forgetting.as_json()[name] for name in ("user_id", "group_id", "session_id", "message_id")}
    payload |= {"forgetting_id": str(forgetting.id), "messages": forgetting.messages, "memories": restored}
    publishing.publish(tx, tenant_id, author, [Emission(UNDONE, payload, subject=f"session:{forgetting.session_id}")])
    return forgetting


def _remove_made(tx: Tx, tenant_id: str, forgetting: UndoableForgetting, author: Author) -> None:
    """Delete the memories that the erasure made of what was left of others, which come back whole."""
    owned: defaultdict[str, list[UUID]] = defaultdict(list)
    for row in tx.execute(_MADE, {"id": forgetting.id}):
        owned[row.user_id].append(row.id)
    runner.lock_owners(tx, tenant_id, owned)
    for owner, ids in sorted(owned.items()):
        memory.delete_memories(tx, tenant_id, owner, ids)
        memory.publish_erased(tx, tenant_id, ids[0], Erased(owner, ids), author)


def _put_back(tx: Tx, tenant_id: str, forgetting: UndoableForgetting) -> None:
    values = {"id": forgetting.id}
    tx.execute(_MEMORIES_AS_BEFORE, values)
    tx.execute(_LATER_VERSIONS, values)
    for table in COLUMNS:
        tx.execute(_as_before(table), values)
    places = _places(tx, forgetting)
    rolling.forget_messages(tx, tenant_id, [(session_id, message_id) for session_id, message_id, _ in places])
    tx.execute(_MADE_TOMBSTONES, values)
    for table in DELETED:
        tx.execute(_deleted(table), values)
    tx.execute(_CONTEXTS, {"sessions": list(forgetting.sessions)})
    if tx.execute(_CHANGED_UNITS, values).first() is not None:
        units.forget_messages(tx, [(session_id, message_id) for session_id, message_id, _ in places])


def _index_again(tx: Tx, tenant_id: str, forgetting: UndoableForgetting) -> None:
    """Index the messages by what they say again; they get their vectors back, if the same model is in use."""
    places = _places(tx, forgetting)
    removal.forget(tx, places)
    removal.put_again(tx, tenant_id, places)
    models = {place: str(model) for place, model in sorted(vector_spaces.models_by_place(tx).items())}
    tx.execute(_VECTORS, {"id": forgetting.id, "models": json.dumps(models)})


def _places(tx: Tx, forgetting: UndoableForgetting) -> list[tuple[str, str, int]]:
    return [(row.session_id, row.id, row.position) for row in tx.execute(_PLACES, {"id": forgetting.id})]


def _announce(tx: Tx, tenant_id: str, forgetting: UndoableForgetting, author: Author) -> int:
    """Publish `memory.restored` for each memory that is there again; return how many."""
    ids = list(tx.execute(_RESTORED, {"id": forgetting.id}).scalars())
    rows = memories.of_ids(tx, ids)
    events = [announcements.of_change(row, "memory.restored", REASON, new=row) for _, row in sorted(rows.items())]
    publishing.publish(tx, tenant_id, author, events)
    return len(rows)


def _as_before(table: str) -> TextClause:
    """Return SQL that gives the rows of a table their columns back, where these are as the erasure left them."""
    keys = " AND ".join(f"t.{key.name} = b.{key.name}" for key in tables.metadata.tables[table].primary_key.columns)
    columns = ", ".join(f"{column} = b.{column}" for column in COLUMNS[table])
    same = " AND ".join(f"t.{column} IS NOT DISTINCT FROM a.{column}" for column in COLUMNS[table])
    return text(f"""
        UPDATE {table} t SET {columns}
        FROM kept_rows k, LATERAL jsonb_populate_record(cast(NULL AS {table}), k.before) b,
             LATERAL jsonb_populate_record(cast(NULL AS {table}), k.after) a
        WHERE k.forgetting_id = :id AND k.name = '{table}' AND k.before IS NOT NULL AND k.after IS NOT NULL
          AND {keys} AND {same}
    """)


def _deleted(table: str) -> TextClause:
    """Return SQL that inserts the deleted rows of a table again, where nothing has taken their place."""
    needed = [f"EXISTS (SELECT FROM memories m WHERE m.id = b.{column})" for column in OF_MEMORIES.get(table, ())]
    conditions = " AND ".join(["true", *needed, *_CONDITIONS.get(table, ())])
    written = [column.name for column in tables.metadata.tables[table].columns if column.computed is None]
    return text(f"""
        INSERT INTO {table} ({", ".join(written)}) SELECT {", ".join(f"b.{column}" for column in written)}
        FROM kept_rows k, LATERAL jsonb_populate_record(cast(NULL AS {table}), k.before) b
        WHERE k.forgetting_id = :id AND k.name = '{table}' AND k.before IS NOT NULL AND k.after IS NULL
          AND {conditions}
        ON CONFLICT DO NOTHING
    """)


_CONDITIONS: Final[Mapping[str, Sequence[str]]] = {
    "memories": (
        """NOT EXISTS (SELECT FROM memories m WHERE m.user_id = b.user_id AND m.statement_key = b.statement_key
                       AND m.status = 'active' AND b.status = 'active')""",
    ),
    "search_index": (
        """b.type IN ('memory', 'unit') AND (
            EXISTS (SELECT FROM memories m WHERE b.type = 'memory' AND m.id::text = b.ref)
            OR EXISTS (SELECT FROM units u JOIN kept_rows w ON w.name = 'units' AND w.forgetting_id = :id
                                           AND (w.before ->> 'id')::uuid = u.id
                       WHERE b.type = 'unit' AND u.id::text = b.ref
                         AND u.updated_at = (w.before ->> 'updated_at')::timestamptz))""",
    ),
}
"""Further conditions: a memory told again stands for the old one, and what is indexed must be there as it was."""

_MADE = text("""
    SELECT m.id, m.user_id FROM kept_rows k JOIN memories m ON m.id = (k.after ->> 'id')::uuid
    WHERE k.forgetting_id = :id AND k.name = 'memories' AND k.before IS NULL AND k.after IS NOT NULL
    ORDER BY m.id
""")

_MEMORY_COLUMNS = ", ".join(
    f"{column.name} = b.{column.name}"
    for column in tables.memories.columns
    if not column.primary_key and column.computed is None
)

_MEMORIES_AS_BEFORE = text(f"""
    UPDATE memories t SET {_MEMORY_COLUMNS}
    FROM kept_rows k, LATERAL jsonb_populate_record(cast(NULL AS memories), k.before) b
    WHERE k.forgetting_id = :id AND k.name = 'memories' AND k.before IS NOT NULL AND k.after IS NOT NULL
      AND t.id = b.id AND t.version = (k.after ->> 'version')::int
""")
"""Memories that the erasure changed, if nobody has changed them since."""

_LATER_VERSIONS = text("""
    DELETE FROM memory_versions v USING kept_rows k, memories m
    WHERE k.forgetting_id = :id AND k.name = 'memory_versions' AND k.before IS NULL AND k.after IS NOT NULL
      AND v.memory_id = (k.after ->> 'memory_id')::uuid AND v.version = (k.after ->> 'version')::int
      AND m.id = v.memory_id AND m.version < v.version
""")

_MADE_TOMBSTONES = text("""
    DELETE FROM tombstones t USING kept_rows k
    WHERE k.forgetting_id = :id AND k.name = 'tombstones' AND k.after IS NOT NULL
      AND t.hash = k.after ->> 'hash' AND t.at = (k.after ->> 'at')::timestamptz
""")

_CONTEXTS = text("DELETE FROM contexts WHERE session_id = ANY(:sessions)")
"""Chosen again, as after an erasure."""

_CHANGED_UNITS = text("""
    SELECT FROM kept_rows k JOIN units u ON u.id = (k.before ->> 'id')::uuid
    WHERE k.forgetting_id = :id AND k.name = 'units' AND u.updated_at <> (k.before ->> 'updated_at')::timestamptz
    LIMIT 1
""")

_PLACES = text("""
    SELECT m.session_id, m.id, m.position FROM kept_rows k
    JOIN messages m ON m.session_id = k.before ->> 'session_id' AND m.position = (k.before ->> 'position')::int
    WHERE k.forgetting_id = :id AND k.name = 'messages' ORDER BY m.session_id, m.position
""")

_VECTORS = text("""
    UPDATE search_index i SET embedding = b.embedding, embedding_next = b.embedding_next
    FROM forgettings f, kept_rows k, LATERAL jsonb_populate_record(cast(NULL AS search_index), k.before) b, messages m,
         kept_rows w
    WHERE f.id = :id AND f.models = cast(:models AS jsonb) AND k.forgetting_id = f.id AND k.name = 'search_index'
      AND i.type = 'message' AND b.type = 'message' AND i.session_id = b.session_id AND i.ref = b.ref
      AND m.session_id = i.session_id AND m.id = i.ref
      AND w.forgetting_id = f.id AND w.name = 'messages' AND w.before ->> 'session_id' = m.session_id
      AND (w.before ->> 'position')::int = m.position AND w.before ->> 'content' = m.content
""")
"""Of messages that say again what the kept vector was made of."""

_RESTORED = text("""
    SELECT m.id FROM kept_rows k JOIN memories m ON m.id = (k.before ->> 'id')::uuid
    WHERE k.forgetting_id = :id AND k.name = 'memories' AND k.before IS NOT NULL
""")
