"""Ids found by their end: within the tenant, by an index, however many there are."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage import short_ids
from core.storage.db import Database, Tx
from core.storage.short_ids import Kind
from tests import databases
from tests.samples import TENANT

MANY = 20_000


def add(tx: Tx, ids: list[str]) -> None:
    tx.execute(
        text("""
            INSERT INTO documents (tenant_id, id, title, media_type, content, sha256)
            SELECT :tenant, id, 't', 'text/plain', 'c', 'x' FROM unnest(cast(:ids AS uuid[])) AS d (id)
        """),
        {"tenant": TENANT, "ids": ids},
    )


def test_any_number_of_last_characters_finds_an_id_and_several_are_told(app: Database) -> None:
    one, other = "01a201d5-e5cb-7040-9e09-b43e1d5743a6", "01a201d5-e5cb-7040-9e09-b43e1d9943a6"
    with app.tenant(TENANT) as tx:
        add(tx, [one, other])
        assert short_ids.find(tx, "document", "1d5743a6") == [UUID(one)]
        assert short_ids.find(tx, "document", "743a6") == [UUID(one)]
        assert short_ids.find(tx, "document", "43a6") == [UUID(other), UUID(one)]
        assert short_ids.find(tx, "document", "43a7") == []


def test_no_more_are_listed_than_a_person_would_read(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        add(tx, [f"01a201d5-e5cb-7040-9e09-b43e{n:04x}43a6" for n in range(20)])
        assert len(short_ids.find(tx, "document", "43a6")) == short_ids.MOST


@pytest.mark.parametrize("kind", short_ids.KINDS)
def test_every_kind_has_a_table(app: Database, kind: Kind) -> None:
    with app.tenant(TENANT) as tx:
        assert short_ids.find(tx, kind, "abcdef01") == []


def test_an_index_finds_it_under_row_level_security(app: Database, settings: Settings) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("""
                INSERT INTO documents (tenant_id, id, title, media_type, content, sha256)
                SELECT :tenant, uuidv7(), 't', 'text/plain', 'c', 'x' FROM generate_series(1, :many)
            """),
            {"tenant": TENANT, "many": MANY},
        )
    databases.analyzed(settings, "documents")
    with app.tenant(TENANT) as tx:
        plan = tx.execute(
            text("EXPLAIN (FORMAT JSON) SELECT id FROM documents WHERE id_tail >= '6a34' AND id_tail < '6a34g'")
        ).scalar_one()
    assert "documents_by_tail" in str(plan)
    assert "id_tail" in str(plan[0]["Plan"].get("Index Cond") or plan[0]["Plan"]["Plans"][0]["Index Cond"])
