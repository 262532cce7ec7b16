"""Documents are stored once, with their past, as far as the tenant has room."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.config import Settings
from core.documents import documents
from core.storage.db import Database
from core.transfer.restoring import knowledge
from core.transfer.restoring.context import ERASED, Context, ErasedUntil
from core.types import Json
from tests.core.transfer.restoring.contexts import begun, read
from tests.core.transfer.rich import NOON
from tests.samples import TENANT

THEN = datetime.fromisoformat(NOON)


def a_document(uri: str | None, **fields: Any) -> Json:
    return {
        "title": "Notes", "uri": uri, "group_id": None, "media_type": "text/markdown", "content": f"# Notes\n\n{uri}",
        "metadata": {"by": "ada"}, "version": 4, "created_at": NOON, "updated_at": NOON, **fields,
    }  # fmt: skip


def written(context: Context, *lines: Json, until: datetime | None = None) -> list[str]:
    batch = read("documents", *lines)
    drafts = knowledge.prepare(context, batch)
    with context.db.tenant(TENANT) as tx:
        return list(knowledge.write(tx, context, batch, ErasedUntil(until, {}), drafts))


def test_a_document_comes_with_its_past_and_only_once(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings)
    assert written(context, a_document("a"), a_document(None)) == ["restored", "restored"]
    assert written(context, a_document("a", content="Other."), a_document(None)) == ["known", "known"]
    with app.tenant(TENANT) as tx:
        found = documents.find(tx, user_id="ada")
    assert sorted((one.uri or "", one.version, one.created_at) for one in found) == [("", 4, THEN), ("a", 4, THEN)]


def test_what_was_written_before_everything_was_erased_stays_away(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings)
    assert written(context, a_document("a"), until=THEN) == [ERASED]


def test_without_room_for_all_the_rest_is_left_out_with_the_limit(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings, documents=1)
    fates = written(context, a_document("a"), a_document("b"))
    assert fates == ["restored", "the limit `documents` of the tenant is reached"]


def test_a_document_that_cannot_be_prepared_is_left_out_with_the_reason(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings)
    empty, good = written(context, a_document("a", content=" \n "), a_document("b"))
    assert (good, empty not in {"restored", "known", ERASED}) == ("restored", True)
    assert 0 < len(empty) <= knowledge.REASON_CHARACTERS
