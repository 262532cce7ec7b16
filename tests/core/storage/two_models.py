"""A database that is seen by a process with an old and one with a new embedding model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import create_engine

from core.config import Settings
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.memory import writer
from core.memory.changes import Add
from core.search import query
from core.search.question import Question
from core.storage import db, schema, vector_spaces
from core.storage.db import Database
from core.storage.vector_spaces import EmbeddingModel
from core.tenancy import tenants
from tests.databases import beside
from tests.factories import ADA, a_candidate
from tests.samples import TENANT

OLD, NEW = HashEmbedder(), HashEmbedder(128)


def model(embedder: HashEmbedder) -> EmbeddingModel:
    return EmbeddingModel(embedder.name, embedder.dimension)


@dataclass(frozen=True, slots=True)
class Both:
    """The same database, as a process with the old and one with the new model see it."""

    settings: Settings
    old: Database
    new: Database


@pytest.fixture
def both(upgraded: Settings) -> Iterator[Both]:
    with beside(upgraded) as own:
        schema.upgrade(own, model(OLD))
        old = db.connect(db.app_url(own), 2)
        with old.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        assert taken(own, model(NEW)) == vector_spaces.SECOND
        new = db.connect(db.app_url(own), 2, vector_spaces.SCHEMAS[vector_spaces.SECOND])
        yield Both(own, old, new)
        old.close()
        new.close()


def taken(settings: Settings, wanted: EmbeddingModel) -> str:
    owner = create_engine(db.owner_url(settings))
    try:
        with owner.begin() as tx:
            return vector_spaces.reserve(tx, wanted)
    finally:
        owner.dispose()


def left(settings: Settings, place: str) -> EmbeddingModel | None:
    owner = create_engine(db.owner_url(settings))
    with owner.begin() as tx:
        model_left = vector_spaces.release(tx, place)
    owner.dispose()
    return model_left


def learn(database: Database, content: str, embedder: HashEmbedder) -> None:
    add = Add(a_candidate(content), "because", embedder.embed([content])[0])
    with database.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, ADA, [add], Author("test"))


def found(database: Database, asked: str, embedder: HashEmbedder) -> dict[str, float | None]:
    """What a search finds, with its cosine."""
    answer = query.search(database, TENANT, Question(asked, "ada", method="hybrid"), embedder)
    return {r.memory.content: r.ranked.hit.cosine for r in answer.results if r.memory is not None}
