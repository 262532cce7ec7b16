from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Conflict
from core.events.publishing import Author
from core.memory.changes import Add, Archive, Change, Confirm, Merge, Owner
from core.memory.identity import KnownMemory
from core.reflection import profile, profile_attributes
from core.reflection.profile import StoredProfile
from core.storage.db import Database
from core.types import Category, Evidence, Json, Status, Topic, Trust
from tests.databases import analyzed, carried_out
from tests.factories import ADA, EMBEDDER, a_memory, carry_out, events_since
from tests.samples import TENANT, accept, said

PERSON = Author("key:1")
OF_ADA = profile.ProfileOwner(user_id="ada")
OF_TEAM = profile.ProfileOwner(group_id="team")
NOW = datetime.now(UTC)


def built(app: Database, owner: profile.ProfileOwner = OF_ADA, now: datetime | None = None) -> Json:
    """Build and write; what the agent would answer."""
    plan = profile.build(app, TENANT, owner, now)
    with app.tenant(TENANT) as tx:
        return plan.write(tx, PERSON)


def kept(app: Database, owner: profile.ProfileOwner = OF_ADA) -> StoredProfile:
    with app.tenant(TENANT) as tx:
        found = profile.get(tx, owner)
    assert found is not None
    return found


def told(app: Database) -> list[Json]:
    with app.tenant(TENANT) as tx:
        return [e.payload for e in events_since(tx, 0, 1000) if e.event_type == "profile.updated"]


def home(city: str, **fields: Any) -> Add:
    return a_memory(f"Ada lives in {city}.", attribute="home.city", value=city, **fields)


def in_group(*wanted: Change, user: str = "ada", app: Database) -> None:
    carry_out(app, *wanted, owner=Owner(user, "team"))


