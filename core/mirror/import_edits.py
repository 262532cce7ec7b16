"""Files to database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.consolidation import pipeline
from core.consolidation.pipeline import Consolidation
from core.errors import Conflict, Later
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.inference.sound_vectors import embed_sound
from core.memory import identity, writer
from core.memory.changes import Add, Archive, Change, Confirm, Edit, Ignore, Merge, Owner, Replace, Restore
from core.mirror import diff, markdown, sync_state
from core.mirror.arrangement import Memory, changed_fields
from core.mirror.diff import Clash, Edited, FileLine, Findings, Outcome
from core.mirror.markdown import LEARNINGS, Document, MemoryLine
from core.mirror.sync_state import Mirror, SyncState
from core.screening import screen
from core.storage.db import Tx
from core.types import Candidate, Category, Event, Evidence, Json, Kind, Topic, Trust

NAME: Final = "file"
"""Name of the author of edits in a file."""

BELIEVED_SECONDS: Final = 5.0
"""Seconds for which a truncated file (without front matter or final line end, or less than half as long) must be
unchanged before it is believed. Editors that truncate and write, and synchronization tools, take less.
"""

NEW_AT_ONCE: Final = 500
"""New lines judged in one reading: each is compared with all others of the reading."""

CONFIDENCE: Final = 0.95
"""Confidence of a statement that a person wrote."""

KINDS: Final[Mapping[Category, Kind]] = {
    Category.SKILL: Kind.PROCEDURAL,
    Category.EPISODE: Kind.EPISODIC,
    Category.EVENT: Kind.EPISODIC,
}


@dataclass(slots=True)
class PendingImport:
    """Changes read from the files, written only if the files and the agreed state have not changed.

    `again`: there is more to read, based on this. `edited`: the files differ from the agreed state.
    """

    mirror: Mirror
    stands: SyncState
    edited: bool = False
    again: bool = False
    changes: list[Change] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    documents: Mapping[str, Document] = field(default_factory=dict)

    def write(self, tx: Tx, author: Author) -> Json:
        """Write the changes, authored by the file. Conflict: a file, the agreed state or a memory has changed."""
        author = replace(author, name=NAME)
        if not self.edited:
            return {"mirror": "unchanged"} | self._tell(tx, author)
        mirror = self.mirror
        writer.lock(tx, mirror.tenant_id, mirror.user_id)
        self._require_unchanged(tx)
        counts = writer.apply(tx, mirror.tenant_id, Owner(mirror.user_id), self.changes, author)
        self._agree(tx)
        return {"mirror": "read", **counts} | self._tell(tx, author)

    def _require_unchanged(self, tx: Tx) -> None:
        now = sync_state.load(tx, self.mirror)
        digests = [{f: seen and seen.digest for f, seen in state.seen.items()} for state in (now, self.stands)]
        if now.agreed != self.stands.agreed or digests[0] != digests[1]:
            raise Conflict("The files have been edited or written in the meantime.")

    def _agree(self, tx: Tx) -> None:
        """Store the files as read as the agreed state, without concurrent changes in the database."""
        memories, before = sync_state.memories_of(tx, self.mirror.user_id), self.stands.versions
        for file in self.stands.readable:
            lines = [line for _, line in self.documents[file].lines() if line.id in memories]
            versions = {
                line.id: memories[line.id].version
                for line in lines
                if line.id
                and (line.id not in before or not changed_fields(line.displayed, memories[line.id].displayed))
            }
            old = {line.id: before[line.id] for line in lines if line.id in before}
            sync_state.agree(tx, self.mirror, file, markdown.render(self.documents[file]), old | versions)

    def _tell(self, tx: Tx, author: Author) -> Json:
        user = self.mirror.user_id
        emissions = [Emission("mirror.conflicted", _conflict(user, clash), f"user:{user}") for clash in self.clashes]
        emissions += [
            Emission("mirror.refused", {"user_id": user, "file": file, "reason": why}, f"user:{user}")
            for file, why in self.refused
        ]
        publishing.publish(tx, self.mirror.tenant_id, author, emissions)
        counts = Counter(conflicts=len(self.clashes), refused=len(self.refused))
        return {name: n for name, n in counts.items() if n}


def read(consolidation: Consolidation, mirror: Mirror, event: Event, now: datetime) -> PendingImport:
    """Read a user's edits since the last agreement. No transaction is open during computation.

    Changes to known memories come first; new statements are read separately, because they are judged against the
    result. Later: a file looks as if it is still being written.
    """
    with consolidation.db.tenant(mirror.tenant_id) as tx:
        stands = sync_state.load(tx, mirror)
    _require_settled(stands, now)
    findings = diff.compare(stands.then, stands.now, stands.memories, stands.versions)
    reading = PendingImport(mirror, stands, edited=_differs(stands), refused=list(stands.refused.items()))
    reading.clashes = findings.clashes
    changes = _on_known(consolidation, reading, findings, now)
    if changes:
        reading.changes, reading.again = changes, bool(findings.new)
        reading.documents = diff.attach_ids(findings.documents, [(item, None) for item in findings.new])
        return reading
    new, rest = findings.new[:NEW_AT_ONCE], findings.new[NEW_AT_ONCE:]
    reading.changes, outcomes = _on_new(consolidation, mirror, stands, new, event)
    reading.again = bool(rest)
    reading.documents = diff.attach_ids(findings.documents, [*outcomes, *((item, None) for item in rest)])
    return reading


def _conflict(user_id: str, clash: Clash) -> Json:
    return {
        "user_id": user_id,
        "memory_id": str(clash.memory.id),
        "file": clash.file,
        "version": clash.memory.version,
        "kept": clash.kept,
    }


def _differs(stands: SyncState) -> bool:
    """Return whether a readable file differs from its agreed state."""
    texts = {file: seen.text for file in stands.readable if (seen := stands.seen[file])}
    return any(file not in stands.agreed or stands.agreed[file].text != text for file, text in texts.items())


def _require_settled(stands: SyncState, now: datetime) -> None:
    """Require a complete file. Later: it has just lost its head, its end, or more than half of its content."""
    for file, seen in stands.seen.items():
        if seen is None:
            continue
        agreed = stands.agreed.get(file)
        cut = agreed is not None and agreed.text.endswith("\n") and not seen.text.endswith("\n")
        shrunken = agreed is not None and 2 * len(seen.text) < len(agreed.text)
        age = now.timestamp() - seen.written_at
        if (cut or shrunken or file in stands.refused) and 0 <= age < BELIEVED_SECONDS:
            pause = timedelta(seconds=BELIEVED_SECONDS - age)
            raise Later(f"{file} has just become incomplete; it may still be being written.", pause)


def _on_known(consolidation: Consolidation, reading: PendingImport, findings: Findings, now: datetime) -> list[Change]:
    """Return changes to known memories. Where an edit makes one equal to another, one of them is removed."""
    gone = {memory.id for memory, _ in findings.removed}
    standing = [m for m in reading.stands.memories.values() if m.standing and m.id not in gone]
    taken = {memory.key: memory.id for memory in standing}
    slots = {(memory.subject, memory.attribute) for memory in standing if memory.attribute}
    changes: list[Change] = [Archive(m.id, m.version, f"Deleted from {file}.") for m, file in findings.removed]
    for memory, file in findings.restored:
        if memory.key in taken or (memory.subject, memory.attribute) in slots:
            continue  # It stays archived, and its line goes: what it says is said, or was replaced.
        taken[memory.key] = memory.id
        slots |= {(memory.subject, memory.attribute)} if memory.attribute else set()
        changes.append(Restore(memory.id, memory.version, f"Put back into {file}."))
    reworded = {edit.memory.id for edit in findings.edited if "content" in edit.fields}
    taken = {key: memory_id for key, memory_id in taken.items() if memory_id not in reworded}
    for edit in findings.edited:
        changes += _edit(consolidation, reading, edit, now, taken)
    return _embed(consolidation, changes)


def _edit(
    consolidation: Consolidation, reading: PendingImport, edit: Edited, now: datetime, taken: dict[str, UUID]
) -> list[Change]:
    memory, displayed, file = edit.memory, edit.item.line.displayed, edit.item.file
    fields: dict[str, object] = {n: getattr(displayed, n) for n in edit.fields & {"importance", "pinned"}}
    if "tags" in edit.fields:
        fields["tags"] = list(displayed.tags)
    if "disputed" in edit.fields:
        fields["trust"] = Trust.DISPUTED if displayed.disputed else Trust.CONFIRMED
    fields |= _headings(edit)
    reason = f"Edited in {file}."
    if "content" in edit.fields:
        screened = screen.screen(displayed.content)
        if screened.secret and consolidation.secrets == "refuse":
            reading.refused.append((file, f"An edit of memory {memory.id} holds a secret."))
        else:
            key = identity.statement_key(memory.subject, screened.text)
            if taken.setdefault(key, memory.id) != memory.id:
                return [Archive(memory.id, memory.version, f"Edited in {file} to say what memory {taken[key]} says.")]
            fields |= _fields_of_wording(memory, screened.text, now)
            fields |= {"trust": Trust.QUARANTINED} if screened.hostile else {}
    return [Edit(memory.id, memory.version, fields, reason)] if fields else []


def _headings(edit: Edited) -> dict[str, object]:
    group, fields = edit.item.line.group, dict[str, object]()
    if "category" in edit.fields and group.category:
        fields |= {"category": group.category, "kind": KINDS.get(group.category, Kind.SEMANTIC)}
    if "topic" in edit.fields and group.topic:
        fields["topic"] = group.topic
    return fields


def _fields_of_wording(memory: Memory, content: str, now: datetime) -> dict[str, object]:
    """Return the fields that follow from new words: a person confirmed them, and a slot has the value in them."""
    fields: dict[str, object] = {"content": content, "trust": Trust.CONFIRMED, "confidence": CONFIDENCE}
    if memory.attribute is None or memory.value is None or memory.value.casefold() in content.casefold():
        return fields
    before, separator, after = memory.displayed.content.partition(memory.value)
    value = content[len(before) : len(content) - len(after)]
    if separator and value.strip() and content == f"{before}{value}{after}":
        return fields | {"value": value.strip(), "occurred_at": now}
    return fields | {"attribute": None, "value": None}


def _embed(consolidation: Consolidation, changes: Sequence[Change]) -> list[Change]:
    """Return the changes with the vectors of new content."""
    texts = {c.id: str(c.fields["content"]) for c in changes if isinstance(c, Edit) and "content" in c.fields}
    if not texts:
        return list(changes)
    vectors = dict(zip(texts, embed_sound(consolidation.embedder, list(texts.values())), strict=True))
    return [replace(c, vector=vectors[c.id]) if isinstance(c, Edit) and c.id in vectors else c for c in changes]


def _on_new(
    consolidation: Consolidation, mirror: Mirror, stands: SyncState, new: Sequence[FileLine], event: Event
) -> tuple[list[Change], list[tuple[FileLine, Outcome]]]:
    """Judge lines without a memory like all other statements, and return the result of each."""
    if not new:
        return [], []
    subject = _subjects(mirror, stands)
    candidates = [_candidate(item, subject, event) for item in new]
    decided = list(
        pipeline.consolidate(consolidation, mirror.tenant_id, Owner(mirror.user_id), candidates, explicit=True)
    )
    became = {evidence: _outcome_of(c) for c in decided if isinstance(c, _JUDGED) for evidence in c.candidate.evidence}
    outcomes: list[tuple[FileLine, Outcome]] = []
    for item, candidate in zip(new, candidates, strict=True):
        outcome = became.get(candidate.evidence[0], "It has come to nothing.")
        outcomes.append((item, _without_secrets(item.line, outcome) if isinstance(outcome, str) else outcome))
    return decided, outcomes


def _without_secrets(line: MemoryLine, why: str) -> MemoryLine:
    """Return a line that remains without a memory, with secrets masked."""
    return markdown.with_note(replace(line, raw=screen.screen(line.raw).text), why)


_JUDGED = (Add, Confirm, Merge, Replace, Ignore)


def _outcome_of(change: Add | Confirm | Merge | Replace | Ignore) -> UUID | str:
    match change:
        case Ignore():
            return change.reason
        case Add() if change.candidate.trust is Trust.QUARANTINED or change.past is not None:
            return change.reason
        case Add():
            return change.id
        case _:
            return change.known.id


def _candidate(item: FileLine, subjects: Sequence[str], event: Event) -> Candidate:
    displayed, group = item.line.displayed, item.line.group
    usual = Category.INSTRUCTION if item.file == LEARNINGS else Category.FACT
    category = group.category or usual
    folded = displayed.content.casefold()
    evidence = Evidence("", event.id, event.id, screen.screen(displayed.content).text)
    return Candidate(
        content=displayed.content,
        category=category,
        topic=group.topic or Topic.OTHER,
        subject=next((subject for subject in subjects if folded.startswith(subject.casefold())), subjects[0]),
        evidence=(evidence,),
        occurred_at=event.time,
        kind=KINDS.get(category, Kind.SEMANTIC),
        importance=markdown.IMPORTANCE if displayed.importance is None else displayed.importance,
        confidence=CONFIDENCE,
        tags=displayed.tags,
        trust=Trust.DISPUTED if displayed.disputed else Trust.CONFIRMED,
        pinned=displayed.pinned,
    )


def _subjects(mirror: Mirror, stands: SyncState) -> list[str]:
    """Return the subjects of this user's memories, the most frequent first: a new line is about one of them."""
    counted = Counter(memory.subject for memory in stands.memories.values() if memory.standing)
    return [subject for subject, _ in counted.most_common()] or [mirror.user_id]
