"""Turns the memories of an archive into what is stored: screened, with an id, and with their evidence. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid5

from core.consolidation import candidate_screening
from core.consolidation.candidate_screening import ScreenedCandidate
from core.memory.restoration import COLUMNS, RestoredEvidence, RestoredMemory, RestoredVersion
from core.transfer.archive_lines import ArchivedMemory
from core.transfer.archive_reader import ReadLine
from core.types import Candidate, Category, Evidence, Json, Topic, Trust

SCREENED: Final = ("subject", "content", "attribute", "value", "structured", "tags", "trust", "importance", "pinned")
"""Fields that screening may change."""

NEEDED: Final = frozenset({"subject", "content", "category", "occurred_at"})
"""Columns without which a snapshot holds no statement."""

_MILLISECONDS: Final = 1_000

Cited = Mapping[tuple[str, int], tuple[str, str]]
"""Id and event of each message that an ordinal stands for."""


def candidate(line: ArchivedMemory, cited: Cited) -> Candidate:
    """Return a memory as a statement to be screened, and looked for among what was erased."""
    quotes = (_evidence(citation, cited) for citation in line.evidence)
    evidence = tuple(Evidence(e.session_id, e.message_id, e.event_id, e.quote) for e in quotes if e is not None)
    fields = {name: getattr(line, name) for name in Candidate.__slots__ if hasattr(line, name) and name != "evidence"}
    return Candidate(**{**fields, "evidence": evidence, "tags": tuple(line.tags),
                        "audience_labels": tuple(line.audience_labels)})  # fmt: skip


def restored(
    read: ReadLine, screened: ScreenedCandidate, import_id: UUID, cited: Cited, *, is_own: bool = False
) -> RestoredMemory:
    """Return a memory ready to be stored. `is_own`: this installation exported it as pinned or confirmed."""
    line, plain = read.checked, read.plain
    changed = _changed(screened, is_own=is_own)
    masked = [quote.quote for quote in screened.candidate.evidence]
    evidence = [piece for index, e in enumerate(line.evidence) if (piece := _evidence(e, cited, str(import_id), index))]
    return RestoredMemory(
        id=memory_id(line.recorded_at, line.ordinal, import_id),
        fields={name: plain[name] for name in COLUMNS} | _typed(line) | changed,
        versions=[_version(version, plain["versions"][at]) for at, version in enumerate(line.versions)],
        evidence=[replace(piece, quote=quote) for piece, quote in zip(evidence, masked, strict=True)],
    )


def memory_id(recorded_at: datetime, ordinal: int, import_id: UUID) -> UUID:
    """Return the id of a restored memory, a UUID of version 7.

    Ids have the order of the archive, and each has its own end: people name a memory by its last characters.
    """
    moment = int(recorded_at.astimezone(UTC).timestamp() * _MILLISECONDS) & (2**48 - 1)
    end = uuid5(import_id, str(ordinal)).int & (2**42 - 1)
    high, low = ordinal >> 20 & 0xFFF, (ordinal & 0xFFFFF) << 42 | end
    return UUID(int=moment << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)


def _typed(line: ArchivedMemory) -> Json:
    """Return the fields that are computed with: times as such."""
    names = ("occurred_at", "recorded_at", "last_used_at", "importance", "half_life_days")
    return {name: getattr(line, name) for name in names} | {"audience_labels": sorted(set(line.audience_labels))}


def _changed(screened: ScreenedCandidate, *, is_own: bool = False) -> Json:
    hostile = bool(screened.hostile) and screened.candidate.trust not in {Trust.QUARANTINED, Trust.REJECTED}
    candidate = candidate_screening.quarantined(screened.candidate) if hostile else screened.candidate
    if hostile or not is_own:
        candidate = _without_authority(candidate)
    return {name: getattr(candidate, name) for name in SCREENED} | {"tags": list(candidate.tags)}


def _without_authority(candidate: Candidate) -> Candidate:
    """Return a statement that does not speak with the system's voice until a person of this installation lets it."""
    is_order = candidate.category is Category.INSTRUCTION and candidate.trust is Trust.CONFIRMED
    return replace(candidate, pinned=False, trust=Trust.CANDIDATE if is_order else candidate.trust)


def _version(version: Any, plain: Json) -> RestoredVersion:
    """Return a version; its snapshot is screened like the memory, because it can be read and gone back to."""
    was = {name: value for name, value in plain["snapshot"].items() if name in COLUMNS and name != "version"}
    if was.keys() >= NEEDED:
        seen = candidate_screening.screened(as_candidate(was))
        was |= {name: value for name, value in _changed(seen).items() if name in was}
    return RestoredVersion(
        version.version, version.change, version.at, version.author, version.rule, version.reason, was
    )


def as_candidate(was: Json) -> Candidate:
    """Return the statement of a snapshot."""
    return Candidate(
        content=was["content"],
        category=Category(was["category"]),
        topic=Topic(was.get("topic", Topic.OTHER)),
        subject=was["subject"],
        evidence=(),
        occurred_at=datetime.fromisoformat(was["occurred_at"]),
        importance=was.get("importance", 0.5),
        attribute=was.get("attribute"),
        value=was.get("value"),
        tags=tuple(was.get("tags", ())),
        structured=was.get("structured", {}),
        trust=Trust(was.get("trust", Trust.CANDIDATE)),
        pinned=was.get("pinned", False),
    )


def _evidence(citation: Any, cited: Cited, event_id: str = "", index: int = 0) -> RestoredEvidence | None:
    """Return evidence with the message that it cites; None: that is not there. `event_id`: stands for a request."""
    if not citation.session_id:
        return RestoredEvidence(citation.quote, citation.at, "", f"{event_id}/{index}", event_id)
    message = cited.get((citation.session_id, citation.ordinal))
    return None if message is None else RestoredEvidence(citation.quote, citation.at, citation.session_id, *message)
