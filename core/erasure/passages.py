"""Erases passages of messages, which keep the rest of their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import text

from core.erasure import runner
from core.erasure.steps import ErasurePart
from core.statements.redaction import Spot, blanked_at
from core.storage.db import Tx, message_places

Place = tuple[str, str]
"""A message: session, id in it."""


def erase(
    tx: Tx,
    tenant_id: str,
    spots: Mapping[Place, Sequence[Spot]],
    contents: Mapping[Place, str],
    pieces: Sequence[str],
    owners: Sequence[str],
) -> tuple[Counter[str], list[str]]:
    """Blank passages of messages, in everything that holds them; return the rows by table and the sessions.

    `contents`: the texts of the messages, at least of those with `spots`. `pieces`: the passages, for what quotes them.
    `owners`: the users whose memories may cite the messages.
    """
    cut = [message_key for message_key, places in spots.items() if places]
    if not cut:
        return Counter(), []
    rows = {(row.session_id, row.id): row for row in tx.execute(_ROWS, message_places(cut))}
    kept = [message_key for message_key in cut if message_key in rows]
    values = {
        **message_places(kept),
        "texts": [blanked_at(contents[message_key], spots[message_key]) for message_key in kept],
        "contents": [contents[message_key] for message_key in kept],
        "places": [(*message_key, rows[message_key].position) for message_key in kept],
        "seqs": [rows[message_key].event_seq for message_key in kept],
        "events": [rows[message_key].event_id for message_key in kept],
        "pieces": [piece for piece in pieces if piece.strip()],
        "owners": list(owners),
        "user": owners[0] if owners else "",
    }
    return +runner.run(tx, tenant_id, ErasurePart.PASSAGES, values), sorted({message_key[0] for message_key in kept})


_ROWS = text("""
    SELECT session_id, id, position, event_seq, event_id FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
    FOR UPDATE
""")
