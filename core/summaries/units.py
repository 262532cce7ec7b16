"""Conversation units: read, segment, write.

`read` returns the messages without a unit and the open units, `plan` cuts and words them, `PendingUnits.write` stores
the result. A unit holds messages to one audience, a group or the people named; nobody else sees it. The last unit of
each audience grows in place; earlier ones stay as they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from uuid_utils import uuid7

from core import metrics
from core.errors import Conflict
from core.events.publishing import Author
from core.extraction.protocol import ExtractedUnit
from core.index import search_index, unit_entries
from core.index.search_index import Unembedded
from core.index.unit_entries import UnitEntry
from core.inference.embedders import Embedder
from core.inference.sound_vectors import embed_sound
from core.sessions import sessions, speaker_clocks
from core.storage.db import Tx, message_places, recordset, required_row
from core.summaries import segmentation, unit_llm_text, unit_rule_text
from core.summaries.segmentation import Boundary
from core.summaries.unit_llm_text import EarlierModelText
from core.summaries.unit_rule_text import UnitText
from core.types import Json, Message

READ: Final = 400
"""Messages cut at once; the rest follows in further runs. Embedding as many takes the local model 15 s."""

Vector = NDArray[np.float32]

Audience = tuple[str | None, tuple[str, ...]]
"""Audience of a message: a group, or the people named; without either, an agent, by one user alone."""


@dataclass(frozen=True, slots=True)
class ConversationUnit:
    """A slice of a session on one topic. `boundary`: why it begins; `prompt`: of the model that worded it, if any."""

    id: UUID
    session_id: str
    group_id: str | None
    from_position: int
    to_position: int
    boundary: str
    subject: str
    summary: str
    narrative: str
    participants: Sequence[str]
    keywords: Sequence[str]
    facts: Sequence[Json]
    started_at: datetime
    ended_at: datetime
    prompt: str | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AudienceSlice:
    """Messages to the same people, in order, and the unit that contains the first of them; `whole`: not cut again."""

    audience: Audience
    messages: Sequence[Message]
    existing: ConversationUnit | None = None
    whole: bool = False
    boundary: Boundary = Boundary.START


@dataclass(frozen=True, slots=True)
class UncutSession:
    """Messages of a session without a unit, each with the open unit that may take it; `more`: there are others.

    `vectors`: of the messages that have one in the search index, by message.
    """

    session_id: str
    pieces: Sequence[AudienceSlice]
    more: bool
    vectors: Mapping[str, Vector]


@dataclass(frozen=True, slots=True)
class UnitDraft:
    """A unit to be written, an existing one or a new one. `vector`: of `search_text`, if it was made."""

    piece: AudienceSlice
    text: UnitText
    vector: Vector | None = None

    @property
    def search_text(self) -> str:
        """The text by which it is found; empty where nobody said anything."""
        unit_text = self.text
        return (
            unit_entries.text(unit_text.subject, unit_text.summary, unit_text.facts, unit_text.narrative)
            if unit_text.summary
            else ""
        )


@dataclass(frozen=True, slots=True)
class PendingUnits:
    """Units cut from a session, written only if nobody has written or erased anything there in the meantime.

    `embedded`: the messages embedded to cut it, which take their vectors to the search index.
    """

    tenant_id: str
    session_id: str
    drafts: Sequence[UnitDraft]
    more: bool
    embedded: Sequence[tuple[Unembedded, Vector]] = ()

    def write(self, tx: Tx, _author: Author) -> Json:
        """Write the units. Conflict: another worker has cut the session, or content was erased in the meantime."""
        if self.drafts:
            self._hold(tx)
        drafts = [(draft, _values(draft)) for draft in self.drafts]
        new = [values for draft, values in drafts if draft.piece.existing is None]
        for draft, values in drafts:
            if draft.piece.existing is not None:
                values |= {"was": draft.piece.existing.updated_at, "facts": recordset(draft.text.facts)}
                if tx.execute(_GROW, values).rowcount != 1:
                    raise Conflict("Another worker has divided this session in the meantime.")
        if new and tx.execute(_INSERT, {"tenant": self.tenant_id, "rows": recordset(new)}).rowcount != len(new):
            raise Conflict("Another worker has divided this session in the meantime.")
        unit_entries.put(tx, self.tenant_id, [_entry(draft, values) for draft, values in drafts if draft.search_text])
        if self.embedded:
            rows, vectors = zip(*self.embedded, strict=True)
            search_index.offer_vectors(tx, rows, np.stack(vectors))
        return {"units": len(new), "grown": len(self.drafts) - len(new)}

    def _hold(self, tx: Tx) -> None:
        """Lock the messages of the drafts against erasure until the units are written: an erasure then finds them."""
        messages = {m.position: m for draft in self.drafts for m in draft.piece.messages}
        session_row = tx.execute(_HOLD, {"session": self.session_id}).one_or_none()
        rows = tx.execute(_HOLD_MESSAGES, {"session": self.session_id, "positions": sorted(messages)}).all()
        if session_row is None or {(r.id, r.blank) for r in rows} != {(m.id, not m.content) for m in messages.values()}:
            raise Conflict("Content of this session was erased in the meantime.")


def read(tx: Tx, session_id: str, *, limit: int = READ, extracted_units: Sequence[ExtractedUnit] = ()) -> UncutSession:
    """Read the messages without a unit, and the units that `extracted_units` covers. NotFound: no such session."""
    session = sessions.get(tx, session_id)
    fresh: defaultdict[Audience, list[Message]] = defaultdict(list)
    rows = tx.execute(_FRESH, {"session": session_id, "limit": limit}).all()
    messages = speaker_clocks.of_messages(tx, [sessions.message_of(row) for row in rows])
    for row, message in zip(rows, messages, strict=True):
        fresh[_audience(row)].append(message)
    last = {_audience(row): _unit(row) for row in tx.execute(_LAST, {"session": session_id})} if fresh else {}
    parameters = {
        "session": session_id,
        "ids": sorted({message_id for slice_ in extracted_units for message_id in slice_.message_ids}),
    }
    closed = {row.id: row for row in tx.execute(_CITED, parameters)} if extracted_units else {}
    within = _within(tx, [*(last[audience].id for audience in fresh if audience in last), *closed])
    pieces = []
    for audience, messages in fresh.items():
        opened = last.get(audience)
        closed.pop(opened.id if opened else None, None)
        pieces.append(AudienceSlice(audience, [*(within[opened.id] if opened else []), *messages], opened))
    pieces += [AudienceSlice(_audience(row), within[row.id], _unit(row), whole=True) for row in closed.values()]
    to_cut = [m.id for piece in pieces if not piece.whole for m in piece.messages if unit_rule_text.is_told(m)]
    vectors = search_index.vectors_of_messages(tx, session_id, to_cut)
    return UncutSession(session_id, pieces, bool(rows) and rows[-1].position < session.message_count, vectors)


def plan(
    tenant_id: str,
    session_slice: UncutSession,
    embedder: Embedder,
    gap_seconds: float,
    extracted_units: Sequence[ExtractedUnit] = (),
) -> PendingUnits:
    """Cut the messages and word each unit; `extracted_units`: slices in the words of a model.

    A slice goes to the unit that it shares most messages with; a slice that mixes audiences goes to none. No
    transaction may be open. Raises Later or Never from the embedder.
    """
    lacking = _messages_to_embed(session_slice)
    made = embed_sound(embedder, [row.text for row in lacking]) if lacking else ()
    embedded = list(zip(lacking, made, strict=True))
    metrics.VECTORS.labels("stored").inc(len(session_slice.vectors))
    vectors = {**session_slice.vectors, **{row.ref: vector for row, vector in embedded}}
    gap = timedelta(seconds=gap_seconds)
    cut = [unit for piece in session_slice.pieces for unit in _cut(piece, vectors, embedder.dimension, gap)]
    slices = _assign_slices(cut, extracted_units)
    drafts = [
        UnitDraft(unit, unit_llm_text.unit_text(unit.messages, slices[index], _earlier(unit)))
        for index, unit in enumerate(cut)
        if slices[index] or unit.existing is None or unit.existing.to_position != unit.messages[-1].position
    ]
    return PendingUnits(tenant_id, session_slice.session_id, _embedded(drafts, embedder), session_slice.more, embedded)


def of_session(
    tx: Tx, session_id: str, seen_by: str | None = None, *, before: int | None = None, limit: int = 100
) -> list[ConversationUnit]:
    """Return the units of a session, newest first, below the position `before`; `seen_by`: those that this user heard.

    Units without talk (only tool messages) are left out. NotFound: there is no such session.
    """
    sessions.get(tx, session_id)
    rows = tx.execute(_OF_SESSION, {"session": session_id, "seen_by": seen_by, "before": before, "limit": limit})
    return [_unit(row) for row in rows]


def get(tx: Tx, unit_id: UUID, seen_by: str | None = None) -> ConversationUnit:
    """Return one unit; `seen_by`: if this user heard it. NotFound: there is none, or it has no talk."""
    missing = f"There is no unit {unit_id} in this tenant{f' that {seen_by!r} heard' if seen_by else ''}."
    row = required_row(tx, _BY_ID, {"id": unit_id, "seen_by": seen_by}, missing)
    return _unit(row)


def forget_messages(tx: Tx, message_keys: Sequence[tuple[str, str]]) -> int:
    """Reword, by rules, the units of these messages (session and id), blank or labelled by now; return how many."""
    covering = [(row.tenant_id, _unit(row)) for row in tx.execute(_COVERING, message_places(message_keys))]
    within = _within(tx, [unit.id for _, unit in covering])
    for tenant_id, unit in covering:
        if not within[unit.id]:
            tx.execute(_DELETE, {"id": unit.id})
            continue
        piece = AudienceSlice((unit.group_id, ()), within[unit.id], unit, boundary=Boundary(unit.boundary))
        draft = UnitDraft(piece, unit_llm_text.unit_text(piece.messages))
        values = _values(draft)
        tx.execute(_GROW, values | {"was": unit.updated_at, "facts": recordset(draft.text.facts)})
        if draft.search_text:
            unit_entries.put(tx, tenant_id, [_entry(draft, values)])
    return len(covering)


def _within(tx: Tx, ids: Sequence[UUID]) -> Mapping[UUID, list[Message]]:
    messages_by_unit: defaultdict[UUID, list[Message]] = defaultdict(list)
    rows = tx.execute(_WITHIN, {"ids": list(ids)}).all() if ids else ()
    for row, message in zip(rows, speaker_clocks.of_messages(tx, list(map(sessions.message_of, rows))), strict=True):
        messages_by_unit[row.unit_id].append(message)
    return messages_by_unit


def _audience(row: Any) -> Audience:
    return row.group_id, tuple(row.heard)


def _unit(row: Any) -> ConversationUnit:
    return ConversationUnit(**{field.name: getattr(row, field.name) for field in fields(ConversationUnit)})


def _messages_to_embed(session_slice: UncutSession) -> list[Unembedded]:
    """Return the messages to cut that have no vector yet, with the text that the search index embeds."""
    cut = [m for piece in session_slice.pieces if not piece.whole for m in piece.messages if unit_rule_text.is_told(m)]
    return [
        Unembedded("message", m.session_id, m.id, search_index.embedded_text(m.content, m.speaker), m.occurred_at)
        for m in cut
        if m.id not in session_slice.vectors
    ]


def _cut(
    piece: AudienceSlice, vector_by_id: Mapping[str, Vector], dimension: int, gap: timedelta
) -> list[AudienceSlice]:
    """Cut a piece; the unit that holds its beginning keeps the first slice."""
    opened = Boundary(piece.existing.boundary) if piece.existing else Boundary.START
    if piece.whole:
        return [replace(piece, boundary=opened)]
    tellable = [unit_rule_text.is_told(m) for m in piece.messages]
    vectors = np.zeros((len(tellable), dimension), dtype=np.float32)
    for index, message in enumerate(piece.messages):
        if tellable[index]:
            vectors[index] = vector_by_id[message.id]
    turns = [
        segmentation.turn(m.content, m.occurred_at, spoken=spoken)
        for m, spoken in zip(piece.messages, tellable, strict=True)
    ]
    return [
        AudienceSlice(
            piece.audience,
            piece.messages[slice_.start : slice_.stop],
            None if slice_.start else piece.existing,
            boundary=slice_.boundary,
        )
        for slice_ in segmentation.cut(turns, vectors, gap, opened)
    ]


def _assign_slices(
    units: Sequence[AudienceSlice], extracted_units: Sequence[ExtractedUnit]
) -> Mapping[int, list[ExtractedUnit]]:
    """Assign each slice to the unit that it shares most messages with, of two the earlier one."""
    unit_indexes = {m.id: index for index, unit in enumerate(units) for m in unit.messages}
    assigned: defaultdict[int, list[ExtractedUnit]] = defaultdict(list)
    for extracted in extracted_units:
        shared = Counter(unit_indexes[message_id] for message_id in extracted.message_ids if message_id in unit_indexes)
        if len({units[index].audience for index in shared}) == 1:
            most = max(shared, key=lambda index: (shared[index], -index))
            assigned[most].append(
                replace(extracted, message_ids=[m for m in extracted.message_ids if unit_indexes.get(m) == most])
            )
    return assigned


def _earlier(unit: AudienceSlice) -> EarlierModelText | None:
    """Return the model's text of an open unit, where all messages that it covers are still in the unit."""
    existing = unit.existing
    if existing is None or existing.prompt is None or existing.to_position > unit.messages[-1].position:
        return None
    before = UnitText(**{field.name: getattr(existing, field.name) for field in fields(UnitText)})
    return EarlierModelText(before, existing.to_position)


