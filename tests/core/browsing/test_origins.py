from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.browsing import origins
from core.browsing.origins import Origin
from core.memory.changes import Edit
from core.storage.db import Database
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, accept, ended, said
from tests.works import Works


def of(app: Database, memory_id: UUID) -> list[tuple[str, Origin | None]]:
    with app.tenant(TENANT) as tx:
        return [(version.change, origin) for version, origin in origins.of(tx, memory_id)]


def learnt(app: Database, works: Works) -> Any:
    """A memory that was drawn from a conversation."""
    accept(app, said("I live in Lisbon."), ended(message_count=1))
    works.settle()
    with app.tenant(TENANT) as tx:
        return tx.execute(text("SELECT * FROM memories WHERE attribute = 'home.city'")).one()


def test_a_version_leads_back_to_the_dispatch_and_the_event_that_made_it(app: Database, works: Works) -> None:
    memory = learnt(app, works)
    ((change, origin), *_) = of(app, memory.id)
    assert change == "add"
    assert origin is not None
    assert origin.dispatch.target in {"memory_extractor", "memory_consolidator"}
    assert origin.event.seq == origin.dispatch.event_seq
    assert origin.model_calls == [], "rules have read it"


def test_what_a_person_changed_has_no_dispatch_and_the_oldest_version_comes_first(app: Database, works: Works) -> None:
    memory = learnt(app, works)
    before = of(app, memory.id)
    with app.tenant(TENANT) as tx:
        version = tx.execute(text("SELECT version FROM memories WHERE id = :id"), {"id": memory.id}).scalar_one()
    carry_out(app, Edit(memory.id, version, {"importance": 0.9}, "sure"))
    found = of(app, memory.id)
    assert found[:-1] == before
    assert found[-1] == ("edit", None)


def test_the_calls_of_a_model_come_with_the_dispatch_that_made_them(app: Database, works: Works) -> None:
    memory = learnt(app, works)
    (_, origin), *_ = of(app, memory.id)
    assert origin is not None
    call = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, outcome)
        VALUES (:tenant, :dispatch, :model, 'extract.1', 7, 'ok')
    """
    with app.tenant(TENANT) as tx:
        for model, dispatch in (
            ("first", origin.dispatch.id),
            ("second", origin.dispatch.id),
            ("of others", UUID(int=7)),
        ):
            tx.execute(text(call), {"tenant": TENANT, "dispatch": dispatch, "model": model})
    (_, again), *_ = of(app, memory.id)
    assert again is not None
    assert [one["model"] for one in again.model_calls] == ["first", "second"]


def test_a_memory_that_is_not_there_has_no_versions(app: Database) -> None:
    carry_out(app, a_memory("Ada has a cat."))
    assert of(app, UUID(int=7)) == []
