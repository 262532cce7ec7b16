from __future__ import annotations

from uuid import UUID

import pytest

from core.memory.changes import Add, Archive, Owner
from core.storage.db import Database
from core.summaries import unit_links
from core.types import Category, Evidence, Kind
from tests.core.summaries.conversations import HIKE, TAXES, seen, talk, wrote
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, accept, accept_all, said


def remembered(
    app: Database, content: str, *messages: str, owner: str = "ada", group: str | None = None, episode: bool = False
) -> Add:
    cited = tuple(Evidence("s1", message, "e1", "x") for message in messages)
    more = {"category": Category.EPISODE, "kind": Kind.EPISODIC} if episode else {}
    add = a_memory(content, evidence=cited, subject=owner, **more)
    carry_out(app, add, owner=Owner(owner, group))
    return add


def units_of(app: Database, add: Add) -> list[UUID]:
    with app.tenant(TENANT) as tx:
        return unit_links.of_memory(tx, add.id)


@pytest.fixture
def two_units(app: Database) -> tuple[UUID, UUID]:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100)])
    wrote(app)
    hike, taxes = seen(app)
    return hike.id, taxes.id


def test_units_and_memories_are_linked_by_the_messages_of_both(app: Database, two_units: tuple[UUID, UUID]) -> None:
    hike, taxes = two_units
    trail, fee = remembered(app, "The trail is steep.", "m1"), remembered(app, "Fees are high.", "m100", "m102")
    both, other = remembered(app, "Ada is busy.", "m2", "m101"), remembered(app, "Ada has a cat.", "elsewhere")
    old = remembered(app, "The trail is flat.", "m1")
    carry_out(app, Archive(old.id, 1, "wrong"))
    with app.tenant(TENANT) as tx:
        assert unit_links.of_unit(tx, hike) == unit_links.UnitLinks([both.id, trail.id], [])
        assert unit_links.of_unit(tx, taxes) == unit_links.UnitLinks([both.id, fee.id], [])
    assert (units_of(app, trail), units_of(app, fee)) == ([hike], [taxes])
    assert (units_of(app, both), units_of(app, other)) == ([hike, taxes], [])


def test_an_episode_is_linked_with_all_units_of_its_session(app: Database, two_units: tuple[UUID, UUID]) -> None:
    episode = remembered(app, "Ada talked about hikes and taxes.", "m0", episode=True)
    assert units_of(app, episode) == list(two_units)
    for unit in two_units:
        with app.tenant(TENANT) as tx:
            assert unit_links.of_unit(tx, unit) == unit_links.UnitLinks([], [episode.id])


def test_what_was_said_to_others_in_the_same_messages_range_is_not_linked(app: Database) -> None:
    accept(
        app,
        said("The hike is on Sunday.", group_id="team", message_id="g1"),
        said("I pawned my wombat.", message_id="p1"),
        said("I will bring a tent.", user="bob", group_id="team", message_id="g2"),
    )
    wrote(app)
    alone, team = sorted(seen(app), key=lambda unit: unit.group_id or "")
    wombat = remembered(app, "Ada pawned her wombat.", "p1")
    sunday = remembered(app, "The hike is on Sunday.", "g1", group="team")
    tent = remembered(app, "Bob brings a tent.", "g2", owner="bob", group="team")
    own = remembered(app, "Ada told Imprint about a wombat.", "p1", episode=True)
    shared = remembered(app, "Ada and Bob planned a hike.", "g1", group="team", episode=True)
    with app.tenant(TENANT) as tx:
        assert unit_links.of_unit(tx, team.id) == unit_links.UnitLinks([tent.id, sunday.id], [shared.id])
        assert unit_links.of_unit(tx, alone.id) == unit_links.UnitLinks([wombat.id], [own.id])
        assert unit_links.of_unit(tx, alone.id, "bob") == unit_links.UnitLinks([], [])
    assert (units_of(app, own), units_of(app, shared)) == ([alone.id], [team.id])
    assert (units_of(app, wombat), units_of(app, tent)) == ([alone.id], [team.id])


def test_of_many_links_the_newest_are_shown(
    app: Database, two_units: tuple[UUID, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_links, "MOST", 2)
    adds = [remembered(app, f"The trail has {n} huts.", "m1") for n in range(3)]
    with app.tenant(TENANT) as tx:
        assert unit_links.of_unit(tx, two_units[0]).memory_ids == [adds[2].id, adds[1].id]