def _embedded(drafts: Sequence[UnitDraft], embedder: Embedder) -> list[UnitDraft]:
    """Return the drafts with their vectors, where somebody said something."""
    texts = list(dict.fromkeys(draft.search_text for draft in drafts if draft.search_text))
    vectors = dict(zip(texts, embed_sound(embedder, texts), strict=True)) if texts else {}
    return [replace(draft, vector=vectors.get(draft.search_text)) for draft in drafts]


def _entry(draft: UnitDraft, values: Mapping[str, Any]) -> UnitEntry:
    first = draft.piece.messages[0]
    return UnitEntry(
        values["id"],
        first.session_id,
        first.position,
        first.user_id if first.group_id is None else None,
        first.group_id,
        values["started_at"],
        draft.search_text,
        draft.vector,
    )


def _values(draft: UnitDraft) -> dict[str, Any]:
    piece, unit_text = draft.piece, draft.text
    return {
        "id": piece.existing.id if piece.existing else UUID(str(uuid7())),
        "session_id": piece.messages[0].session_id,
        "group_id": piece.messages[0].group_id,
        "from_position": piece.messages[0].position,
        "to_position": piece.messages[-1].position,
        "boundary": piece.boundary.value,
        "started_at": min(m.occurred_at for m in piece.messages),
        "ended_at": max(m.occurred_at for m in piece.messages),
        **{field.name: getattr(unit_text, field.name) for field in fields(UnitText)},
    }


