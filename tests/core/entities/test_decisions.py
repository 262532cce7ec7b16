"""Decisions by hand, over what texts say."""

from __future__ import annotations

import pytest

from core.entities import decisions
from core.entities.decisions import Deciding
from core.errors import Invalid, NotFound
from core.events.publishing import Author
from core.storage.db import Database
from tests.core.changing import Bench, an_add
from tests.core.entities.introducing import bearer
from tests.samples import TENANT

DECIDING = Deciding(TENANT, "ada", Author("test"))


def test_decisions_count_more_than_texts_until_they_are_taken_back(app: Database, bench: Bench) -> None:
    bench.apply(an_add("Ada's boss is Graham Miller."))
    with app.tenant(TENANT) as tx:
        assert DECIDING.merge(tx, ["Graham Miller", "Bear", "my neighbour"]).name == "Graham Miller"
        DECIDING.separate(tx, "my boss", ["Graham Miller"])
        DECIDING.show_as(tx, "Bear", "Graham")
    assert bearer(app, "my neighbour") == "Graham"
    assert bearer(app, "my boss") == "/boss"
    with app.tenant(TENANT) as tx:
        assert len(decisions.of_user(tx, "ada")) == 5
        DECIDING.take_back(tx, "my boss", "Graham Miller")
        DECIDING.take_back(tx, "Graham", "")
    assert bearer(app, "my boss") == "Graham Miller"
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        DECIDING.take_back(tx, "my boss", "Graham Miller")


@pytest.mark.parametrize("names", [["Bear", " "], ["Mum", "my mother"]])
def test_a_decision_needs_two_names(app: Database, names: list[str]) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid):
        DECIDING.merge(tx, names)


def test_a_user_has_a_bounded_number_of_decisions(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MOST", 2)
    with app.tenant(TENANT) as tx:
        DECIDING.merge(tx, ["Ada Berg", "A", "B"])
        with pytest.raises(Invalid, match="take some back first"):
            DECIDING.merge(tx, ["Ada Berg", "C"])


def test_a_role_is_not_shown_as_a_name(app: Database, bench: Bench) -> None:
    bench.apply(an_add("Ada's boss is Graham Miller."))
    with app.tenant(TENANT) as tx, pytest.raises(Invalid, match="is a role"):
        DECIDING.show_as(tx, "Graham Miller", "my boss")
