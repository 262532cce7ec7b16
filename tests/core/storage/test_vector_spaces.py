"""Two models' vectors beside each other: processes with the old and the new one at work on one database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import create_engine, text

from core.config import Settings
from core.errors import Misconfigured
from core.events.publishing import Author
from core.index import reembedding
from core.inference.embedders import HashEmbedder
from core.memory import memories, writer
from core.memory.changes import Add
from core.search import query
from core.search.query import Question
from core.storage import db, schema, schema_version, vector_spaces
from core.storage.db import Database
from core.storage.vector_spaces import EmbeddingModel
from core.tenancy import tenants
from tests.core.memory.test_writer import ADA, a_candidate
from tests.databases import beside
from tests.samples import TENANT, accept, said
from tests.works import at_work

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


def test_both_find_by_their_own_vectors_what_either_has_written(both: Both) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    assert found(both.new, "Ada has a cat.", NEW) == {"Ada has a cat.": None}, "by its words alone, as yet"
    assert reembedding.fill(both.new, TENANT, NEW, lambda _: None) == 1
    learn(both.new, "Ada has a dog.", NEW)
    with_new, with_old = found(both.new, "Ada has a cat.", NEW), found(both.old, "Ada has a cat.", OLD)
    assert with_new["Ada has a cat."] == pytest.approx(1, abs=1e-3)
    assert with_new["Ada has a dog."] is not None
    assert with_old["Ada has a cat."] == pytest.approx(1, abs=1e-3)
    assert with_old["Ada has a dog."] is None


def test_messages_are_filled_in_as_well_and_nothing_is_made_twice(both: Both) -> None:
    accept(both.old, said("I live in Lisbon."))
    with at_work(both.settings) as works:
        works.settle()
    learn(both.old, "Ada sings.", OLD)
    pages: list[int] = []
    assert reembedding.fill(both.new, TENANT, NEW, pages.append) == sum(pages) == 2
    assert reembedding.fill(both.new, TENANT, NEW, pages.append) == 0


def test_the_judge_compares_by_the_vectors_of_its_own_process(both: Both) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    reembedding.fill(both.new, TENANT, NEW, lambda _: None)
    asked = a_candidate("Ada has a cat at home.")
    with both.new.tenant(TENANT) as tx:
        (near,) = memories.neighbours(tx, "ada", [asked], NEW.embed([asked.content]))
    assert near[0].similarity == pytest.approx(
        float(NEW.embed(["Ada has a cat."])[0] @ NEW.embed([asked.content])[0]), abs=1e-2
    )


def test_tenants_stay_apart_in_the_second_place(both: Both) -> None:
    learn(both.new, "Ada has a cat.", NEW)
    with both.new.tenant("globex") as tx:
        assert tx.execute(text("SELECT count(*) FROM search_index")).scalar_one() == 0
        assert tx.execute(text("UPDATE search_index SET told = 1")).rowcount == 0


def test_a_process_is_led_to_its_own_place_and_refused_where_it_has_none(both: Both) -> None:
    for embedder in (OLD, NEW):
        schema_version.require_current(both.old, model(embedder))
    with pytest.raises(Misconfigured, match="reembed"):
        schema_version.require_current(both.old, ("hash", 7))
    with pytest.raises(Misconfigured, match="--finish"):
        taken(both.settings, EmbeddingModel("hash", 7))


def test_when_it_is_finished_the_old_vectors_go_and_their_place_is_free_again(both: Both) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    reembedding.fill(both.new, TENANT, NEW, lambda _: None)
    assert left(both.settings, vector_spaces.FIRST) == model(OLD)
    assert reembedding.clear(both.old, TENANT) == 1
    assert found(both.new, "Ada has a cat.", NEW)["Ada has a cat."] == pytest.approx(1, abs=1e-3)
    with pytest.raises(Misconfigured):
        schema_version.require_current(both.new, model(OLD))
    assert left(both.settings, vector_spaces.SECOND) is None, "the only ones are not given up"
    assert taken(both.settings, EmbeddingModel("hash", 7)) == vector_spaces.FIRST
