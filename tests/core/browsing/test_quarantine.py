"""Quarantined memories with the reason for which each was set apart, read through an index."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from core.browsing import quarantine
from core.config import Settings
from core.memory.changes import Add, Archive, Edit
from core.storage.db import Database
from core.types import Trust
from tests import databases
from tests.doors import OTHER
from tests.factories import a_memory, carry_out, memory_row
from tests.samples import TENANT


def set_apart(app: Database, content: str, cause: str = "It instructs its reader.") -> Add:
    """A memory that was stored with another reason before it was set apart."""
    add = a_memory(content)
    carry_out(app, add)
    edit(app, add, cause, trust=Trust.QUARANTINED.value)
    return add


def edit(app: Database, add: Add, reason: str, **fields: object) -> None:
    carry_out(app, Edit(add.id, memory_row(app, add.id).version, fields, reason))


def found(app: Database, **how: object) -> list[tuple[str, str]]:
    with app.tenant(TENANT) as tx:
        return [(row.content, row.cause) for row in quarantine.find(tx, **how)]  # type: ignore[arg-type]


def test_they_come_newest_first_each_with_its_cause(app: Database) -> None:
    carry_out(app, a_memory("Ada has a cat."))
    set_apart(app, "One.", "It speaks against its reader.")
    set_apart(app, "Two.", "It hides something.")
    assert found(app) == [("Two.", "It hides something."), ("One.", "It speaks against its reader.")]
    with app.tenant(OTHER) as tx:
        assert quarantine.find(tx) == []


def test_what_was_edited_since_keeps_the_cause(app: Database) -> None:
    one = set_apart(app, "One.", "It hides something.")
    edit(app, one, "A better word.", topic="work")
    assert found(app) == [("One.", "It hides something.")]


def test_what_was_released_and_set_apart_again_has_the_cause_of_now(app: Database) -> None:
    one = set_apart(app, "One.", "It hides something.")
    edit(app, one, "Harmless.", trust=Trust.CANDIDATE.value)
    assert found(app) == []
    edit(app, one, "It instructs its reader.", trust=Trust.QUARANTINED.value)
    assert found(app) == [("One.", "It instructs its reader.")]
    assert found(app, cause="It hides something.") == []


def test_what_is_not_active_any_more_is_not_there(app: Database) -> None:
    one = set_apart(app, "One.")
    carry_out(app, Archive(one.id, memory_row(app, one.id).version, "old"))
    assert found(app) == []


def test_pages_follow_each_other(app: Database) -> None:
    ids: list[UUID] = [set_apart(app, content).id for content in ("One.", "Two.", "Three.")]
    assert [content for content, _ in found(app, limit=2)] == ["Three.", "Two."]
    assert [content for content, _ in found(app, limit=2, after=ids[1])] == ["One."]


def test_those_of_one_cause_are_looked_for_among_the_newest(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [set_apart(app, content, cause).id for content, cause in (("One.", "a"), ("Two.", "b"), ("Three.", "a"))]
    assert [content for content, _ in found(app, cause="a")] == ["Three.", "One."]
    monkeypatch.setattr(quarantine, "SEARCHED", 2)
    assert [content for content, _ in found(app, cause="a")] == ["Three."]
    assert [content for content, _ in found(app, cause="a", after=ids[2])] == ["One."]


def test_a_page_reads_no_more_than_it_shows(settings: Settings, app: Database) -> None:
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, fade_at)
        SELECT :tenant, uuidv7(), 'u' || n % 97, 'x', 'semantic', 'fact', 'other', 'Fact ' || n, md5(n::text),
               CASE WHEN n % 10 = 0 THEN 'quarantined' ELSE 'candidate' END, 'active', now(), now()
        FROM generate_series(1, 20000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    databases.analyzed(settings, "memories", "memory_versions")
    values = {"cause": None, "after": None, "limit": 50, "searched": 50}
    with app.tenant(TENANT) as tx:
        nodes = databases.carried_out(tx, str(quarantine._FIND), values)
        of_a_cause = databases.carried_out(tx, str(quarantine._FIND), values | {"cause": "a", "searched": 1_000})
    assert sum(databases.looked_at(nodes, "memories")) <= 60
    assert sum(databases.looked_at(of_a_cause, "memories")) <= 1_010
