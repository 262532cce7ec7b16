"""Users and groups are listed by time and by name, each page from one range of an index."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import user
from core.sessions import known_owners
from core.sessions.known_owners import KnownOwner, Order, OwnerFilter, RowCount, Seen
from core.storage.db import Database
from tests.databases import analyzed, carried_out
from tests.factories import PERSON, a_memory, carry_out
from tests.samples import TENANT, accept, said

LONG_AGO = datetime.now(UTC) - timedelta(days=40)


def listed(app: Database, wanted: OwnerFilter) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [one.id for one in known_owners.find(tx, wanted)]


def one(app: Database, name: str) -> KnownOwner:
    with app.tenant(TENANT) as tx:
        found = known_owners.get(tx, "user", name)
    assert found is not None
    return found


def test_whoever_speaks_is_known_and_counted(app: Database) -> None:
    accept(app, said("I live in Turin.", session="s1"), said("I live in Rome.", session="s2", user="bob"))
    carry_out(app, a_memory("Ada lives in Turin."))
    assert set(listed(app, OwnerFilter("user"))) == {"ada", "bob"}
    assert (one(app, "ada").sessions, one(app, "ada").memories) == (RowCount(1, more=False), RowCount(1, more=False))
    assert one(app, "bob").memories == RowCount(0, more=False)


def test_a_repeat_beside_what_is_new_makes_nobody_known_again(app: Database) -> None:
    """Whoever was forgotten since its first delivery stays so."""
    first = said("I live in Rome.", session="s2", user="bob", id="e1")
    accept(app, first)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM owners WHERE id = 'bob'"))
    assert accept(app, first, said("I live in Turin.", session="s1")).duplicates == 1
    assert listed(app, OwnerFilter("user")) == ["ada"]


def test_the_last_to_speak_comes_first_and_pages_follow(app: Database) -> None:
    for days, name in ((1, "ada"), (2, "bob"), (3, "cy")):
        accept(app, said("Hello.", session=name, user=name, time=(LONG_AGO + timedelta(days=days)).isoformat()))
    assert listed(app, OwnerFilter("user")) == ["cy", "bob", "ada"]
    assert listed(app, OwnerFilter("user", after=(one(app, "bob").last_at, "bob"))) == ["ada"]


def test_a_prefix_finds_ids_in_their_order(app: Database) -> None:
    for name in ("ada", "Adam", "adam", "ad-hoc", "bob", "ad\U0010ffff"):
        accept(app, said("Hello.", session=name, user=name))
    wanted = OwnerFilter("user", prefix="ad", order="id")
    assert listed(app, wanted) == ["ad-hoc", "ada", "adam", "ad\U0010ffff"]
    assert listed(app, OwnerFilter("user", "ad", "id", (LONG_AGO, "ada"))) == ["adam", "ad\U0010ffff"]
    assert listed(app, OwnerFilter("user", prefix="\U0010ffff", order="id")) == []


def test_a_group_is_known_with_those_who_spoke_in_it(app: Database) -> None:
    talk = [
        said("I bring tea.", session="g1", group_id="crew", time=LONG_AGO.isoformat()),
        said("I bring cake.", session="g1", user="bob", group_id="crew"),
        said("I bring cups.", session="g1", user="bob", group_id="crew"),
    ]
    accept(app, *talk)
    assert listed(app, OwnerFilter("group")) == ["crew"]
    with app.tenant(TENANT) as tx:
        found = [(member.user_id, member.messages) for member in known_owners.members(tx, "crew")]
    assert found == [("bob", 2), ("ada", 1)]


def test_a_memory_alone_makes_its_owner_known(app: Database) -> None:
    carry_out(app, a_memory("Ada lives in Turin."))
    assert listed(app, OwnerFilter("user")) == ["ada"]


def test_within_a_minute_the_row_is_left_as_it_is(app: Database) -> None:
    accept(app, said("Hello."))
    before = one(app, "ada").last_at
    for seconds, moved in ((30, False), (90, True)):
        with app.tenant(TENANT) as tx:
            tx.execute(text("UPDATE owners SET last_at = :at"), {"at": before - timedelta(hours=1)})
            at = before - timedelta(hours=1) + timedelta(seconds=seconds)
            known_owners.note(tx, TENANT, [Seen("user", "ada", at), Seen("user", "ada", LONG_AGO)])
        assert (one(app, "ada").last_at == at) is moved


def test_a_time_to_come_is_now(app: Database) -> None:
    accept(app, said("Hello.", time=(datetime.now(UTC) + timedelta(minutes=4)).isoformat()))
    assert one(app, "ada").last_at <= datetime.now(UTC)


def test_an_erased_user_is_known_no_more(app: Database, settings: Settings) -> None:
    accept(app, said("Hello."), said("Hello.", session="s2", user="bob"))
    with app.tenant(TENANT) as tx:
        user.erase(tx, TENANT, "ada", PERSON, settings)
    assert listed(app, OwnerFilter("user")) == ["bob"]


@pytest.mark.parametrize("order", ["id", "recent"])
def test_a_page_of_a_hundred_thousand_users_is_a_range_of_an_index(
    app: Database, settings: Settings, order: Order
) -> None:
    with app.tenant(TENANT) as tx:
        for statement in MANY:
            tx.execute(text(statement), {"tenant": TENANT})
    analyzed(settings, "owners", "sessions", "memories")
    values = {"kind": "user", "low": "u005", "high": "u006", "after": "", "at": None, "limit": 50, "most": 200}
    with app.tenant(TENANT) as tx:
        nodes = carried_out(tx, str(known_owners.PAGES["user", order]), values)
    scans = [node for node in nodes if "Relation Name" in node]
    assert {node["Relation Name"] for node in scans} == {"owners", "sessions", "memories"}
    assert [node["Relation Name"] for node in scans if node["Node Type"] == "Seq Scan"] == []
    assert max(node["Actual Rows"] for node in scans) <= 200
    assert listed(app, OwnerFilter("user", "u05000", "id"))[0] == "u050000"


MANY = (
    """
    INSERT INTO owners (tenant_id, kind, id, last_at)
    SELECT :tenant, 'user', 'u' || lpad(n::text, 6, '0'), now() - n * interval '1 second'
    FROM generate_series(1, 100000) AS n
    """,
    """
    INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at)
    SELECT :tenant, 's' || n, 'u' || lpad((n / 5)::text, 6, '0'), now(), now() FROM generate_series(5, 20000) AS n
    """,
    """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at)
    SELECT :tenant, gen_random_uuid(), 'u' || lpad((n / 10)::text, 6, '0'), 'x', 'semantic', 'fact', 'personal', 'x',
           n::text, 'confirmed', 'active', now()
    FROM generate_series(10, 20000) AS n
    """,
)
