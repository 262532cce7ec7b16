"""Memories to be found, and searches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.memory import writer
from core.memory.changes import Add, Owner
from core.search import query
from core.search.question import SearchResult
from core.storage.db import Database
from core.types import Candidate, Category, Evidence, Topic
from tests.core.changing import an_add
from tests.factories import NOON
from tests.questions import question as a_question
from tests.samples import TENANT, accept, event

EMBEDDER = HashEmbedder()


def search(
    app: Database, words: str, user: str | None = "ada", tenant: str = TENANT, **fields: Any
) -> Sequence[SearchResult]:
    question = a_question(words, user, **fields)
    return query.search(app, tenant, question, EMBEDDER).results


def contents(found: Sequence[SearchResult]) -> list[str]:
    return [(f.message or f.passage or f.memory).content for f in found]


def remember(app: Database, content: str, user: str = "ada", group: str | None = None, **fields: Any) -> Add:
    """A memory that cites message m1 of session s1."""
    quote = Evidence("s1", "m1", "e1", content)
    candidate = replace(Candidate(content, Category.FACT, Topic.PERSONAL, user, (quote,), NOON), **fields)
    add = Add(candidate, "because", EMBEDDER.embed([content])[0])
    accept(app, event(id="cause"))
    with app.tenant(TENANT) as tx:
        cause = Cause(log.get(tx, "cause"))
        writer.apply(tx, TENANT, Owner(user, group), [add], Author("tester", cause))
    return add


def apart(content: str, number: int, **fields: object) -> Add:
    """A memory that shares neither evidence nor slot with others."""
    quote = Evidence("s1", f"own-{number}", "e1", content)
    return an_add(content, number, **{"evidence": (quote,), **fields})