_NAMED = "CASE jsonb_typeof({0}.extras -> 'participants') WHEN 'array' THEN {0}.extras -> 'participants' ELSE '[]' END"


def _audience_sql(message: str) -> str:
    """Return SQL for the audience of a message outside a group: its user, and who else is named."""
    names = f"SELECT {message}.user_id UNION SELECT jsonb_array_elements_text({_NAMED.format(message)}) ORDER BY 1"
    return f"CASE WHEN {message}.group_id IS NULL THEN ARRAY({names}) ELSE '{{}}' END"


FIRST = "JOIN messages f ON f.session_id = u.session_id AND f.position = u.from_position"
"""A unit's first message `f`: it was heard by those who heard all of it."""

SAME = f"""m.group_id IS NOT DISTINCT FROM f.group_id AND {_audience_sql("m")} = {_audience_sql("f")}
    AND m.audience_labels = '{{}}'"""
"""Condition that a message `m` was heard by the same people. Units are for all of these, and tell nothing labelled."""

_FRESH = text(f"""
    SELECT m.*, {_audience_sql("m")} AS heard FROM messages m
    WHERE m.session_id = :session
      AND m.position > (SELECT coalesce(max(u.to_position), 0) FROM units u WHERE u.session_id = :session)
      AND m.audience_labels = '{{}}'
    ORDER BY m.position LIMIT :limit
""")

