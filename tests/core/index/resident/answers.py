"""A user about whom much is asked, and all that an answer holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from core.events.publishing import Author
from core.memory import field_filters, writer
from core.memory.as_of import Moment
from core.memory.changes import Archive, Owner
from core.search import query
from core.search.recipes import RECIPES
from core.storage.db import Database
from core.types import Topic
from tests.core.index.resident.kept import WORDS, view
from tests.core.search.searching import EMBEDDER, remember
from tests.factories import NOON
from tests.questions import question as a_question
from tests.samples import TENANT, accept, said
from tests.works import Works

FILTERS: list[dict[str, Any]] = [
    {},
    {"include": frozenset({"memories"})},
    {"include": frozenset({"messages"})},
    {"categories": ["fact"], "topics": ["work"]},
    {"tags": ["travel"]},
    {"session_id": "s1"},
    {"since": NOON + timedelta(hours=1)},
    {"min_importance": 0.6},
    {"min_similarity": 0.2},
    {"include_archived": True},
    {"moment": Moment(as_of=NOON + timedelta(days=1))},
    {"method": "keyword"},
    {"method": "vector"},
    {"group_id": "friends"},
    {"metadata": field_filters.demands({"trip": ["asia", "peru"]})},
    {"structured": field_filters.demands({"place.country": "peru"})},
]


def lived(app: Database, works: Works) -> Database:
    """A user whose rows a process has read one after the other: messages, memories, what others told, what ended."""
    for n in range(12):
        content = f"I speak of {WORDS[n % 6]} and {WORDS[n % 5]} number {n}."
        accept(
            app,
            said(
                content,
                session=f"s{n % 3}",
                message_id=f"m{n // 3}",
                group_id="friends" if n % 4 == 0 else None,
                metadata={"trip": "asia"} if n % 2 else {},
            ),
        )
    works.settle(flush=False)
    view(app)
    view(app, group="friends")
    for n in range(12):
        fields = {
            "topic": Topic.WORK if n % 2 else Topic.PERSONAL,
            "importance": n / 12,
            "tags": ("travel",) if n % 3 == 0 else (),
            "structured": {"place": {"country": "peru" if n % 4 else "iran"}},
        }
        remember(app, f"Ada has {WORDS[n % 6]} and {WORDS[n % 4]} number {n}.", **fields)
        view(app)
        view(app, group="friends")
    with app.tenant(TENANT) as tx:
        row = tx.execute(text("SELECT id, version FROM memories ORDER BY id LIMIT 1")).one()
        writer.apply(tx, TENANT, Owner("ada"), [Archive(row.id, row.version, "old")], Author("test"))
    return app


def everything(app: Database, recipe: str, asked: dict[str, Any]) -> tuple[Any, ...]:
    """An answer: results with what is known of each, scores, evidence, and how many were considered."""
    chosen = RECIPES[recipe]
    if chosen.include is not None:
        asked = {"include": chosen.include, **asked}
    question = a_question("Who has tea and rain in Lisbon?", recipe=chosen, now=NOON + timedelta(days=9), **asked)
    answer = query.search(app, TENANT, replace(question, limit=50), EMBEDDER)
    results = [
        (replace(one.ranked.hit, cites=tuple(sorted(one.ranked.hit.cites))), round(one.ranked.score, 9), one.sources)
        for one in answer.results
    ]
    return results, answer.considered
