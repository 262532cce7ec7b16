"""Suppresses recall echoes.

Only hashes are stored, in `servings`: of a text, and of each of its sentences that is long enough to identify it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text

from core.consolidation import judge
from core.language import languages
from core.language.scripts import has_han
from core.language.terms import STOPWORDS
from core.memoize import memo_scope, memoized_in_scope
from core.memory import identity
from core.memory import memories as memory_memories
from core.memory.identity import KnownMemory
from core.statements import succession
from core.storage.db import Tx, recordset
from core.types import Candidate

LEAST_WORDS = 3
"""Content words from which a sentence identifies a text: everyone says "Sounds good."."""

LEAST_HAN = 6
"""The same in Chinese characters."""

AGAIN_SECONDS = 10
"""A text that is handed out twice within this time is recorded once."""

FORGET_PAGE = 5000
"""Rows removed in one transaction."""


class Served(NamedTuple):
    """A text that was handed out, and its memory, if it has one."""

    text: str
    memory_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _EchoKeys:
    """Hashes by which a candidate is recognised: of its statement and of its quotes' sentences; and equal memories."""

    statement: str
    quotes: Sequence[frozenset[str]]
    memories: frozenset[UUID]
    said_at: datetime

    def hashes(self) -> set[str]:
        return {self.statement}.union(*self.quotes)


@memo_scope()
def note(tx: Tx, tenant_id: str, user_id: str, served: Sequence[Served], now: datetime | None = None) -> None:
    """Record what was handed out to a user."""
    memory_ids: dict[str, UUID | None] = {hashed: None for entry in served for hashed in _texts(entry.text)}
    memory_ids |= {digest(entry.text): entry.memory_id for entry in served if entry.memory_id is not None}
    if not memory_ids:
        return
    # Sorted, so that two processes that record the same texts do not deadlock.
    rows = [{"hash": hashed, "memory_id": memory_ids[hashed]} for hashed in sorted(memory_ids)]
    values = {"tenant": tenant_id, "user": user_id, "at": now or memory_memories.now(), "rows": recordset(rows)}
    tx.execute(_NOTE, values | {"again": timedelta(seconds=AGAIN_SECONDS)})


@memo_scope()
def echo_reasons(
    tx: Tx,
    user_id: str,
    candidates: Sequence[Candidate],
    neighbours: Sequence[Sequence[KnownMemory]],
    within_seconds: float,
    now: datetime | None = None,
) -> list[str | None]:
    """Return for each candidate why it is an echo of what was handed out to its user; None: it is none.

    `neighbours`: memories near each. Only what was handed out within that time before now, or before it was said,
    counts.
    """
    if not candidates or within_seconds <= 0:
        return [None] * len(candidates)
    moment, within = now or memory_memories.now(), timedelta(seconds=within_seconds)
    echo_keys = [_keys_of(candidate, near) for candidate, near in zip(candidates, neighbours, strict=True)]
    values = {
        "user": user_id,
        "since": min(moment, *(keys.said_at for keys in echo_keys)) - within,
        "hashes": sorted(set().union(*(keys.hashes() for keys in echo_keys))),
        "ids": sorted(set().union(*(keys.memories for keys in echo_keys))),
    }
    rows = tx.execute(_SERVED, values).all()
    return [
        _reason(keys, [(r.hash, r.memory_id) for r in rows if _is_recent(r.at, keys, moment, within)])
        for keys in echo_keys
    ]


def forget(tx: Tx, older_than: datetime, page: int = FORGET_PAGE) -> int:
    """Delete records of what was handed out before then, at most `page`; return how many."""
    return tx.execute(_FORGET, {"before": older_than, "page": page}).rowcount


@memoized_in_scope
def digest(statement_text: str) -> str:
    """Hash a text without case, width, spaces, punctuation and person: "I moved" equals "you moved"."""
    spoken = _SHORT.sub(lambda m: _LONG[m[1].lower()], statement_text.replace("\u2019", "'"))
    return identity.statement_key("", _PERSON.sub(lambda m: _ONE_PERSON[m[0].lower()], spoken))


def _texts(statement_text: str) -> frozenset[str]:
    """Return hashes of a text and of its sentences that are long enough."""
    return _hashes([statement_text, *_ENDS.split(statement_text)])


