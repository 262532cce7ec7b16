"""What a preview counts: never more than the receipt then says, and exactly that where little is erased."""

from __future__ import annotations

import pytest

from api.http import retrying
from core.config import Settings
from core.erasure import group, preview
from core.erasure.memory import Erased
from core.storage import tables
from core.storage.db import Database
from tests import databases
from tests.conftest import Servers
from tests.core.erasing import AUTHOR, group_erased, holding, lived_in, user_erased
from tests.core.erasure import crowd
from tests.samples import TENANT, accept, said
from tests.works import Works


def of_user(app: Database, settings: Settings, user: str) -> Erased | None:
    with app.tenant(TENANT) as tx:
        return preview.of_user(tx, TENANT, user, settings)


def of_group(app: Database, group: str) -> Erased | None:
    with app.tenant(TENANT) as tx:
        return preview.of_group(tx, group)


def is_true(counted: Erased, done: Erased) -> None:
    """Nothing is counted that does not go; what is said to be exact is; and no table is missing but by name."""
    going = {name: number for name, number in done.counts.items() if number}
    for name, number in counted.counts.items():
        assert number <= going.get(name, 0), name
    for name, number in going.items():
        if name not in counted.at_least:
            assert counted.counts[name] == number, name


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever there is is too much to be rehearsed."""
    monkeypatch.setattr(preview, "SMALL", -1)


def test_little_is_left_to_a_rehearsal(app: Database, works: Works, settings: Settings) -> None:
    lived_in(app, works, "ada", "zyxomma")
    assert of_user(app, settings, "ada") is None
    assert of_group(app, "g-zyxomma") is None


@pytest.mark.usefixtures("counting")
def test_counts_of_a_user_are_those_of_the_receipt_or_lower(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    lived_in(app, works, "ada", "zyxomma")
    lived_in(app, works, "bob", unique)
    accept(app, said("I play chess.", session="s-bob", user="ada"))
    works.settle()
    counted = of_user(app, settings, "ada")
    assert counted is not None
    assert holding(app, "zyxomma"), "nothing was erased"
    done = user_erased(app, settings, "ada")
    is_true(counted, done)
    assert {"messages", "memories", "sessions", "search_index"} <= counted.counts.keys()
    assert (counted.counts["messages"], len(counted.sessions)) == (done.counts["messages"], len(done.sessions))


@pytest.mark.usefixtures("counting")
def test_counts_of_a_group_are_those_of_the_receipt_or_lower(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    lived_in(app, works, "ada", "zyxomma")
    lived_in(app, works, "bob", unique)
    counted = of_group(app, "g-zyxomma")
    assert counted is not None
    done = group_erased(app, "g-zyxomma")
    is_true(counted, done)
    assert (counted.counts["messages"], counted.group_id) == (done.counts["messages"], "g-zyxomma")
    assert set(counted.owners) <= set(done.owners)


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("most", [5, 100])
def test_no_table_is_counted_further_than_the_ceiling(
    app: Database, settings: Settings, servers: Servers, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    crowd.load(servers.admin_url, 200, of_user=10, of_group=20)
    databases.analyzed(settings, *(table.name for table in tables.TENANT_TABLES))
    monkeypatch.setattr(preview, "MOST", most)
    of_ada, of_crew = of_user(app, settings, crowd.USER), of_group(app, crowd.GROUP)
    assert of_ada is not None
    assert of_crew is not None
    for counted in (of_ada, of_crew):
        assert max(number for name, number in counted.counts.items() if name not in preview.SUMMED) <= most
        assert {name for name, number in counted.counts.items() if number >= most} <= set(counted.at_least)
    rehearsed = retrying.rehearse(app, TENANT, lambda tx: group.erase(tx, TENANT, crowd.GROUP, AUTHOR))
    is_true(of_crew, rehearsed)
    is_true(of_ada, user_erased(app, settings, crowd.USER))
