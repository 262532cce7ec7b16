"""Finds memories that contain the statement of an erased one, alone or with other statements; keeps the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import text

from core.errors import Conflict
from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import Add, Owner
from core.memory.rows import MemoryRow
from core.statements import redaction
from core.statements.comparison import read
from core.statements.redaction import RedactedStatement
from core.statements.succession import gathered_list, normal_value
from core.storage.db import Tx, like_pattern, message_places
from core.types import Candidate, Evidence, Status

PROBE = 5
"""Leading letters of a word by which texts are searched for a statement: inflected forms share them."""


@dataclass(frozen=True, slots=True)
class PartialMatch:
    """A memory that also makes other statements, with the text that remains without the erased one."""

    row: MemoryRow
    left: str
    evidence: Sequence[Evidence]


@dataclass(frozen=True, slots=True)
class Equivalents:
    """Memories that say nothing else (`whole`), and those that are replaced by what is left of them (`partly`).

    `statements`: the erased statements, prepared for comparison with other texts.
    """

    statements: Sequence[RedactedStatement]
    whole: frozenset[UUID]
    partly: Sequence[PartialMatch]

    def says(self, content: str, subject: str) -> bool:
        """Return whether a text contains one of the statements, alone or with others."""
        return redaction.without(content, self.statements, subject) is not None


def find(tx: Tx, user_id: str, ids: Sequence[UUID], *, derived: Collection[UUID] = ()) -> Equivalents:
    """Return the user's other memories that say what these say or have said, without those in `derived`."""
    erased_rows = tx.execute(_SAID, {"ids": list(ids)}).all()
    statements = [
        statement
        for row in erased_rows
        for statement in redaction.with_clauses(row.content, row.subject, gathered_list(row.structured))
    ]
    slots = {
        (row.subject, row.attribute, normal_value(row.value)) for row in erased_rows if row.attribute and row.value
    }
    patterns = sorted({probe for statement in statements if (probe := _probe(statement))})
    values = {"user": user_id, "ids": [*ids, *derived], "patterns": patterns, "attributes": [slot[1] for slot in slots]}
    whole, partly = [], []
    for row in tx.execute(_CANDIDATES, values):
        left = redaction.without(row.content, statements, row.subject)
        if left is None and (row.subject, row.attribute, normal_value(row.value)) in slots:
            left = ""
        if left and row.status == Status.ACTIVE:
            partly.append((row, left))
        elif left is not None:
            whole.append(row.id)
    evidence = memories.evidence(tx, [row.id for row, _ in partly])
    partial_matches = [PartialMatch(row, left, evidence.get(row.id, [])) for row, left in partly]
    return Equivalents(statements, frozenset(whole), partial_matches)


def keep_rest(
    tx: Tx, tenant_id: str, alike: Equivalents, author: Author, *, silenced: Collection[tuple[str, str]] = ()
) -> int:
    """Store what is left of partly erased memories, under the owner's lock; return how many.

    `silenced`: messages (session, id) that have lost their text and can no longer be quoted.
    """
    rests = ((Owner(m.row.user_id, m.row.group_id), _rest(m, alike.statements, silenced)) for m in alike.partly)
    return sum(store_rest(tx, tenant_id, owner, rest, author) for owner, rest in rests)


def store_rest(tx: Tx, tenant_id: str, owner: Owner, rest: Candidate, author: Author) -> bool:
    """Store what is left of a memory, under the owner's lock; return False if another one says this already."""
    add = Add(rest, "What is left of a statement of which a part was erased.")
    try:
        with tx.begin_nested():
            writer.apply(tx, tenant_id, owner, [add], author)
    except Conflict:
        return False
    return True


def unquote(tx: Tx, statements: Sequence[RedactedStatement], places: Collection[tuple[str, str]]) -> int:
    """Remove the statements from other memories' quotes of these messages; return how many changed."""
    rows = tx.execute(_QUOTES, message_places(places)).all()
    cut = [(row, left) for row in rows if (left := redaction.without(row.quote, statements)) is not None]
    for row, left in cut:
        tx.execute(_REQUOTE, {**row._mapping, "left": left})
    return len(cut)


def _rest(
    match: PartialMatch, statements: Sequence[RedactedStatement], silenced: Collection[tuple[str, str]]
) -> Candidate:
    quotes = ["" if (e.session_id, e.message_id) in silenced else e.quote for e in match.evidence]
    cut = [quote if (left := redaction.without(quote, statements)) is None else left for quote in quotes]
    evidence = [replace(e, quote=quote) for e, quote in zip(match.evidence, cut, strict=True)]
    whole = memories.candidate_of(match.row, evidence)
    listed = gathered_list(whole.structured)
    slotted = whole.value is not None and normal_value(whole.value) in normal_value(match.left)
    structured = dict(whole.structured)
    if listed is not None:
        structured["values"] = [value for value in listed.values if normal_value(value) in normal_value(match.left)]
    return replace(
        whole,
        content=match.left,
        attribute=whole.attribute if slotted else None,
        value=whole.value if slotted else None,
        structured=structured,
    )


def _probe(statement: RedactedStatement) -> str:
    """Return a LIKE pattern that matches every text with this statement; an empty string if it contains no word."""
    subject_words = read(statement.subject).spoken
    spoken = [word for word in read(statement.content).spoken if word not in subject_words and read(word).words]
    longest = max(spoken, key=len, default="")
    word = longest[:PROBE] if len(longest) > 1 else next(iter(spoken[-1:]), "")
    return like_pattern(word) if word else ""


_SAID = text("""
    SELECT content, subject, structured, attribute, value FROM memories WHERE id = ANY(:ids)
    UNION
    SELECT snapshot ->> 'content', snapshot ->> 'subject', snapshot -> 'structured', snapshot ->> 'attribute',
           snapshot ->> 'value'
    FROM memory_versions WHERE memory_id = ANY(:ids) AND snapshot ->> 'content' <> ''
""")

_CANDIDATES = text("""
    SELECT m.* FROM memories m
    WHERE m.user_id = :user AND m.id <> ALL(:ids) AND m.category NOT IN ('episode', 'skill')
      AND (m.content ILIKE ANY(:patterns) OR m.attribute = ANY(:attributes))
    ORDER BY m.id
""")

_QUOTES = text("""
    SELECT e.memory_id, e.session_id, e.message_id, e.event_id, e.quote FROM evidence e
    WHERE e.quote <> '' AND (e.session_id, e.message_id) IN (
        SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
""")

_REQUOTE = text("""
    UPDATE evidence SET quote = :left
    WHERE memory_id = :memory_id AND session_id = :session_id AND message_id = :message_id AND event_id = :event_id
      AND quote = :quote
""")
