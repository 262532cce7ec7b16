"""A tenant changes its embedding model: step by step, with the English model beside the hash embedder."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Conflict, Invalid
from core.events.publishing import Author
from core.index import embedding_change, reembedding
from core.index.embedding_change import Step
from core.inference.embedders import HashEmbedder
from core.inference.installed_embedders import InstalledEmbedders
from core.inference.local_models.catalog import ENGLISH
from core.memory import writer
from core.memory.changes import Add
from core.search import query
from core.search.question import Question
from core.storage import vector_spaces
from core.storage.db import Database
from core.storage.vector_spaces import EmbeddingModel
from core.tenancy import embedding
from core.tenancy.embedding import TenantEmbedding
from tests.core.storage.two_models import left, taken
from tests.doors import OTHER, Doors, key_of
from tests.factories import ADA, a_candidate
from tests.samples import TENANT, accept, said
from tests.works import Works

HASH = EmbeddingModel("hash", 384)
ENGLISH_MODEL = EmbeddingModel(ENGLISH.name, ENGLISH.dimension)
PATH = "/v1/tenant/embedding"


@pytest.fixture(scope="module")
def embedders() -> InstalledEmbedders:
    return InstalledEmbedders(Settings(embedding="hash"))


def learn(app: Database, content: str, embedders: InstalledEmbedders, tenant: str = TENANT) -> None:
    """Add a memory as a job of the tenant would."""
    with app.tenant(tenant) as tx:
        own = embedding.read(tx, tenant)
    vector = embedders.of(None if own is None else own.model).embed([content])[0]
    with (app if own is None else app.at(own.schema)).tenant(tenant) as tx:
        writer.apply(tx, tenant, ADA, [Add(a_candidate(content), "because", vector)], Author("test"))


def found(app: Database, asked: str, embedders: InstalledEmbedders, tenant: str = TENANT) -> dict[str, float | None]:
    """Return what a search of the tenant finds, with its cosine."""
    with app.tenant(tenant) as tx:
        own = embedding.read(tx, tenant)
    database, model = (app, None) if own is None else (app.at(own.schema), own.model)
    answer = query.search(database, tenant, Question(asked, "ada"), embedders.of(model))
    return {r.memory.content: r.ranked.hit.cosine for r in answer.results if r.memory is not None}


def ask(app: Database, settings: Settings, name: str, tenant: str = TENANT) -> bool:
    with app.tenant(tenant) as tx:
        return embedding_change.request(tx, tenant, settings, name)


def step(app: Database, embedders: InstalledEmbedders, settings: Settings) -> Step | None:
    """Do the next piece and store what follows."""
    done = embedding_change.advance(app, TENANT, embedders, settings)
    if done is not None:
        with app.tenant(TENANT) as tx:
            done.write(tx, Author("test"))
    return done


def state(app: Database) -> TenantEmbedding | None:
    with app.tenant(TENANT) as tx:
        return embedding.read(tx, TENANT)


def make_due(app: Database) -> None:
    """End the time for which the vectors of the model before are left."""
    with app.tenant(TENANT) as tx:
        now = embedding.read(tx, TENANT)
        assert now is not None
        embedding.write(tx, TENANT, replace(now, until=datetime.now(UTC) - timedelta(seconds=1)))


def vectors(app: Database) -> tuple[int, int]:
    with app.tenant(TENANT) as tx:
        return tuple(tx.execute(text("SELECT count(embedding), count(embedding_next) FROM search_index")).one())  # type: ignore[return-value]


def test_the_old_model_answers_until_all_vectors_are_there_and_is_removed_afterwards(
    app: Database, settings: Settings, embedders: InstalledEmbedders
) -> None:
    learn(app, "Ada has a cat.", embedders)
    by_hash = found(app, "feline pet", embedders)["Ada has a cat."]
    assert ask(app, settings, "english")
    assert step(app, embedders, settings).begun.state == "clearing"  # type: ignore[union-attr]
    learn(app, "Ada lives in Lisbon.", embedders)
    assert found(app, "feline pet", embedders)["Ada has a cat."] == by_hash
    assert state(app).model == HASH  # type: ignore[union-attr]
    assert step(app, embedders, settings).result == {"state": "filling", "vectors": 2, "removed": 0}  # type: ignore[union-attr]
    now = state(app)
    assert now is not None
    assert (now.model, now.place, now.other, now.state) == (ENGLISH_MODEL, "second", HASH, "leaving")
    by_meaning = found(app, "feline pet", embedders)
    assert (by_meaning["Ada has a cat."] or 0) > (by_meaning["Ada lives in Lisbon."] or 0) + 0.2
    assert vectors(app) == (2, 2)
    waits = step(app, embedders, settings)
    assert waits is not None
    assert waits.at is not None
    assert waits.at > datetime.now(UTC) + timedelta(seconds=settings.task_seconds)
    make_due(app)
    while step(app, embedders, settings) is not None:
        pass
    assert vectors(app) == (0, 2)
    assert state(app) == TenantEmbedding(ENGLISH_MODEL, "second")


def test_the_way_back_to_the_model_of_the_installation_leaves_no_choice_behind(
    app: Database, settings: Settings, embedders: InstalledEmbedders
) -> None:
    learn(app, "Ada has a cat.", embedders)
    for name in ("english", "hash"):
        ask(app, settings, name)
        while state(app).state != "leaving":  # type: ignore[union-attr]
            step(app, embedders, settings)
        make_due(app)
        while step(app, embedders, settings) is not None:
            pass
    assert state(app) is None
    assert vectors(app) == (1, 0)
    assert found(app, "Ada has a cat.", embedders)["Ada has a cat."] == pytest.approx(1, abs=1e-3)


def test_a_row_written_with_the_old_model_after_the_switch_is_caught_up(
    app: Database, settings: Settings, embedders: InstalledEmbedders
) -> None:
    learn(app, "Ada has a cat.", embedders)
    ask(app, settings, "english")
    step(app, embedders, settings)
    step(app, embedders, settings)
    add = Add(a_candidate("Ada sings."), "because", HashEmbedder().embed(["Ada sings."])[0])
    with app.tenant(TENANT) as tx:  # As a job does that began before.
        writer.apply(tx, TENANT, ADA, [add], Author("test"))
    assert found(app, "Ada sings.", embedders)["Ada sings."] is None
    assert step(app, embedders, settings).result["vectors"] == 1  # type: ignore[union-attr]
    assert found(app, "Ada sings.", embedders)["Ada sings."] == pytest.approx(1, abs=1e-2)


def test_a_step_that_was_overtaken_by_another_request_changes_nothing(
    app: Database, settings: Settings, embedders: InstalledEmbedders
) -> None:
    learn(app, "Ada has a cat.", embedders)
    ask(app, settings, "english")
    step(app, embedders, settings)
    late = embedding_change.advance(app, TENANT, embedders, settings)
    assert late is not None
    assert late.then.model == ENGLISH_MODEL
    ask(app, settings, "hash")
    with app.tenant(TENANT) as tx:
        assert late.write(tx, Author("test"))["state"] == "overtaken"
    now = state(app)
    assert now is not None
    assert (now.model, now.state) == (HASH, "leaving"), "given up, and its vectors will be removed"


def test_vectors_that_another_model_left_in_the_column_are_removed_before_it_is_filled(
    app: Database, settings: Settings, embedders: InstalledEmbedders
) -> None:
    learn(app, "Ada has a cat.", embedders)
    with app.at("second").tenant(TENANT) as tx:
        tx.execute(text("UPDATE search_index SET embedding = cast(:v AS halfvec)"), {"v": str([1.0] * 384)})
    ask(app, settings, "english")
    assert step(app, embedders, settings).result["removed"] == 1  # type: ignore[union-attr]
    step(app, embedders, settings)
    step(app, embedders, settings)
    assert found(app, "Ada has a cat.", embedders)["Ada has a cat."] == pytest.approx(1, abs=1e-2)


def test_a_model_that_is_not_offered_is_refused_with_the_reason(app: Database, settings: Settings) -> None:
    with pytest.raises(Invalid, match=r"/model.*'openai' is not offered.*IMPRINT_EMBEDDING.*english, hash"):
        ask(app, settings, "openai")
    assert not ask(app, settings, "hash"), "it has that model"
    assert state(app) is None


def test_a_third_model_waits_until_the_second_is_there(app: Database, settings: Settings) -> None:
    ask(app, settings, "english")
    with pytest.raises(Conflict, match=r"all-MiniLM-L6-v2 are being made"):
        ask(app, settings, "multilingual")


def test_no_tenant_changes_while_the_installation_does(app: Database, settings: Settings) -> None:
    assert taken(settings, EmbeddingModel("another", 7)) == vector_spaces.SECOND
    try:
        with pytest.raises(Conflict, match=r"reembed --finish"):
            ask(app, settings, "english")
    finally:
        left(settings, vector_spaces.SECOND)


def test_filling_yields_after_its_time_and_goes_on_where_it_was(app: Database, embedders: InstalledEmbedders) -> None:
    learn(app, "Ada has a cat.", embedders)
    assert reembedding.fill(app.at("second"), TENANT, embedders.of(ENGLISH_MODEL), seconds=0) == 0
    assert reembedding.fill(app.at("second"), TENANT, embedders.of(ENGLISH_MODEL), seconds=60) == 1


def test_over_http_the_workers_change_the_model_of_one_tenant_alone(
    app: Database, settings: Settings, door: Doors, works: Works
) -> None:
    learn(app, "Ada has a cat.", InstalledEmbedders(settings))
    accept(app, said("I live in Lisbon."))
    works.settle()
    assert door.get(PATH).json() == {
        "model": "hash",
        "state": "settled",
        "other": None,
        "until": None,
        "vectors": {"model": 4, "other": 0, "more": False},
        "offered": ["english", "hash", "multilingual"],
    }
    began = door.ask("PUT", PATH, json={"model": "english"})
    assert began.status_code == 202
    assert began.json() | {"vectors": None} == began.json() | {"vectors": None, "state": "clearing", "other": "english"}
    works.settle()
    now = door.get(PATH).json()
    assert (now["model"], now["state"], now["other"]) == ("english", "leaving", "hash")
    assert now["vectors"]["model"] == now["vectors"]["other"] >= 2
    assert door.get(PATH, tenant=OTHER).json()["model"] == "hash"
    accept(app, said("I moved to Porto.", session="s2"))
    works.settle()
    assert door.get(PATH).json()["vectors"]["model"] > now["vectors"]["model"], "with the new vectors"
    (changed,) = door.get("/v1/events?type=embedding.changed").json()["items"]
    assert changed["payload"] == {"model": ENGLISH.name, "previous": "hash"}
    reader = key_of(settings, TENANT, ("read", "write"))
    assert door.ask("PUT", PATH, json={"model": "hash"}, key=reader).status_code == 403
    wrong = door.ask("PUT", PATH, json={"model": "word2vec"})
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "/model")
