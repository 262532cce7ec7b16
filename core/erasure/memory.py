"""Erases one memory and its derivatives.

A row is not kept to say so: what was erased is not there. That it was, a receipt says (`core.memory.receipts`), and
that it must not come back, tombstones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.erasure import equivalents, lineage, log_redaction
from core.erasure.equivalents import Alike
from core.erasure.lineage import Lineage
from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.index import removal
from core.memory import memories, writer
from core.memory import tombstones as memory_tombstones
from core.memory.changes import Owner, Restore
from core.plans import tracker
from core.storage.db import Tx
from core.summaries import rolling, units

ERASED = "memory.erased"


@dataclass(frozen=True, slots=True)
class Erased:
    """What went: whose it was, which memories, rows by table, and how many hashes keep it away.

    `rederive`: memories that stay, from which something was drawn that had to go with what was erased. `sessions`:
    where messages lost their text, which whoever keeps some at hand lets go of.
    """

    user_id: str
    memory_ids: Sequence[UUID] = ()
    rederive: Sequence[UUID] = ()
    counts: Counter[str] = field(default_factory=Counter)
    tombstones: int = 0
    sessions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Worded:
    """A statement in words that a memory has had: for the tombstones."""

    content: str
    subject: str
    attribute: str | None
    value: str | None


def memory(tx: Tx, tenant_id: str, memory_id: UUID, author: Author, *, evidence: bool = False) -> Erased:
    """Erase a memory in this transaction. `evidence`: the messages that it cites lose their text, too.

    Memories that say the same go with it; those that say something else as well are replaced by what is left of them.

    NotFound: there is none. Conflict: it has changed hands meanwhile.
    """
    owner = Owner(memories.get(tx, memory_id).user_id)
    locked = _lock_owners(tx, tenant_id, _found(tx, owner, memory_id, evidence=evidence)[0])
    memories.get(tx, memory_id)  # Who waited for the locks may have waited for someone who erased it.
    found, same = _found(tx, owner, memory_id, evidence=evidence)
    owned = _owned(tx, found)
    if not locked.issuperset(owned):
        raise Conflict("Someone has learnt from this meanwhile. Erase it again.")
    laid = memory_tombstones.lay(tx, tenant_id, owner.user_id, _buried(tx, memory_id, found, same))
    cited = tx.execute(_CITED, {"ids": sorted(found.said)}).all()
    counts: Counter[str] = Counter()
    for user_id, ids in owned.items():
        silenced = sorted(found.said) if evidence and user_id == owner.user_id else []
        counts += remove(tx, tenant_id, user_id, ids, silenced=silenced)
        if user_id != owner.user_id:
            told(tx, tenant_id, ids[0], Erased(user_id, ids), author)
    _restore(tx, tenant_id, owner, found, author)
    spoken = {(row.session_id, row.message_id) for row in cited}
    counts["rewritten"] += equivalents.keep_rest(tx, tenant_id, same, author, silenced=spoken if evidence else ())
    if spoken and not evidence:
        counts += _unquote(tx, owner, same, spoken)
    places = sorted({session for session, _ in spoken}) if evidence else []
    done = Erased(owner.user_id, owned[owner.user_id], sorted(found.parts), counts, laid, places)
    told(tx, tenant_id, memory_id, done, author)
    return done


def _found(tx: Tx, owner: Owner, memory_id: UUID, *, evidence: bool) -> tuple[Lineage, Alike]:
    """All that goes, and what of it says the same."""
    mine = lineage.of(tx, [memory_id])
    same = equivalents.find(tx, owner.user_id, sorted(mine.said), drawn=mine.drawn)
    ids = [memory_id, *sorted(same.whole), *(one.row.id for one in same.partly)]
    return lineage.of(tx, ids, silenced=evidence), same


def _buried(tx: Tx, memory_id: UUID, found: Lineage, same: Alike) -> list[_Worded]:
    """What must not come back: of memories that say something else as well the words that say this, and no slot."""
    gone = lineage.of(tx, [memory_id, *sorted(same.whole)]).said
    beside = _statements(tx, sorted(found.said - gone))
    worded = [_Worded(one.content, one.subject, None, None) for one in beside if same.says(one.content, one.subject)]
    return [*_statements(tx, sorted(gone)), *worded]


def _unquote(tx: Tx, owner: Owner, same: Alike, places: Collection[tuple[str, str]]) -> Counter[str]:
    """Take what is erased out of the quotes that others hold of the messages in which it was said."""
    values = {"user": owner.user_id, "sessions": [s for s, _ in places], "messages": [m for _, m in places]}
    return Counter(
        {
            "evidence": equivalents.unquote(tx, same.statements, sorted(places)),
            "verdicts": tx.execute(_UNQUOTE_VERDICTS, values).rowcount,
        }
    )


def _lock_owners(tx: Tx, tenant_id: str, found: Lineage) -> frozenset[str]:
    """Everyone whose memories go; in one order, as whoever writes for several locks them."""
    owners = sorted(_owned(tx, found))
    for user_id in owners:
        writer.lock(tx, tenant_id, user_id)
    return frozenset(owners)


def _owned(tx: Tx, found: Lineage) -> dict[str, list[UUID]]:
    owned: defaultdict[str, list[UUID]] = defaultdict(list)
    for memory_id, row in sorted(memories.of_ids(tx, found.gone).items()):
        owned[row.user_id].append(memory_id)
    return dict(owned)


def told(tx: Tx, tenant_id: str, memory_id: UUID, done: Erased, author: Author) -> None:
    """Say which memories are no more, and what is to be drawn together anew: ids alone."""
    payload = {
        "user_id": done.user_id,
        "memory_id": str(memory_id),
        "memory_ids": [str(one) for one in done.memory_ids],
        "rederive": [str(one) for one in done.rederive],
    }
    publishing.publish(tx, tenant_id, author, [Emission(ERASED, payload, subject=f"memory:{memory_id}")])


def remove(tx: Tx, tenant_id: str, user_id: str, ids: Sequence[UUID], *, silenced: Sequence[UUID] = ()) -> Counter[str]:
    """Take a user's memories and every trace of them out of all tables; rows by table. Under the owner's lock.

    `silenced`: those of them whose messages lose their text, too. Where a memory was asked for by an event that nothing
    else rests on, its words go from the log as well.
    """
    if not ids:
        return Counter()
    values = {"ids": list(ids), "refs": [str(one) for one in ids], "user": user_id, "gone": log_redaction.GONE}
    values["changes"] = list(tx.execute(_CHANGES, values).scalars())
    values["ignored"] = _ignored(tx, tenant_id, user_id, values)
    asked = list(tx.execute(_ASKED, values).scalars())
    since = tx.execute(_SINCE, values).scalar_one()
    counts: Counter[str] = Counter()
    if silenced:
        log_redaction.call_back(tx)
        counts += _silence(tx, tenant_id, user_id, silenced, asked)
    for table, statement in _STEPS:
        counts[table] += tx.execute(statement, values).rowcount
    for shadow_id in tx.execute(_SHADOWS, values).scalars():
        log_redaction.drop_shadow(tx, tenant_id, shadow_id)
        counts["rebuilds"] += 1
    dropped = log_redaction.dropped_parts(tx, ids, since)
    since = min([since, *dropped.values()])
    return +(counts + log_redaction.wipe(tx, [*ids, *dropped], since=since, also=asked))


def _statements(tx: Tx, ids: Sequence[UUID]) -> list[_Worded]:
    """All that memories have said: as they stand, in earlier versions, in what was found to say the same."""
    return [_Worded(*row) for row in tx.execute(_WORDS, {"ids": list(ids)})]


def _ignored(tx: Tx, tenant_id: str, user_id: str, values: dict[str, Any]) -> list[UUID]:
    """Verdicts that kept nothing of a statement that is erased now; they hold its words all the same."""
    rows = tx.execute(_IGNORED, {"user": user_id}).all()
    candidates = [_Worded(row.content, row.subject or "", row.attribute, row.value) for row in rows]
    same = memory_tombstones.matching(tx, tenant_id, user_id, candidates, _statements(tx, values["ids"]))
    return [row.id for row, is_same in zip(rows, same, strict=True) if is_same]


def _silence(tx: Tx, tenant_id: str, user_id: str, ids: Sequence[UUID], asked: list[str]) -> Counter[str]:
    """Take the text out of the messages that are cited, and the quotes of them that others hold."""
    cited = [(row.session_id, row.message_id) for row in tx.execute(_CITED, {"ids": list(ids)})]
    places = {"user": user_id, "sessions": [s for s, _ in cited], "messages": [m for _, m in cited]}
    silenced = tx.execute(_SILENCE, places).all()
    asked.extend(row.event_id for row in silenced)
    counts = Counter({"messages": len(silenced), "evidence": tx.execute(_UNQUOTE, places).rowcount})
    counts["verdicts"] = tx.execute(_UNQUOTE_VERDICTS, places).rowcount
    counts["memory_versions"] = tx.execute(_UNGROUND, places).rowcount
    counts["search_index"] = removal.forget(tx, [(row.session_id, row.id, row.position) for row in silenced])
    counts["model_calls"] = tx.execute(_UNANSWER, places).rowcount
    counts["hidden_messages"] = tx.execute(_UNREASON, places).rowcount + tx.execute(_UNREASON_EVENTS, places).rowcount
    counts["units"] = units.forget_messages(tx, cited)
    counts["summaries"] = rolling.forget_messages(tx, tenant_id, cited)
    counts["plans"] = tracker.forget_messages(tx, sorted({row.session_id for row in silenced}))
    return counts


def _restore(tx: Tx, tenant_id: str, owner: Owner, found: Lineage, author: Author) -> None:
    """What was put away for something drawn from it stands for itself again, now that this is gone."""
    put_away = {"ids": [one for one, _ in found.waiting], "changes": [change for _, change in found.waiting]}
    for row in tx.execute(_PUT_AWAY, put_away).all():
        restore = Restore(row.id, row.version, "What it had been drawn into was erased.")
        try:
            with tx.begin_nested():
                writer.apply(tx, tenant_id, Owner(owner.user_id, row.group_id), [restore], author)
        except Conflict:
            continue  # Another memory says the same by now, or fills its slot: that one stands for it.


_CHANGES = text("""
    SELECT change_id FROM memory_versions WHERE memory_id = ANY(:ids) AND change_id IS NOT NULL
    UNION SELECT id FROM verdicts WHERE memory_id = ANY(:ids)
    UNION SELECT id FROM verdicts WHERE user_id = :user AND other_id = ANY(:ids)
