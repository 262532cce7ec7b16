from __future__ import annotations

import pytest
from sqlalchemy import text

from core.config import Settings
from core.maintenance import sweeps
from core.storage.db import Database
from tests.factories import a_memory, carry_out, event_types, many_memories, memory_row, set_back
from tests.samples import TENANT, accept, event
from tests.workers.running import run
from tests.works import Works, at_work


def counts(app: Database) -> dict[str, int]:
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT status, count(*) AS n FROM memories GROUP BY status"))
        return {row.status: row.n for row in rows}


def test_the_nightly_sweep_goes_on_until_nothing_is_due(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    many_memories(app, 100, due=25)
    monkeypatch.setattr(sweeps, "PAGE", 10)
    with at_work(settings) as works:
        results = run(app, works, "memory_decay")
    assert [result["archived"] for result in results] == [10, 10, 5]
    assert counts(app) == {"active": 75, "archived": 25}
    assert event_types(app).count("memory.archived") == 25


def test_a_new_threshold_holds_for_what_is_there_already(settings: Settings, app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    set_back(app, [cat.id], 100)
    with at_work(settings) as works:
        run(app, works, "memory_decay")
    assert memory_row(app, cat.id).status == "active"
    with at_work(settings.model_copy(update={"fade_under": 0.4})) as works:
        results = run(app, works, "memory_decay")
    assert {"redrawing": True} in results
    assert memory_row(app, cat.id).status == "archived"


def test_the_cleaner_keeps_users_within_their_limit_page_by_page(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out(app, *(a_memory(f"Ada has cat number {n}.", importance=0.3 + n / 100) for n in range(12)))
    monkeypatch.setattr(sweeps, "PAGE", 3)
    with at_work(settings.model_copy(update={"memories_per_user": 5})) as works:
        results = run(app, works, "memory_cleaner")
    assert [result["surplus"] for result in results] == [3, 3, 1, 0]
    assert counts(app) == {"active": 5, "archived": 7}


def test_the_cleaner_archives_what_has_expired(app: Database, works: Works) -> None:
    many_memories(app, 20, due=4)
    assert run(app, works, "memory_cleaner")[0]["expired"] == 4
    assert counts(app) == {"active": 16, "archived": 4}


def test_a_recall_is_counted_once_and_nothing_follows_from_it(app: Database, works: Works) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    works.settle()
    before = event_types(app)
    for _ in range(3):
        accept(app, event("memory.recalled", {"user_id": "ada", "memory_ids": [str(cat.id)]}))
    works.settle()
    assert memory_row(app, cat.id).uses == 1
    assert event_types(app) == [*before, *["memory.recalled"] * 3]


@pytest.mark.parametrize("ids", [["x"], [None], 7, [["x"]], "abc"])
def test_a_recall_of_what_cannot_be_a_memory_is_set_aside(app: Database, works: Works, ids: object) -> None:
    accept(app, event("memory.recalled", {"user_id": "ada", "memory_ids": ids}))
    works.settle()
    with app.tenant(TENANT) as tx:
        (dead,) = tx.execute(text("SELECT error FROM dispatches WHERE status = 'dead'")).scalars()
    assert "memory_ids" in dead