def _sentences(statement_text: str) -> frozenset[str]:
    return _hashes(_ENDS.split(statement_text))


def _hashes(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(digest(text) for text in set(texts) if _says_enough(text))


def _says_enough(statement_text: str) -> bool:
    words = _WORD.findall(statement_text)
    han = sum(len(word) for word in words if has_han(word))
    return han >= LEAST_HAN or sum(word.lower() not in STOPWORDS for word in words) >= LEAST_WORDS


def _keys_of(candidate: Candidate, near: Sequence[KnownMemory]) -> _EchoKeys:
    quotes = [_sentences(evidence.quote) for evidence in candidate.evidence]
    same = frozenset(known.id for known in near if _is_same(candidate, known))
    return _EchoKeys(digest(candidate.content), quotes, same, candidate.occurred_at)


def _is_same(candidate: Candidate, known: KnownMemory) -> bool:
    """Return whether a memory says the same, in these or other words, or as the value of a slot."""
    if candidate.subject != known.subject:
        return False
    if candidate.attribute is not None and candidate.attribute == known.attribute:
        return succession.normal_value(candidate.value) == succession.normal_value(known.value)
    key, known_key = (identity.statement_key(statement.subject, statement.content) for statement in (candidate, known))
    return key == known_key or judge.sameness(candidate, known) is not None


def _is_recent(served_at: datetime, keys: _EchoKeys, now: datetime, within: timedelta) -> bool:
    """Return whether a text was handed out recently: before now, or before the message of a late extraction."""
    return now - within <= served_at or keys.said_at - within <= served_at <= keys.said_at


def _reason(keys: _EchoKeys, served: Sequence[tuple[str, UUID | None]]) -> str | None:
    memory = next((memory_id for _, memory_id in served if memory_id in keys.memories), None)
    if memory is not None:
        return f"An echo: the assistant repeats memory {memory}, which was handed out to it lately."
    hashes = {hashed for hashed, _ in served}
    quoted = bool(keys.quotes) and all(quote and quote <= hashes for quote in keys.quotes)
    if quoted or keys.statement in hashes:
        return "An echo: the assistant repeats a text that was handed out to it lately."
    return None


_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")

_WORD = re.compile(r"[^\W_]+")

_SHORT = re.compile(r"'(m|re|ve)\b", re.IGNORECASE)

_LONG = {"m": " am", "re": " are", "ve": " have"}

_ONE_PERSON: Final = {
    word: person
    for language in languages.ALL
    if language.statements
    for word, person in language.statements.persons.items()
}

_PERSON = re.compile(
    rf"\b(?:{'|'.join(word for word in _ONE_PERSON if word.isascii())})\b"
    rf"|[{''.join(word for word in _ONE_PERSON if not word.isascii())}]",
    re.IGNORECASE,
)

_NOTE = text("""
    INSERT INTO servings (tenant_id, user_id, hash, memory_id, at)
    SELECT :tenant, :user, hash, memory_id, :at FROM json_to_recordset(cast(:rows AS json)) AS told (
        hash text, memory_id uuid)
    WHERE NOT EXISTS (
        SELECT FROM servings s WHERE s.user_id = :user AND s.hash = told.hash
          AND s.at >= cast(:at AS timestamptz) - :again
          AND (s.memory_id IS NOT NULL OR told.memory_id IS NULL))
    ON CONFLICT (tenant_id, user_id, hash) DO UPDATE
    SET at = greatest(servings.at, excluded.at), memory_id = coalesce(excluded.memory_id, servings.memory_id)
    WHERE servings.at < excluded.at - :again OR servings.memory_id IS NULL AND excluded.memory_id IS NOT NULL
""")
"""Skips texts that were recorded recently.

They are filtered before ON CONFLICT: a conflicting row is locked, which is written to disk as well.
"""

_SERVED = text("""
    SELECT hash, memory_id, at FROM servings
    WHERE user_id = :user AND at >= :since
    AND (hash = ANY(cast(:hashes AS text[])) OR memory_id = ANY(cast(:ids AS uuid[])))
""")

_FORGET = text("""
    DELETE FROM servings WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM servings WHERE at < :before ORDER BY at LIMIT :page FOR UPDATE SKIP LOCKED))
""")