""")

_SINCE = text("SELECT min(recorded_at) FROM memories WHERE id = ANY(:ids)")

_ASKED = text("""
    SELECT e.event_id FROM evidence e WHERE e.memory_id = ANY(:ids) AND e.session_id = ''
    EXCEPT
    SELECT e.event_id FROM evidence e WHERE e.session_id = '' AND e.memory_id <> ALL(:ids)
      AND e.message_id = ANY(ARRAY(SELECT message_id FROM evidence WHERE memory_id = ANY(:ids) AND session_id = ''))
""")
"""Requests of which nothing is left that rests on them."""

_WORDS = text("""
    SELECT content, subject, attribute, value FROM memories WHERE id = ANY(:ids)
    UNION
    SELECT snapshot ->> 'content', snapshot ->> 'subject', snapshot ->> 'attribute', snapshot ->> 'value'
    FROM memory_versions WHERE memory_id = ANY(:ids) AND snapshot ->> 'content' <> ''
    UNION
    SELECT candidate ->> 'content', candidate ->> 'subject', candidate ->> 'attribute', candidate ->> 'value'
    FROM verdicts WHERE memory_id = ANY(:ids) AND kind IN ('confirm', 'merge') AND undone_by IS NULL
""")

_IGNORED = text("""
    SELECT id, candidate ->> 'content' AS content, candidate ->> 'subject' AS subject,
           candidate ->> 'attribute' AS attribute, candidate ->> 'value' AS value
    FROM verdicts WHERE user_id = :user AND memory_id IS NULL AND candidate ->> 'content' <> ''