_LAST = text(f"""
    SELECT DISTINCT ON (u.group_id, heard) u.*, {_audience_sql("f")} AS heard FROM units u {FIRST}
    WHERE u.session_id = :session ORDER BY u.group_id, heard, u.from_position DESC
""")

_CITED = text(f"""
    SELECT DISTINCT ON (u.id) u.*, {_audience_sql("f")} AS heard FROM messages m
    JOIN units u ON u.session_id = m.session_id AND m.position BETWEEN u.from_position AND u.to_position {FIRST}
    WHERE m.session_id = :session AND m.id = ANY(:ids) AND {SAME} ORDER BY u.id
""")

_WITHIN = text(f"""
    SELECT u.id AS unit_id, m.* FROM units u {FIRST}
    JOIN messages m ON m.session_id = u.session_id AND m.position BETWEEN u.from_position AND u.to_position
    WHERE u.id = ANY(:ids) AND {SAME} ORDER BY m.position
""")

_HEARD = f"""
    (cast(:seen_by AS text) IS NULL OR cast(:seen_by AS text) = ANY({_audience_sql("f")}) OR EXISTS (
        SELECT FROM messages g WHERE g.session_id = u.session_id AND g.group_id = f.group_id
          AND (g.user_id = :seen_by OR jsonb_exists({_NAMED.format("g")}, :seen_by))))
"""
"""Units of a group are visible to members who spoke to it in this session, or are named as participants."""

