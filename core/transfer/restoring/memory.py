"""Memories, relations and the profile of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.consolidation import candidate_screening
from core.entities import decisions
from core.entities.resolution import Decision
from core.inference.sound_vectors import embed_sound
from core.memory import memories, restoration, retention, tombstones, updates, writer
from core.memory.restoration import RestoredMemory, RestoredVersion
from core.reflection import profile
from core.reflection.profile import ProfileOwner
from core.screening import masking, screen
from core.sessions.restoration import Fate
from core.storage.db import Tx, recordset
from core.transfer import imports, profile_places
from core.transfer.archive_reader import ReadLine
from core.transfer.restoring import memory_lines
from core.transfer.restoring.context import ERASED, Context, ErasedUntil
from core.transfer.restoring.memory_lines import Cited
from core.types import Candidate, Status

REFUSED: Final = "holds a secret, and this installation refuses secrets"
LEFT_OUT: Final = "names memories that were left out"
HOSTILE: Final = "tries to instruct its reader"

SLOT_TAKEN: Final = "Another memory filled its slot when this one was restored from an archive."
BLANKED: Final = "What it was about has been erased."

Prepared = Sequence[tuple[Candidate, RestoredMemory | str]]
"""Memories as statements, and ready to be stored or why one is left out."""


def prepare(context: Context, batch: Sequence[ReadLine]) -> Prepared:
    """Screen the memories and compute the vectors of those that are not there, outside of any transaction."""
    with context.db.tenant(context.tenant_id) as tx:
        cited = _cited(tx, context.import_id, batch)
    made: list[tuple[Candidate, RestoredMemory | str]] = []
    seals = context.seals
    for line in batch:
        seen = candidate_screening.screened(memory_lines.candidate(line.checked, cited))
        is_refused = seen.secret and context.settings.secrets == "refuse"
        is_own = seals is not None and seals.holds(line.plain)
        memory = REFUSED if is_refused else memory_lines.restored(line, seen, context.import_id, cited, is_own=is_own)
        made.append((seen.candidate, memory))
    restorable = [memory for _, memory in made if not isinstance(memory, str)]
    with context.db.tenant(context.tenant_id) as tx:
        stored = restoration.find(tx, context.user_id, restorable).same
    vectors = _vectors(context, [memory for memory in restorable if memory.id not in stored])
    return [
        (candidate, memory if isinstance(memory, str) else replace(memory, vector=vectors.get(memory.id)))
        for candidate, memory in made
    ]


def write(
    tx: Tx, context: Context, batch: Sequence[ReadLine], until: ErasedUntil, prepared: Prepared
) -> Iterator[Fate | str]:
    """Store the memories that are not there; one that is there gets the evidence that it lacks."""
    writer.lock(tx, context.tenant_id, context.user_id)
    erased = tombstones.are_erased(tx, context.tenant_id, context.user_id, [candidate for candidate, _ in prepared])
    outcomes = [
        ERASED if gone or until.covers(line.checked.recorded_at, line.checked.group_id) else memory
        for line, (_, memory), gone in zip(batch, prepared, erased, strict=True)
    ]
    standing = _Standing.of(tx, context, [memory for memory in outcomes if not isinstance(memory, str)])
    there: dict[tuple[str, int], str] = {}
    for line, memory in zip(batch, outcomes, strict=True):
        if isinstance(memory, str):
            yield memory
            continue
        stored_id = standing.claim(memory)
        there["", line.checked.ordinal] = str(stored_id or memory.id)
        yield "known" if stored_id else "restored"
    buried = _buried_versions(tx, context, standing.fresh)
    fresh = [standing.fitted(memory, buried) for memory in standing.fresh]
    origin = {"import": str(context.import_id)}
    restoration.restore(tx, context.tenant_id, context.user_id, fresh, origin, context.author)
    if restoration.cite(
        tx, context.tenant_id, {stored_id: memory.evidence for stored_id, memory in standing.claimed.items()}
    ):
        retention.plan(tx, context.tenant_id, standing.claimed)
    imports.put_places(tx, context.tenant_id, context.import_id, "memories", there)


def write_relations(tx: Tx, context: Context, batch: Sequence[ReadLine], _until: ErasedUntil) -> Iterator[Fate | str]:
    """Store the relations that are not there, between memories that are."""
    writer.lock(tx, context.tenant_id, context.user_id)
    lines = [line.checked for line in batch]
    ids = _ids(tx, context, [n for line in lines for n in (line.from_, line.to)])
    relations = [
        (ids[line.from_], line.relation, ids[line.to], line.strength, line.at)
        for line in lines
        if line.from_ in ids and line.to in ids and ids[line.from_] != ids[line.to]
    ]
    stored = restoration.relate(tx, context.tenant_id, relations)
    yield from ["restored"] * stored
    yield from ["known"] * (len(relations) - stored)
    yield from [LEFT_OUT] * (len(batch) - len(relations))


def write_profile(tx: Tx, context: Context, batch: Sequence[ReadLine], _until: ErasedUntil) -> Iterator[Fate | str]:
    """Store the profile of a user who has none, if all memories that it names are there."""
    for line in batch:
        document = masking.mask(line.plain["attributes"])
        named = set(profile_places.named(document, int))
        ids = _ids(tx, context, sorted(named))
        if ids.keys() != named:
            yield LEFT_OUT
        elif any(screen.screen(content).hostile for _, content in masking.texts(document)):
            yield HOSTILE
        else:
            owner, version = ProfileOwner(context.user_id), line.checked.version
            stored = profile.restore(
                tx,
                context.tenant_id,
                owner,
                version,
                profile_places.renamed(document, {ordinal: str(ids[ordinal]) for ordinal in named}, int),
            )
            yield "restored" if stored else "known"


def write_names(tx: Tx, context: Context, batch: Sequence[ReadLine], until: ErasedUntil) -> Iterator[Fate | str]:
    """Store the decisions about names that are not there; what has been decided since stays."""
    for line in batch:
        form, other = (masking.mask(line.plain[name]) for name in ("form", "other"))
        if until.covers(line.checked.at, None):
            yield ERASED
        else:
            decision = Decision(form, other, line.checked.same, line.checked.at)
            stored = decisions.restore(tx, context.tenant_id, context.user_id, decision)
            yield "restored" if stored else "known"


@dataclass(slots=True)
class _Standing:
    """Stored memories that a batch of lines stands for. A stored memory stands for one line of an archive alone."""

    same: Mapping[UUID, Sequence[UUID]]
    stated: Mapping[UUID, Sequence[UUID]]
    slot: Mapping[UUID, Sequence[UUID]]
    claimed: dict[UUID, RestoredMemory] = field(default_factory=dict)
    fresh: list[RestoredMemory] = field(default_factory=list)

    @classmethod
    def of(cls, tx: Tx, context: Context, restored: Sequence[RestoredMemory]) -> _Standing:
        stored = restoration.find(tx, context.user_id, restored)
        several = (stored.same, stored.stated, stored.slot)
        ids = {stored_id for by_id in several for stored_ids in by_id.values() for stored_id in stored_ids}
        own = imports.taken(tx, context.import_id, sorted(ids))
        same, stated, slot = (
            {
                name: [stored_id for stored_id in stored_ids if stored_id not in own]
                for name, stored_ids in by_id.items()
            }
            for by_id in several
        )
        return cls(same, stated, slot)

    def claim(self, memory: RestoredMemory) -> UUID | None:
        """Return the stored memory that this one is; None: it is new."""
        for stored_id in (*self.same.get(memory.id, ()), *self.stated.get(memory.id, ())):
            if stored_id not in self.claimed:
                self.claimed[stored_id] = memory
                return stored_id
        self.fresh.append(memory)
        return None

    def fitted(self, memory: RestoredMemory, buried: Mapping[UUID, set[int]]) -> RestoredMemory:
        """Return a memory as it can be stored: without erased wordings, and archived if its slot is taken."""
        gone = buried.get(memory.id, set())
        blank = {"content": "", "structured": {}}
        kept = [
            replace(old, reason=BLANKED, snapshot=old.snapshot | blank) if old.version in gone else old
            for old in memory.versions
        ]
        if not self.slot.get(memory.id):
            return replace(memory, versions=kept)
        version, now = memory.fields["version"] + 1, datetime.now(UTC)
        fields = memory.fields | {"status": Status.ARCHIVED, "version": version, "updated_at": now}
        snapshot = {name: memories.plain(value) for name, value in fields.items() if name != "version"}
        archived = RestoredVersion(version, "archive", now, "import", None, SLOT_TAKEN, snapshot)
        return replace(memory, fields=fields, versions=[*kept, archived])


def _vectors(context: Context, restored: Sequence[RestoredMemory]) -> dict[UUID, Any]:
    served = [memory for memory in restored if memory.fields["trust"] not in updates.UNBELIEVED]
    contents = list(dict.fromkeys(memory.fields["content"] for memory in served))
    vectors = dict(zip(contents, embed_sound(context.embedder, contents), strict=True)) if contents else {}
    return {memory.id: vectors[memory.fields["content"]] for memory in served}


def _buried_versions(tx: Tx, context: Context, fresh: Sequence[RestoredMemory]) -> dict[UUID, set[int]]:
    versions = [
        (memory.id, version)
        for memory in fresh
        for version in memory.versions
        if version.snapshot.keys() >= memory_lines.NEEDED and version.snapshot["content"] != memory.fields["content"]
    ]
    candidates = [memory_lines.as_candidate(version.snapshot) for _, version in versions]
    gone = tombstones.are_erased(tx, context.tenant_id, context.user_id, candidates)
    buried: dict[UUID, set[int]] = {}
    for (memory_id, version), is_gone in zip(versions, gone, strict=True):
        if is_gone:
            buried.setdefault(memory_id, set()).add(version.version)
    return buried


def _ids(tx: Tx, context: Context, ordinals: Sequence[int]) -> dict[int, UUID]:
    places = imports.places(tx, context.import_id, "memories", [("", n) for n in ordinals])
    return {n: UUID(ref) for (_, n), ref in places.items()}


def _cited(tx: Tx, import_id: UUID, batch: Sequence[ReadLine]) -> Cited:
    """Return id and event of the messages that memories cite."""
    cited = {(e.session_id, e.ordinal) for line in batch for e in line.checked.evidence if e.session_id}
    references = recordset([{"session_id": session, "ordinal": n} for session, n in sorted(cited)])
    rows = tx.execute(_CITED, {"id": import_id, "rows": references})
    return {(row.session_id, row.ordinal): (row.message_id, row.event_id) for row in rows}


_CITED = text("""
    SELECT p.session_id, p.ordinal, m.id AS message_id, m.event_id
    FROM json_to_recordset(cast(:rows AS json)) AS r (session_id text, ordinal int)
    JOIN import_places p ON p.import_id = :id AND p.file = 'messages' AND p.session_id = r.session_id
                        AND p.ordinal = r.ordinal
    JOIN messages m ON m.session_id = p.session_id AND m.id = p.ref
""")