""")

_CITED = text("SELECT DISTINCT session_id, message_id FROM evidence WHERE memory_id = ANY(:ids) AND session_id <> ''")

_PLACES = "SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[]))"

_SILENCE = text(f"""
    UPDATE messages SET content = '', extras = CASE WHEN jsonb_exists(extras, 'participants')
        THEN jsonb_build_object('participants', extras -> 'participants') END
    WHERE (session_id, id) IN ({_PLACES})
    RETURNING session_id, id, position, event_id
""")

_UNANSWER = text("""
    UPDATE model_calls SET answer = NULL WHERE answer IS NOT NULL AND dispatch_id = ANY(ARRAY(
        SELECT d.id FROM dispatches d JOIN events e ON e.seq = d.event_seq WHERE e.session_id = ANY(:sessions)))
""")
"""What a model made of messages may hold the words of any of them."""

_UNREASON = text(f"UPDATE hidden_messages SET reason = NULL WHERE (session_id, message_id) IN ({_PLACES})")

_UNREASON_EVENTS = text(f"""
    UPDATE events SET payload = payload - 'reason'
    WHERE event_type = 'message.hidden' AND session_id = ANY(:sessions)
      AND (session_id, payload ->> 'message_id') IN ({_PLACES})
""")

_UNQUOTE = text(f"UPDATE evidence SET quote = '' WHERE (session_id, message_id) IN ({_PLACES})")

_UNQUOTE_VERDICTS = text(f"""
    UPDATE verdicts v SET candidate = jsonb_set(v.candidate, '{{evidence}}', (
        SELECT jsonb_agg(CASE WHEN (e ->> 'session_id', e ->> 'message_id') IN ({_PLACES})
                              THEN e || '{{"quote": ""}}' ELSE e END)
        FROM jsonb_array_elements(v.candidate -> 'evidence') e))
    WHERE v.user_id = :user AND jsonb_typeof(v.candidate -> 'evidence') = 'array' AND EXISTS (
        SELECT FROM jsonb_array_elements(v.candidate -> 'evidence') e
        WHERE (e ->> 'session_id', e ->> 'message_id') IN ({_PLACES}))
