"""Index messages and documents: vectors are made, a batch at a time; a session that two workers index is there once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import text

from core.config import Settings
from core.documents import documents, preparation
from core.documents.documents import SavedDocument
from core.documents.preparation import SentDocument
from core.events.publishing import Author
from core.index import reembedding, search_index
from core.inference.embedders import BrokenVectors, HashEmbedder
from core.search import query
from core.search.filters import Filters
from core.search.question import Question
from core.sessions import sessions
from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.core.erasing import told
from tests.patience import wait_until
from tests.samples import TENANT, accept, said
from tests.works import Works
from workers.agents import indexing
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

EMBED_DOCUMENTS: Json = {
    "name": "embed_documents",
    "event_type": ["document.added", "document.updated"],
    "actions": [
        {
            "action_type": "run_agent",
            "target": "embedding_refresher",
            "params": {"sessions": ["{{payload.document_id}}"]},
        }
    ],
}


@pytest.fixture(autouse=True)
def rule(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        if all(one.document["name"] != EMBED_DOCUMENTS["name"] for one in store.in_force(tx)):
            store.save(tx, TENANT, EMBED_DOCUMENTS, author="test")


def kept(app: Database, settings: Settings, content: str, **fields: str) -> SavedDocument:
    draft = preparation.prepare(SentDocument(content, **fields), settings)  # type: ignore[arg-type]
    with app.tenant(TENANT) as tx:
        return documents.save(tx, TENANT, draft, Author("key:test"))


def bare(app: Database) -> int:
    """Rows without a vector."""
    with app.tenant(TENANT) as tx:
        return int(tx.execute(text("SELECT count(*) FROM search_index WHERE embedding IS NULL")).scalar_one())


def nearest(app: Database, words: str) -> str:
    question = Question(words, "ada", method="vector", filters=Filters(include=frozenset({"documents"})))
    (best, *_) = query.search(app, TENANT, question, HashEmbedder()).results
    assert best.passage is not None
    return best.passage.content


def test_the_vectors_of_a_document_follow(app: Database, settings: Settings, works: Works) -> None:
    kept(app, settings, "# Ships\n\nA ship sails.\n\n# Bread\n\nBread is baked.", title="x")
    assert bare(app) == 2
    works.settle()
    assert bare(app) == 0
    assert nearest(app, "A ship sails") == "# Ships\n\nA ship sails."


def test_a_long_document_gets_them_all_batch_by_batch(app: Database, settings: Settings, works: Works) -> None:
    saved = kept(
        app, settings, "".join(f"# Part {n}\n\nText {n}.\n\n" for n in range(search_index.EMBED_BATCH * 2 + 5))
    )
    assert saved.passages == search_index.EMBED_BATCH * 2 + 5
    works.settle()
    assert bare(app) == 0


def test_a_new_version_gets_vectors_of_its_own(app: Database, settings: Settings, works: Works) -> None:
    kept(app, settings, "A ship sails.", uri="x")
    works.settle()
    kept(app, settings, "Bread is baked.\n\n" * 200, uri="x")
    assert bare(app) > 1
    works.settle()
    assert bare(app) == 0
    assert len(told(app, documents.UPDATED)) == 1


def test_messages_get_theirs_as_before(app: Database, settings: Settings, works: Works) -> None:
    kept(app, settings, "A ship sails.")
    accept(app, said("Bread is baked."))
    works.settle()
    assert bare(app) == 0


def test_a_session_indexed_in_the_meantime_delays_no_other(app: Database, works: Works) -> None:
    accept(app, said("A ship sails."), said("Bread is baked."), said("It rains.", session="s2"))
    overtaken = []

    def index(job: Job) -> Outcome:
        outcome = works.ledger.agents["knowledge_indexer"](job)
        if not overtaken:
            overtaken.append(job.id)
            _index_first_message(app, "s1")
        return outcome

    replace(works, ledger=replace(works.ledger, agents={**works.ledger.agents, "knowledge_indexer": index})).settle()
    with app.tenant(TENANT) as tx:
        attempts = tx.execute(text("SELECT attempt FROM dispatches WHERE target = 'knowledge_indexer'")).scalars().all()
        indexed = tx.execute(text("SELECT ref FROM search_index WHERE type = 'message'")).scalars().all()
        counted = tx.execute(text("SELECT documents FROM term_counts WHERE term = 0")).scalars().all()
        assert not sessions.find_unindexed(tx, ["s1", "s2"])
    assert attempts == [1, 1]
    assert len(indexed) == 3
    assert counted == [3]


def test_many_messages_are_embedded_side_by_side(app: Database, works: Works) -> None:
    many = search_index.EMBED_BATCH
    lengths = {"s1": many, "s2": many // 2, "s3": many // 2, "s4": 3}
    accept(app, *(said(f"Line {n}.", session=name) for name, count in lengths.items() for n in range(count)))
    works.settle()
    with app.tenant(TENANT) as tx:
        asked = tx.execute(
            text("SELECT params -> 'sessions' FROM dispatches WHERE target = 'embedding_refresher'")
        ).scalars()
        parts = {tuple(one) for one in asked}
    assert parts == {("s1",), ("s2", "s4"), ("s3",)}
    assert bare(app) == 0


def test_two_workers_lock_rows_in_one_order(app: Database) -> None:
    accept(app, said("A ship sails.", message_id="m2"), said("Bread is baked.", message_id="m1"))
    with app.tenant(TENANT) as tx:
        (session,) = sessions.find_unindexed(tx, ["s1"])
        search_index.put_messages(tx, TENANT, [(session, search_index.plan(session, sessions.transcript(tx, "s1")))])
        rows = sorted(search_index.rows_to_embed(tx, ["s1"], salt=""), key=attrgetter("ref"))
        search_index.put_vectors(tx, rows[1:], HashEmbedder().embed(["A ship sails."]))
        tx.execute(text("UPDATE search_index SET embedding = NULL WHERE ref = 'm2'"))
        # Now by id and in the table, the first message is the second.

    def write() -> None:
        with app.tenant(TENANT) as writer:
            search_index.put_vectors(writer, rows, HashEmbedder().embed([row.text for row in rows]))

    with app.tenant(TENANT) as other, ThreadPoolExecutor() as pool:
        other.execute(_TOUCH, {"ref": "m2"})
        writing = pool.submit(write)
        wait_until(lambda: other.execute(_WAITING).scalar_one(), every=0.01)
        other.execute(_TOUCH, {"ref": "m1"})
        other.commit()
        writing.result(10)
    assert [row.ref for row in rows] == ["m1", "m2"]
    assert bare(app) == 0


_TOUCH = text("UPDATE search_index SET terms = terms WHERE ref = :ref")
_WAITING = text("SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted")


def _index_first_message(app: Database, session_id: str) -> None:
    """Index the first message of a session, as another worker that read it earlier."""
    with app.tenant(TENANT) as tx:
        (session,) = sessions.find_unindexed(tx, [session_id])
        first, *_ = sessions.transcript(tx, session_id)
        search_index.put_messages(tx, TENANT, [(session, search_index.plan(session, [first]))])


def test_a_document_that_is_deleted_meanwhile_fails_nothing(app: Database, settings: Settings, works: Works) -> None:
    saved = kept(app, settings, "A ship sails.")
    with app.tenant(TENANT) as tx:
        documents.delete(tx, TENANT, saved.document.id, Author("key:test"))
    works.settle()
    with app.tenant(TENANT) as tx:
        assert set(tx.execute(text("SELECT status FROM dispatches")).scalars()) <= {"done"}


def test_messages_without_words_are_passed_over_and_never_found(app: Database, works: Works) -> None:
    blank = [said(content, message_id=f"blank{n}") for n, content in enumerate(["", " \n ", ""])]
    accept(
        app, said("A ship sails to Porto.", message_id="m1"), *blank[:2], said("It rains.", message_id="m2"), blank[2]
    )
    works.settle()
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
        indexed = set(tx.execute(text("SELECT ref FROM search_index WHERE type = 'message'")).scalars())
    assert (session.message_count, session.indexed_to) == (5, 5)
    assert indexed == {"m1", "m2"}
    for method in ("hybrid", "keyword", "vector"):
        question = Question("Porto", "ada", method=method, filters=Filters())
        results = query.search(app, TENANT, question, HashEmbedder()).results
        assert {result.message.id for result in results if result.message} <= {"m1", "m2"}


class PartlyBroken(HashEmbedder):
    """An endpoint with a broken vector for one text."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = super().embed(texts)
        good = {text: row for text, row in zip(texts, rows, strict=True) if not text.endswith("is broken.")}
        if len(good) < len(texts):
            raise BrokenVectors("m", good, {text: "no vector for a text" for text in texts if text not in good})
        return rows