_OF_SESSION = text(f"""
    SELECT u.* FROM units u {FIRST}
    WHERE u.session_id = :session AND u.summary <> '' AND (cast(:before AS int) IS NULL OR u.from_position < :before)
      AND {_HEARD}
    ORDER BY u.from_position DESC LIMIT :limit
""")

_BY_ID = text(f"SELECT u.* FROM units u {FIRST} WHERE u.id = :id AND u.summary <> '' AND {_HEARD}")

_COVERING = text("""
    SELECT u.* FROM units u WHERE EXISTS (
        SELECT FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS p (session_id, id)
        JOIN messages m ON m.session_id = p.session_id AND m.id = p.id
        WHERE m.session_id = u.session_id AND m.position BETWEEN u.from_position AND u.to_position)
    ORDER BY u.id FOR UPDATE
""")

_DELETE = text("DELETE FROM units WHERE id = :id")
"""Of a unit all of whose messages have audience labels nothing is left to tell."""

_HOLD = text("SELECT id FROM sessions WHERE id = :session FOR KEY SHARE")
"""Erasing a user locks their sessions first; adding messages takes no such lock."""

_HOLD_MESSAGES = text("""
    SELECT id, content = '' AS blank FROM messages
    WHERE session_id = :session AND position = ANY(:positions) ORDER BY position FOR SHARE
""")

_GROW = text("""
    UPDATE units SET to_position = :to_position, subject = :subject, summary = :summary, narrative = :narrative,
                     participants = :participants, keywords = :keywords, facts = cast(:facts AS jsonb),
                     started_at = :started_at, ended_at = :ended_at, prompt = :prompt, updated_at = clock_timestamp()
    WHERE id = :id AND updated_at = :was
""")

_INSERT = text("""
    INSERT INTO units (tenant_id, id, session_id, group_id, from_position, to_position, boundary, subject, summary,
                       narrative, participants, keywords, facts, started_at, ended_at, prompt)
    SELECT :tenant, id, session_id, group_id, from_position, to_position, boundary, subject, summary,
           narrative, participants, keywords, facts, started_at, ended_at, prompt
    FROM json_to_recordset(cast(:rows AS json)) AS u (
        id uuid, session_id text, group_id text, from_position int, to_position int, boundary text, subject text,
        summary text, narrative text, participants text[], keywords text[], facts jsonb, started_at timestamptz,
        ended_at timestamptz, prompt text)
    ON CONFLICT (tenant_id, session_id, from_position) DO NOTHING
""")