""")

_UNGROUND = text("""
    UPDATE memory_versions v SET snapshot = v.snapshot - 'withdrawn' - 'returned' FROM memories m
    WHERE m.user_id = :user AND v.memory_id = m.id AND jsonb_exists_any(v.snapshot, '{withdrawn, returned}')
""")
"""What undos have taken away is quoted there; after this they cannot be undone themselves."""

_SHADOWS = text("""
    UPDATE rebuilds SET status = CASE WHEN status IN ('running', 'ready') THEN 'dropped' ELSE status END,
                        difference = NULL, ended_at = coalesce(ended_at, clock_timestamp())
    WHERE user_id = :user AND (status IN ('running', 'ready') OR difference IS NOT NULL) RETURNING shadow_id
""")

_PUT_AWAY = text("""
    SELECT m.id, m.version, m.group_id FROM memories m
    JOIN unnest(cast(:ids AS uuid[]), cast(:changes AS uuid[])) AS p (id, change_id) ON p.id = m.id
    JOIN memory_versions v ON v.memory_id = m.id AND v.version = m.version AND v.change_id = p.change_id
    WHERE m.status = 'archived' ORDER BY m.id
""")
"""Those to which nothing has happened since."""

_STEPS = (
    (
        "model_calls",
        text("""
        UPDATE model_calls SET answer = NULL WHERE answer IS NOT NULL AND dispatch_id = ANY(ARRAY(
            SELECT dispatch_id FROM memory_versions WHERE memory_id = ANY(:ids)))
    """),
    ),
    (
        "dispatches",
        text("""
        UPDATE dispatches SET error = NULL WHERE error IS NOT NULL AND status = 'done' AND id = ANY(ARRAY(
            SELECT dispatch_id FROM memory_versions WHERE memory_id = ANY(:ids)))
    """),
    ),
    (
        "memory_versions",
        text("""
        UPDATE memory_versions SET reason = :gone WHERE change_id = ANY(:changes) AND memory_id <> ALL(:ids)
    """),
    ),
    (
        "verdicts",
        text("""
        DELETE FROM verdicts WHERE id = ANY(:changes) OR id = ANY(:ignored)
    """),
    ),
    ("evidence", text("DELETE FROM evidence WHERE memory_id = ANY(:ids)")),
    ("relations", text("DELETE FROM relations WHERE from_id = ANY(:ids) OR to_id = ANY(:ids)")),
    (
        "search_index",
        text("""
        DELETE FROM search_index WHERE type = 'memory' AND session_id = '' AND ref = ANY(:refs)
    """),
    ),
    ("servings", text("DELETE FROM servings WHERE user_id = :user")),
    (
        "profiles",
        text("""
        DELETE FROM profiles WHERE owner = 'user:' || :user OR owner = ANY(ARRAY(
            SELECT 'group:' || group_id FROM memories WHERE id = ANY(:ids) AND group_id IS NOT NULL))
    """),
    ),
    ("memory_versions", text("DELETE FROM memory_versions WHERE memory_id = ANY(:ids)")),
    ("memories", text("DELETE FROM memories WHERE id = ANY(:ids)")),
)
"""Each table with what is done in it, in this order: what leads to other rows goes last. Of what was handed out
nothing tells which text was whose, so all hashes of the user go; a profile is built anew from what remains."""
