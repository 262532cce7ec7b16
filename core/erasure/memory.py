"""Erases one memory with everything derived from it.

No row remains as a marker: the receipt says that a memory was erased (`core.memory.receipts`), and tombstones keep it
from coming back (`core.memory.tombstones`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.erasure import equivalents, lineage, log_redaction, recalled, runner
from core.erasure.equivalents import Equivalents
from core.erasure.lineage import ErasedLineage
from core.erasure.steps import UNQUOTE_VERDICTS, ErasurePart
from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.memory import by_hand, memories, writer
from core.memory import tombstones as memory_tombstones
from core.memory.changes import Owner, Restore
from core.storage.db import Tx, message_places

ERASED = "memory.erased"


@dataclass(frozen=True, slots=True)
class Erased:
    """Result of erasing: owner, memories, rows by table, number of tombstones.

    `rederive`: remaining memories that had a part in something derived that was erased. `sessions`: those whose
    messages lost their text, for caches to drop. Of a group: `group_id`, and `owners` whose memories have changed.
    `at_least`: of a preview, the tables of which there may be more rows than counted.
    """

    user_id: str
    memory_ids: Sequence[UUID] = ()
    rederive: Sequence[UUID] = ()
    counts: Counter[str] = field(default_factory=Counter)
    tombstones: int = 0
    sessions: Sequence[str] = ()
    group_id: str | None = None
    owners: Sequence[str] = ()
    at_least: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Wording:
    """A wording that a memory has had, for the tombstones."""

    content: str
    subject: str
    attribute: str | None
    value: str | None


def erase(
    tx: Tx,
    tenant_id: str,
    memory_id: UUID,
    author: Author,
    *,
    evidence: bool = False,
    but: Sequence[int] = (),
    version: int | None = None,
) -> Erased:
    """Erase a memory in this transaction. `evidence`: the messages that it cites lose their text, too.

    `version`: the one that the author has seen; None: whichever it has.


    Agents that run are then restarted, except those that react to the events at `but`: the one that erases.

    Memories that say the same are erased with it; those that say something else as well are replaced by what is left
    of them.

    NotFound: there is none. Conflict: it is at another version, or its derivatives have changed since they were locked.
    """
    owner = Owner(memories.get(tx, memory_id).user_id)
    extent, _ = _extent(tx, owner, memory_id, evidence=evidence)
    locked = runner.lock_owners(tx, tenant_id, _by_owner(tx, extent))
    # Another transaction may have erased or changed it while this one waited for the locks.
    by_hand.require_version(memories.get(tx, memory_id), version)
    extent, same = _extent(tx, owner, memory_id, evidence=evidence)
    owned = _by_owner(tx, extent)
    if not locked.issuperset(owned):
        raise Conflict("Another user's memory was derived from this in the meantime. Erase it again.")
    laid = memory_tombstones.lay(tx, tenant_id, owner.user_id, _wordings_to_bury(tx, memory_id, extent, same))
    cited_rows = tx.execute(_CITED, {"ids": sorted(extent.equal)}).all()
    counts: Counter[str] = Counter()
    for user_id, ids in owned.items():
        silenced = sorted(extent.equal) if evidence and user_id == owner.user_id else []
        counts += delete_memories(tx, tenant_id, user_id, ids, silenced=silenced, but=but)
        if user_id != owner.user_id:
            publish_erased(tx, tenant_id, ids[0], Erased(user_id, ids), author)
    _reactivate_sources(tx, tenant_id, owner, extent, author)
    spoken = {(row.session_id, row.message_id) for row in cited_rows}
    counts["rewritten"] += equivalents.keep_rest(tx, tenant_id, same, author, silenced=spoken if evidence else ())
    if spoken and not evidence:
        counts += _unquote(tx, owner, same, spoken)
    places = sorted({session for session, _ in spoken}) if evidence else []
    done = Erased(owner.user_id, owned[owner.user_id], sorted(extent.parts), counts, laid, places)
    publish_erased(tx, tenant_id, memory_id, done, author)
    return done


def publish_erased(tx: Tx, tenant_id: str, memory_id: UUID, done: Erased, author: Author) -> None:
    """Publish the ids of the erased memories, and of those from which something should be derived again."""
    payload = {
        "user_id": done.user_id,
        "memory_id": str(memory_id),
        "memory_ids": [str(erased_id) for erased_id in done.memory_ids],
        "rederive": [str(erased_id) for erased_id in done.rederive],
    }
    publishing.publish(tx, tenant_id, author, [Emission(ERASED, payload, subject=f"memory:{memory_id}")])


def delete_memories(
    tx: Tx, tenant_id: str, user_id: str, ids: Sequence[UUID], *, silenced: Sequence[UUID] = (), but: Sequence[int] = ()
) -> Counter[str]:
    """Delete a user's memories with every trace of them, under the owner's lock; return the number of rows by table.

    `silenced`: those of them whose messages lose their text, too; `but`: as in `erase`. The event that asked for a
    memory loses its words unless another memory rests on it.
    """
    if not ids:
        return Counter()
    values = bound_values(tx, [user_id], ids)
    values["ignored"] = _verdicts_with_same_words(tx, tenant_id, user_id, ids)
    request_events = list(tx.execute(_ASKED, values).scalars())
    since = tx.execute(_SINCE, values).scalar_one()
    counts: Counter[str] = Counter()
    if silenced:
        runner.restart_running(tx, but=but)
        messages = _cited_messages(tx, user_id, silenced)
        request_events.extend(messages["events"])
        counts += runner.run(tx, tenant_id, ErasurePart.MESSAGES, messages)
    queries = recalled.of_memories(tx, user_id, ids, since)
    counts += runner.run(tx, tenant_id, ErasurePart.MEMORIES, values)
    parts = log_redaction.deleted_parts(tx, ids, since)
    since = min([since, *parts.values()])
    counts["events"] += queries
    return +(counts + log_redaction.redact(tx, tenant_id, [*ids, *parts], since=since, also=request_events))


def bound_values(tx: Tx, owners: Sequence[str], ids: Sequence[UUID]) -> dict[str, Any]:
    """Return the values bound in the steps for memories of these owners, without verdicts that stored nothing."""
    values = {**named(ids), "owners": list(owners), "ignored": []}
    return values | {"changes": list(tx.execute(_CHANGES, values).scalars())}


def named(ids: Sequence[UUID]) -> dict[str, Any]:
    """Return the values that name memories."""
    return {"ids": list(ids), "refs": [str(memory_id) for memory_id in ids]}


def _extent(tx: Tx, owner: Owner, memory_id: UUID, *, evidence: bool) -> tuple[ErasedLineage, Equivalents]:
    """Return all memories to erase, and those among them that are equivalent."""
    extent = lineage.of(tx, [memory_id])
    same = equivalents.find(tx, owner.user_id, sorted(extent.equal), derived=extent.derived)
    ids = [memory_id, *sorted(same.whole), *(match.row.id for match in same.partly)]
    return lineage.of(tx, ids, silenced=evidence), same


def _by_owner(tx: Tx, extent: ErasedLineage) -> dict[str, list[UUID]]:
    owned: defaultdict[str, list[UUID]] = defaultdict(list)
    for memory_id, row in sorted(memories.of_ids(tx, extent.ids).items()):
        owned[row.user_id].append(memory_id)
    return dict(owned)


def _wordings_to_bury(tx: Tx, memory_id: UUID, extent: ErasedLineage, same: Equivalents) -> list[_Wording]:
    """Return wordings that must not return; of partly erased memories only these words, and no slot."""
    erased_ids = lineage.of(tx, [memory_id, *sorted(same.whole)]).equal
    beside = _wordings(tx, sorted(extent.equal - erased_ids))
    partial = [
        _Wording(wording.content, wording.subject, None, None)
        for wording in beside
        if same.says(wording.content, wording.subject)
    ]
    return [*_wordings(tx, sorted(erased_ids)), *partial]


def _wordings(tx: Tx, ids: Sequence[UUID]) -> list[_Wording]:
    """Return all wordings of memories: current, in earlier versions, and in candidates found to be equivalent."""
    return [_Wording(*row) for row in tx.execute(_WORDS, {"ids": list(ids)})]


def _verdicts_with_same_words(tx: Tx, tenant_id: str, user_id: str, ids: Sequence[UUID]) -> list[UUID]:
    """Return verdicts that stored nothing but contain the words of one of these memories."""
    rows = tx.execute(_IGNORED, {"user": user_id}).all()
    candidates = [_Wording(row.content, row.subject or "", row.attribute, row.value) for row in rows]
    same = memory_tombstones.match(tx, tenant_id, user_id, candidates, _wordings(tx, ids))
    return [row.id for row, is_same in zip(rows, same, strict=True) if is_same]


def _cited_messages(tx: Tx, user_id: str, ids: Sequence[UUID]) -> dict[str, Any]:
    """Return the bound values for the messages that these memories cite, and the `events` of these messages."""
    message_keys = [(row.session_id, row.message_id) for row in tx.execute(_CITED, {"ids": list(ids)})]
    values: dict[str, Any] = {"user": user_id, "owners": [user_id], **message_places(message_keys)}
    rows = tx.execute(_MESSAGES, values).all()
    places = [(row.session_id, row.id, row.position) for row in rows]
    return values | {"places": places, "events": [row.event_id for row in rows]}


def _unquote(tx: Tx, owner: Owner, same: Equivalents, places: Collection[tuple[str, str]]) -> Counter[str]:
    """Remove the erased statements from quotes that other memories and verdicts hold of the cited messages."""
    values = {"user": owner.user_id, **message_places(places)}
    evidence = equivalents.unquote(tx, same.statements, sorted(places))
    return Counter({"evidence": evidence, "verdicts": tx.execute(UNQUOTE_VERDICTS, values).rowcount})


def _reactivate_sources(tx: Tx, tenant_id: str, owner: Owner, extent: ErasedLineage, author: Author) -> None:
    put_away = {
        "ids": [memory_id for memory_id, _ in extent.waiting],
        "changes": [change for _, change in extent.waiting],
    }
    for row in tx.execute(_PUT_AWAY, put_away).all():
        restore = Restore(row.id, row.version, "What it had been drawn into was erased.")
        try:
            with tx.begin_nested():
                writer.apply(tx, tenant_id, Owner(owner.user_id, row.group_id), [restore], author)
        except Conflict:
            continue  # Another memory says the same by now, or fills its slot.


_CHANGES = text("""
    SELECT change_id FROM memory_versions WHERE memory_id = ANY(:ids) AND change_id IS NOT NULL
    UNION SELECT id FROM verdicts WHERE memory_id = ANY(:ids)
    UNION SELECT id FROM verdicts WHERE user_id = ANY(:owners) AND other_id = ANY(:ids)
""")

_SINCE = text("SELECT min(recorded_at) FROM memories WHERE id = ANY(:ids)")

_ASKED = text("""
    SELECT e.event_id FROM evidence e WHERE e.memory_id = ANY(:ids) AND e.session_id = ''
    EXCEPT
    SELECT e.event_id FROM evidence e WHERE e.session_id = '' AND e.memory_id <> ALL(:ids)
      AND e.message_id = ANY(ARRAY(SELECT message_id FROM evidence WHERE memory_id = ANY(:ids) AND session_id = ''))
""")
"""Requests cited only by these memories."""

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

_MESSAGES = text("""
    SELECT session_id, id, position, event_id FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
""")

_PUT_AWAY = text("""
    SELECT m.id, m.version, m.group_id FROM memories m
    JOIN unnest(cast(:ids AS uuid[]), cast(:changes AS uuid[])) AS p (id, change_id) ON p.id = m.id
    JOIN memory_versions v ON v.memory_id = m.id AND v.version = m.version AND v.change_id = p.change_id
    WHERE m.status = 'archived' ORDER BY m.id
""")
"""Memories unchanged since they were archived."""
