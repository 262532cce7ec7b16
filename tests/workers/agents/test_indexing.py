"""What follows from a document: its vectors are made, a batch at a time."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from core.config import Settings
from core.documents import documents, preparation
from core.documents.documents import SavedDocument
from core.documents.preparation import SentDocument
from core.events.publishing import Author
from core.index import search_index
from core.inference.embedders import HashEmbedder
from core.search import query
from core.search.filters import Filters
from core.search.query import Question
from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.core.erasing import told
from tests.samples import TENANT, accept, said
from tests.works import Works

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


def test_a_document_that_is_deleted_meanwhile_fails_nothing(app: Database, settings: Settings, works: Works) -> None:
    saved = kept(app, settings, "A ship sails.")
    with app.tenant(TENANT) as tx:
        documents.delete(tx, TENANT, saved.document.id, Author("key:test"))
    works.settle()
    with app.tenant(TENANT) as tx:
        assert set(tx.execute(text("SELECT status FROM dispatches")).scalars()) <= {"done"}
