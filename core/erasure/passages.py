"""Erases passages of messages, which keep the rest of their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import text

from core.erasure import runner
from core.erasure.steps import ErasurePart
from core.statements.redaction import Spot, blanked_at
from core.storage.db import Tx

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
    cut = [place for place, places in spots.items() if places]
    if not cut:
        return Counter(), []
    named = {"sessions": [place[0] for place in cut], "messages": [place[1] for place in cut]}
    rows = {(row.session_id, row.id): row for row in tx.execute(_ROWS, named)}
    kept = [place for place in cut if place in rows]
    values = {
        "sessions": [place[0] for place in kept],
        "messages": [place[1] for place in kept],
        "texts": [blanked_at(contents[place], spots[place]) for place in kept],
        "contents": [contents[place] for place in kept],
        "places": [(*place, rows[place].position) for place in kept],
        "seqs": [rows[place].event_seq for place in kept],
        "events": [rows[place].event_id for place in kept],
        "pieces": [piece for piece in pieces if piece.strip()],
        "owners": list(owners),
        "user": owners[0] if owners else "",
    }
    return +runner.run(tx, tenant_id, ErasurePart.PASSAGES, values), sorted({place[0] for place in kept})


_ROWS = text("""
    SELECT session_id, id, position, event_seq, event_id FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
    FOR UPDATE
""")
