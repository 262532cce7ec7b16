from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from core.search import query
from core.storage.db import Database
from tests.core.search.searching import remember, search
from tests.samples import TENANT, accept, said


def test_a_memory_comes_with_what_it_rests_on(app: Database) -> None:
    accept(app, said("I like tea.", message_id="m1", id="e1"))
    add = remember(app, "Ada likes tea.")
    found = {f.ranked.hit.type: f for f in search(app, "tea")}
    assert found["memory"].sources == list(add.candidate.evidence)
    assert [(s.message_id, s.quote) for s in found["message"].sources] == [("m1", "I like tea.")]


def test_what_is_erased_while_it_is_ranked_is_not_found(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, stays = remember(app, "Ada lives in Lisbon."), remember(app, "Ada left Lisbon once.")
    ordered = query.ordering.cut_page

    def erased_meanwhile(*asked: Any, **how: Any) -> Any:
        with app.tenant(TENANT) as tx:
            tx.execute(text("DELETE FROM memories WHERE id = :id"), {"id": gone.id})
        return ordered(*asked, **how)

    monkeypatch.setattr(query.ordering, "cut_page", erased_meanwhile)
    assert [one.memory.id for one in search(app, "Lisbon")] == [stays.id]