def test_a_profile_is_built_from_what_stands_and_says_what_has_changed(app: Database) -> None:
    lisbon = home("Lisbon")
    carry_out(app, lisbon, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    assert built(app) == {"user_id": "ada", "version": 1, "changed": ["home.city", "preferences"]}
    slot = kept(app).attributes["slots"]["home.city"]
    assert (slot["value"], slot["memories"]) == ("Lisbon", [str(lisbon.id)])
    assert told(app) == [{"user_id": "ada", "version": 1, "changed": ["home.city", "preferences"]}]


def test_it_is_written_only_where_it_differs(app: Database) -> None:
    carry_out(app, home("Lisbon"))
    built(app)
    before = kept(app)
    assert built(app)["changed"] == []
    assert replace(kept(app), built_at=before.built_at) == before
    carry_out(app, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    assert built(app) == {"user_id": "ada", "version": 2, "changed": ["preferences"]}
    assert len(told(app)) == 2


def test_who_is_not_known_has_no_profile_and_nothing_is_said(app: Database) -> None:
    assert built(app) == {"user_id": "ada", "version": 0, "changed": []}
    assert told(app) == []
    assert profile.current(app, TENANT, OF_ADA, PERSON) is None


def test_a_value_that_was_superseded_gives_way_in_the_profile(app: Database) -> None:
    lisbon = home("Lisbon")
    carry_out(app, lisbon)
    built(app)
    known = KnownMemory(
        lisbon.id, 1, "Ada lives in Lisbon.", "ada", "home.city", "Lisbon", lisbon.candidate.occurred_at
    )
    porto = Add(home("Porto").candidate, "later", EMBEDDER.embed(["x"])[0], supersedes=known)
    carry_out(app, porto)
    assert built(app)["changed"] == ["home.city"]
    slot = kept(app).attributes["slots"]["home.city"]
    assert (slot["value"], slot["memories"]) == ("Porto", [str(porto.id)])


def test_of_memories_in_every_state_only_those_that_stand_are_in_it(app: Database) -> None:
    """All statuses, trusts and terms together; the text of each says its state."""
    past, future = NOW - timedelta(days=1), NOW + timedelta(days=1)
    states = list(product(Status, Trust, (None, past, future), (None, past, future)))
    carry_out(app, *(a_memory(f"Ada has cat number {n}.", topic=list(Topic)[n % 13]) for n in range(len(states))))
    with app.tenant(TENANT) as tx:
        ids = list(tx.execute(text("SELECT id FROM memories ORDER BY id")).scalars())
        for one, (status, trust, expires, until) in zip(ids, states, strict=True):
            values = {"id": one, "status": status, "trust": trust, "expires": expires, "until": until}
            tx.execute(text(_SET), values)
    stands = {
        str(one)
        for one, (status, trust, expires, until) in zip(ids, states, strict=True)
        if status is Status.ACTIVE and trust not in {Trust.REJECTED, Trust.QUARANTINED} and past not in (expires, until)
    }
    built(app)
    named = profile_attributes.memory_ids_in(kept(app).attributes)
    assert named
    assert named <= stands


_SET = "UPDATE memories SET status = :status, trust = :trust, expires_at = :expires, valid_to = :until WHERE id = :id"


def test_a_profile_lapses_with_its_first_memory_and_is_then_built_anew_for_whoever_reads(app: Database) -> None:
    carry_out(app, home("Lisbon"), a_memory("Ada is in Rome.", expires_at=NOW + timedelta(days=1)))
    built(app)
    assert kept(app).until == NOW + timedelta(days=1)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET expires_at = now() - interval '1 s' WHERE expires_at IS NOT NULL"))
    early = profile.current(app, TENANT, OF_ADA, PERSON)
    late = profile.current(app, TENANT, OF_ADA, PERSON, now=NOW + timedelta(days=2))
    assert early is not None
    assert late is not None
    assert ("topics" in early.attributes, "topics" in late.attributes) == (True, False)
    assert (early.version, late.version, late.until) == (1, 2, None)


def test_reading_takes_one_indexed_read_of_one_row(settings: Settings, app: Database) -> None:
    carry_out(app, home("Lisbon"))
    built(app)
    others = """
        INSERT INTO profiles (tenant_id, owner, version, attributes)
        SELECT tenant_id, owner || n, version, attributes FROM profiles, generate_series(1, 2000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(others))
    analyzed(settings, "profiles")
    with app.tenant(TENANT) as tx:
        nodes = carried_out(tx, profile._GET.text, {"owner": OF_ADA.key})
    (scan,) = nodes
    assert (scan["Node Type"], scan["Index Name"], scan["Actual Rows"]) == ("Index Scan", "profiles_pkey", 1)


def test_two_that_build_at_once_do_not_overwrite_each_other(app: Database) -> None:
    carry_out(app, home("Lisbon"))
    one, other = profile.build(app, TENANT, OF_ADA), profile.build(app, TENANT, OF_ADA)
    with app.tenant(TENANT) as tx:
        one.write(tx, PERSON)
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        other.write(tx, PERSON)
    assert len(told(app)) == 1


@pytest.mark.parametrize("there", [True, False])
def test_what_was_taken_back_while_it_was_built_is_not_written(app: Database, there: bool) -> None:
    lisbon, tea = home("Lisbon"), a_memory("Ada likes tea.", category=Category.PREFERENCE)
    carry_out(app, lisbon)
    if there:
        built(app)
        carry_out(app, tea)
    planned = profile.build(app, TENANT, OF_ADA)
    carry_out(app, Archive(lisbon.id, 1, "wrong"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        planned.write(tx, PERSON)


def test_the_profile_of_someone_who_was_deleted_meanwhile_does_not_come_back(app: Database) -> None:
    carry_out(app, home("Lisbon"))
    built(app)
    carry_out(app, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    planned = profile.build(app, TENANT, OF_ADA)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM profiles"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        planned.write(tx, PERSON)


def test_the_names_that_a_user_speaks_under_are_their_own_and_all_others_are_people_they_know(app: Database) -> None:
    accept(app, said("I live in Lisbon.", message_id="m1", speaker="Ada L."), said("x", message_id="m2", speaker="Mia"))
    own = a_memory(
        "Ada L. lives in Lisbon.", subject="Ada L.", attribute="home.city", value="Lisbon", evidence=at("m1")
    )
    sister = a_memory("Mia lives in Porto.", subject="mia's", attribute="home.city", value="Porto", evidence=at("m2"))
    carry_out(app, own, sister)
    built(app)
    attributes = kept(app).attributes
    assert attributes["slots"]["home.city"]["value"] == "Lisbon"
    assert attributes["people"]["mia's"]["slots"]["home.city"]["value"] == "Porto"


def at(message: str, session: str = "s1") -> tuple[Evidence, ...]:
    return (Evidence(session, message, f"e-{message}", "quoted"),)


def test_a_group_knows_what_was_said_in_it_and_nothing_that_a_member_said_elsewhere(app: Database) -> None:
    accept(app, said("In the group.", session="g1", message_id="m1", group_id="team"), said("Alone.", message_id="m2"))
    accept(app, said("Elsewhere.", session="g2", message_id="m3", group_id="others"))
    in_group(a_memory("Ada likes group tea.", evidence=at("m1", "g1")), app=app)
    in_group(a_memory("Bob likes group tea.", subject="bob", evidence=at("m1", "g1")), user="bob", app=app)
    carry_out(app, a_memory("Ada has a private cat.", evidence=at("m2")))
    carry_out(app, a_memory("Ada has another cat.", evidence=at("m3", "g2")), owner=Owner("ada", "others"))
    in_group(a_memory("Ada told the team privately.", evidence=at("m2")), app=app)
    built(app, OF_TEAM)
    found = kept(app, OF_TEAM).attributes
    shown = [one["content"] for ones in found["facts"].values() for one in ones]
    assert sorted(shown) == ["Ada likes group tea.", "Bob likes group tea."]
    assert [one["user_id"] for one in found["members"]] == ["ada", "bob"]


@pytest.mark.parametrize(("change", "shown"), [(Confirm, True), (Merge, False)])
def test_what_a_member_says_again_elsewhere_is_left_out_if_its_words_went_in(
    app: Database, change: Any, shown: bool
) -> None:
    accept(app, said("In the group.", session="g1", message_id="m1", group_id="team"), said("Alone.", message_id="m2"))
    tea = a_memory("Ada likes tea.", evidence=at("m1", "g1"))
    in_group(tea, app=app)
    known = KnownMemory(tea.id, 1, "Ada likes tea.", "ada", None, None, tea.candidate.occurred_at)
    again = a_memory("Ada likes tea with secret sugar.", evidence=at("m2")).candidate
    more = () if change is Confirm else (EMBEDDER.embed([again.content])[0],)
    carry_out(app, change(known, again, "said again", *more))
    built(app, OF_TEAM)
    with app.tenant(TENANT) as tx:
        assert (profile.get(tx, OF_TEAM) is not None) is shown


def test_the_groups_of_a_user_whose_profiles_are_behind_are_known(app: Database) -> None:
    now = datetime.now(UTC)
    accept(app, said("In the group.", session="g1", message_id="m1", group_id="team"))
    in_group(a_memory("Ada likes tea.", evidence=at("m1", "g1")), app=app)
    assert behind(app) == ["team"]
    built(app, OF_TEAM)
    assert behind(app) == ["team"]  # What was not committed yet could not be seen.
    built(app, OF_TEAM, now + timedelta(minutes=1))
    assert behind(app) == []
    in_group(*(a_memory(f"Ada likes cocoa {n}.", importance=0.1, evidence=at("m1", "g1")) for n in range(6)), app=app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET updated_at = updated_at + interval '1 hour' WHERE content LIKE '%cocoa%'"))
    assert behind(app) == ["team"]
    built(app, OF_TEAM, now + timedelta(hours=2))
    assert behind(app) == []


def behind(app: Database) -> Sequence[str]:
    with app.tenant(TENANT) as tx:
        return profile.groups_behind(tx, "ada")


def test_who_asks_for_it_fresh_gets_what_is_known_at_that_moment(app: Database) -> None:
    carry_out(app, home("Lisbon"))
    built(app)
    carry_out(app, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    held = profile.current(app, TENANT, OF_ADA, PERSON)
    fresh = profile.current(app, TENANT, OF_ADA, PERSON, fresh=True)
    assert held is not None
    assert fresh is not None
    assert ("preferences" in held.attributes, "preferences" in fresh.attributes) == (False, True)


def test_when_nothing_stands_any_more_nothing_is_left_in_it(app: Database) -> None:
    lisbon = home("Lisbon")
    carry_out(app, lisbon)
    built(app)
    carry_out(app, Archive(lisbon.id, 1, "wrong"))
    assert built(app) == {"user_id": "ada", "version": 2, "changed": ["home.city"]}
    assert kept(app).attributes == {}


def test_a_user_at_the_limit_has_a_profile_that_is_bounded(app: Database) -> None:
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, attribute, value)
        SELECT :tenant, gen_random_uuid(), 'ada', CASE WHEN n % 3 = 0 THEN 's' || n ELSE 'ada' END, 'semantic',
               (ARRAY['fact', 'preference', 'plan', 'pattern'])[1 + n % 4], 'work', 'Fact ' || n, md5(n::text),
               'candidate', 'active', now(), CASE WHEN n % 50 = 0 THEN 'a' || n END, 'v' || n
        FROM generate_series(1, 10000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    built(app)
    found = kept(app).attributes
    assert (len(found["people"]), len(found["preferences"]), len(found["topics"]["work"])) == (50, 20, 5)


def test_it_rests_on_nobody_elses_memories(app: Database) -> None:
    mine, theirs = a_memory("Ada likes tea."), a_memory("Bob likes tea.", subject="bob")
    carry_out(app, mine, owner=ADA)
    carry_out(app, theirs, owner=Owner("bob"))
    built(app)
    assert {UUID(one) for one in profile_attributes.memory_ids_in(kept(app).attributes)} == {mine.id}
