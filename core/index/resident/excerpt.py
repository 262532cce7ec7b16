"""Loads named rows of an owner, with those that they cite or are cited by, as a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from sqlalchemy import text

from core.index.resident import loading, segments
from core.index.resident.arrays import Flags, Places
from core.index.resident.encoding import message_key, message_of_key
from core.index.resident.loading import Rows
from core.index.resident.segments import Interners, Segment
from core.index.resident.snapshot import NO_PAIRS, Snapshot
from core.storage.db import Tx, message_places

REACH: Final = 200
"""Citations read of one message or memory, at most."""

BESIDE: Final = 2
"""Places from a message to those beside it (`core.search.ranking.AROUND`)."""

Name = tuple[str, str, str]
"""Type, session and id of a row."""


class Excerpt(Snapshot):
    """A snapshot of some of an owner's rows; which messages are retired is read of all memories that cite them."""

    def __init__(
        self, interners: Interners, layers: Sequence[Segment], cites: Places, outdated_keys: Mapping[str, bool]
    ) -> None:
        super().__init__(interners, layers, cites)
        self._outdated_keys = outdated_keys

    @cached_property
    def retired(self) -> Flags:
        """Mask of messages that support only superseded memories."""
        return self._mask(key for key, whole in self._outdated_keys.items() if whole)

    @cached_property
    def outdated(self) -> Flags:
        """Mask of messages of which at least one statement was superseded."""
        return self._mask(self._outdated_keys)

    def _mask(self, keys: Iterable[str]) -> Flags:
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[[position for key in keys if (position := self.place(key)) is not None]] = True
        return mask


def load(tx: Tx, rows: Rows, names: Sequence[Name], dimension: int, around: int = 0) -> Excerpt:
    """Return these rows, the messages that their memories cite, and the memories that cite their messages.

    `around`: for so many of the first, the messages are returned with those beside them, which lend to their scores.
    """
    interners = Interners()
    values: dict[str, Any] = {"user": rows.user_id, "group": rows.group_id, "reach": REACH}
    picked = {ref for type_, _, ref in names if type_ == "memory"}
    messages = {(session, ref) for type_, session, ref in names if type_ == "message"}
    pairs = _citations(tx, values, sorted(picked), sorted(messages))
    cited = {message_of_key(message) for memory, message in pairs if memory in picked}
    needed = {*names, *(("memory", "", memory) for memory, _ in pairs), *(("message", *message) for message in cited)}
    if around:
        best = set(names[:around])
        best_messages = {(session, ref) for type_, session, ref in best if type_ == "message"}
        best_messages |= {message_of_key(message) for memory, message in pairs if ("memory", "", memory) in best}
        needed |= {
            ("message", row.session_id, row.id) for row in tx.execute(_AROUND, message_places(sorted(best_messages)))
        }
    if not needed:
        return Excerpt(interners, (), NO_PAIRS, {})
    read = segments.segment(interners, loading.load_named(tx, rows, sorted(needed), dimension))
    of = interners.rows.of
    cites = np.stack([of([memory for memory, _ in pairs]), of([message for _, message in pairs])], axis=1)
    return Excerpt(interners, [read], cites, _outdated(tx, values, sorted(messages | cited)))


def _citations(
    tx: Tx, values: Mapping[str, Any], memories: Sequence[str], messages: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return pairs of a memory, one of these or one that cites one of these messages, and a message that it cites."""
    rows = tx.execute(_CITATIONS, {**values, **message_places(messages), "ids": list(memories)})
    return [(row.memory_id, message_key(row.session_id, row.message_id)) for row in rows]


def _outdated(tx: Tx, values: Mapping[str, Any], messages: Sequence[tuple[str, str]]) -> dict[str, bool]:
    """Return those messages that superseded memories cite, by key, and whether no other does; episodes do not count."""
    if not messages:
        return {}
    rows = tx.execute(_OUTDATED, {**values, **message_places(messages)})
    return {message_key(row.session_id, row.id): row.whole for row in rows}


_CITATIONS = text("""
    SELECT cast(e.memory_id AS text) AS memory_id, e.session_id, e.message_id
    FROM (
        SELECT cast(unnest(cast(:ids AS text[])) AS uuid) AS id
        UNION
        SELECT c.memory_id FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS w (session, message)
        CROSS JOIN LATERAL (
            SELECT memory_id FROM evidence WHERE session_id = w.session AND message_id = w.message LIMIT :reach) AS c
    ) AS m
    CROSS JOIN LATERAL (
        SELECT memory_id, session_id, message_id FROM evidence WHERE memory_id = m.id LIMIT :reach) AS e
""")
"""Looked up one by one, which the limits enforce: no plan may scan rows of other owners."""


_AROUND = text(f"""
    SELECT n.session_id, n.id
    FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS w (session, message)
    CROSS JOIN LATERAL (SELECT position FROM messages WHERE session_id = w.session AND id = w.message LIMIT 1) AS m
    CROSS JOIN LATERAL (
        SELECT session_id, id FROM messages
        WHERE session_id = w.session AND position BETWEEN m.position - {BESIDE} AND m.position + {BESIDE}
        LIMIT {2 * BESIDE + 1}) AS n
""")


def _any_citing(condition: str) -> str:
    return f"""
        (SELECT true FROM evidence e CROSS JOIN LATERAL (
             SELECT FROM memories
             WHERE id = e.memory_id AND (user_id = :user OR group_id = :group)
               AND category <> 'episode' AND status {condition}
             OFFSET 0) AS m
         WHERE e.session_id = w.session AND e.message_id = w.message LIMIT 1)
    """


_OUTDATED = text(f"""
    SELECT w.session AS session_id, w.message AS id,
           {_any_citing("NOT IN ('superseded', 'erased')")} IS NULL AS whole
    FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS w (session, message)
    WHERE {_any_citing("= 'superseded'")}
""")
