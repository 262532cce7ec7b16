"""Rows of an owner as they are kept in the process."""

from __future__ import annotations

from typing import Any

from core.index.resident import cache
from core.index.resident.snapshot import Snapshot
from core.search import query
from core.storage.db import Database, Tx
from tests.core.search.searching import EMBEDDER
from tests.questions import question as a_question
from tests.samples import TENANT

DIMENSION = EMBEDDER.dimension
WORDS = ("tea", "Lisbon", "cat", "ship", "bread", "rain")


def answered(app: Database, words: str, **asked: Any) -> list[tuple[Any, ...]]:
    """All that an answer holds, as far as it can be compared."""
    found = query.search(app, TENANT, a_question(words, **{"limit": 200, **asked}), EMBEDDER)
    return [
        (one.ranked.hit.key, round(one.ranked.score, 5), sorted((s.session_id, s.message_id) for s in one.sources))
        for one in found.results
    ]


def cold(app: Database) -> None:
    """As a process that has just started."""
    cache.of(app.engine).clear()


def at_hand(app: Database, tx: Tx, user: str | None, group: str | None, dimension: int) -> Snapshot:
    """What a search has at hand, by the check that it makes."""
    mine = cache.of(app.engine).owner(TENANT, user, group)
    check = mine.check(dimension)
    return mine.view(tx, check, tx.execute(cache.CHANGED, check.values).one())


def view(app: Database, user: str | None = "ada", group: str | None = None) -> Snapshot:
    with app.tenant(TENANT) as tx:
        return at_hand(app, tx, user, group, DIMENSION)


def living(seen: Snapshot) -> set[str]:
    return set(seen.keys[seen.alive].tolist())