def test_a_broken_vector_costs_only_its_text_which_is_set_aside_with_the_reason(
    app: Database, settings: Settings, works: Works
) -> None:
    kept(app, settings, "# Ships\n\nA ship sails.\n\n# It\n\nIt is broken.\n\n# Bread\n\nBread is baked.", title="x")
    tools = Tools(app, PartlyBroken(), settings)
    agents = {**works.ledger.agents, "embedding_refresher": lambda job: indexing.refresh_embeddings(tools, job)}
    replace(works, ledger=replace(works.ledger, agents=agents)).settle()
    with app.tenant(TENANT) as tx:
        [(status, error)] = tx.execute(text("SELECT status, error FROM dispatches WHERE status <> 'done'")).all()
    assert status == "dead"
    assert "no vector for a text" in str(error)
    assert "found by words alone: document " in str(error)
    assert bare(app) == 1
    assert nearest(app, "A ship sails") == "# Ships\n\nA ship sails."


def test_a_change_of_the_model_goes_on_behind_a_broken_vector(app: Database, works: Works) -> None:
    accept(app, said("A ship sails."), said("It is broken."), said("Bread is baked."))
    works.settle()
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE search_index SET embedding = NULL"))
    assert reembedding.fill(app, TENANT, PartlyBroken()) == 3
    assert reembedding.fill(app, TENANT, PartlyBroken()) == 0
    assert bare(app) == 1
