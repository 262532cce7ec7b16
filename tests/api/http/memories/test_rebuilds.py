from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.events.publishing import Author
from core.memory import writer
from core.memory.changes import Archive, Owner
from core.memory.shadow import Contrast
from core.storage.db import Database
from core.types import Json
from rules.backtest import rebuild
from tests.core.memory.writing import an_add
from tests.doors import Doors
from tests.factories import a_candidate
from tests.samples import TENANT, ended, event, said
from tests.works import at_work

TALK = (
    said("I live in Lisbon.", session="s1", message_id="m1"),
    said("My name is Ada.", session="s1", message_id="m2"),
    said("I am allergic to peanuts.", session="s1", message_id="m3"),
    ended("s1", message_count=3),
)
SHORT = (said("I have a cat called Tom.", session="s2", message_id="m1"), ended("s2", message_count=1))
AT_EVERY_END = {
    "name": "at_every_end",
    "event_type": "session.ended",
    "actions": [{"action_type": "run_agent", "target": "memory_consolidator"}],
}
ONLY_LONG = AT_EVERY_END | {"conditions": {"field": "payload.message_count", "op": ">=", "value": 3}}


def live(door: Doors, settings: Settings, *documents: Json) -> None:
    assert door.post("/v1/events", list(documents)).status_code == 202
    with at_work(settings) as works:
        works.settle()


def rebuilt(door: Doors, settings: Settings, **asked: Any) -> Json:
    made = door.post("/v1/rebuilds", {"user_id": "ada", **asked})
    assert made.status_code == 202, made.text
    with at_work(settings) as works:
        works.settle()
    return dict(door.get(f"/v1/rebuilds/{made.json()['id']}").json())


def kept_beside(app: Database) -> int:
    """How many memories the set of the latest rebuild holds."""
    with app.tenant(TENANT) as tx:
        shadow_id = tx.execute(text("SELECT shadow_id FROM rebuilds ORDER BY id DESC LIMIT 1")).scalar_one()
    with app.tenant(shadow_id) as tx:
        return int(tx.execute(text("SELECT count(*) FROM memories")).scalar_one())


def statements(door: Doors) -> set[str]:
    return {m["content"] for m in door.get("/v1/memories", params={"user_id": "ada", "limit": 100}).json()["items"]}


def test_by_the_rules_in_force_nothing_would_change(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, *SHORT)
    made = rebuilt(door, settings)
    assert (made["status"], made["difference"]["added"], made["difference"]["gone"]) == ("ready", [], [])
    assert made["difference"]["changed"] == []
    assert made["difference"]["same"] >= 3


def test_other_rules_show_what_would_change_and_change_nothing(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, *SHORT)
    before = statements(door)
    made = rebuilt(door, settings, rules=[ONLY_LONG])
    gone = {one["content"] for one in made["difference"]["gone"]}
    assert gone
    assert all("Tom" in content or "cat" in content for content in gone)
    assert statements(door) == before


def test_what_was_looked_at_is_taken_over_whole_and_can_be_undone_whole(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, *SHORT)
    before = statements(door)
    made = rebuilt(door, settings, rules=[ONLY_LONG])
    gone = {one["content"] for one in made["difference"]["gone"]}
    assert door.post(f"/v1/rebuilds/{made['id']}/apply").status_code == 200
    assert statements(door) == before - gone
    assert door.post(f"/v1/rebuilds/{made['id']}/apply").status_code == 409
    undone = door.post(f"/v1/memories/decisions/{made['id']}/undo", {"reason": "too few"})
    assert undone.status_code == 200, undone.text
    assert statements(door) == before


def test_what_was_learnt_by_no_rule_is_found_by_another(settings: Settings, door: Doors, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE rules SET deleted_at = now() WHERE name <> 'rebuild_on_request'"))
    live(door, settings, *TALK)
    assert statements(door) == set()
    made = rebuilt(door, settings, rules=[AT_EVERY_END])
    door.post(f"/v1/rebuilds/{made['id']}/apply")
    assert any("Lisbon" in content for content in statements(door))
    found = door.post("/v1/search", {"user_id": "ada", "query": "Where does Ada live?", "include": ["memories"]}).json()
    assert any("Lisbon" in one["content"] and one["sources"] for one in found["results"])


def test_as_of_a_day_only_what_had_happened_counts(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, said("I live in Porto now.", session="s3", time="2026-12-01T10:00:00Z"))
    live(door, settings, ended("s3", message_count=5, time="2026-12-01T11:00:00Z"))
    assert any("Porto" in content for content in statements(door))
    made = rebuilt(door, settings, as_of="2026-11-25T00:00:00Z")
    assert any("Lisbon" in one["to"] for one in made["difference"]["changed"])


def test_memories_that_changed_meanwhile_are_not_overwritten(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, *SHORT)
    made = rebuilt(door, settings, rules=[ONLY_LONG])
    live(door, settings, event("memory.requested", {"user_id": "ada", "content": "Ada sings in a choir."}))
    live(door, settings, said("I have a dog called Rex.", session="s9"), ended("s9", message_count=3))
    answer = door.post(f"/v1/rebuilds/{made['id']}/apply")
    assert answer.status_code == 409
    assert any("Rex" in content for content in statements(door))


def test_what_was_asked_for_is_there_again(settings: Settings, door: Doors) -> None:
    live(door, settings, event("memory.requested", {"user_id": "ada", "content": "Ada sings in a choir."}))
    made = rebuilt(door, settings)
    assert (made["difference"]["gone"], made["difference"]["same"]) == ([], 1)


def test_a_rebuild_can_be_let_go(settings: Settings, door: Doors, app: Database) -> None:
    live(door, settings, *TALK)
    made = rebuilt(door, settings)
    assert kept_beside(app) > 0
    assert door.ask("DELETE", f"/v1/rebuilds/{made['id']}").json()["status"] == "dropped"
    assert kept_beside(app) == 0
    assert door.post(f"/v1/rebuilds/{made['id']}/apply").status_code == 409


def test_what_one_rebuild_brought_another_may_take_away(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, *SHORT)
    before = statements(door)
    for rules in ({"rules": [ONLY_LONG]}, {}, {"rules": [ONLY_LONG]}):
        made = rebuilt(door, settings, **rules)
        assert door.post(f"/v1/rebuilds/{made['id']}/apply").status_code == 200
    assert {one["content"] for one in made["difference"]["gone"]} == {"ada has a cat called Tom."}
    assert statements(door) == before - {"ada has a cat called Tom."}


def test_what_a_person_has_put_away_does_not_come_back(settings: Settings, door: Doors, app: Database) -> None:
    live(door, settings, *TALK, *SHORT)
    items = door.get("/v1/memories", params={"user_id": "ada"}).json()["items"]
    (cat,) = [one for one in items if "Tom" in one["content"]]
    with app.tenant(TENANT) as tx:
        deletion = Archive(UUID(cat["id"]), cat["version"], "Deleted from memory.md.")
        writer.apply(tx, TENANT, Owner("ada"), [deletion], Author("file"))
    assert rebuilt(door, settings)["difference"]["added"] == []


def test_a_rebuild_that_is_let_go_while_it_is_made_leaves_nothing(
    settings: Settings, door: Doors, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(door, settings, *TALK)
    compare = rebuild.compare

    def let_go(db: Database, tenant_id: str, shadow_id: str, user_id: str) -> Contrast:
        (made,) = door.get("/v1/rebuilds").json()["items"]
        door.ask("DELETE", f"/v1/rebuilds/{made['id']}")
        with db.tenant(shadow_id) as tx:
            writer.apply(tx, shadow_id, Owner("ada"), [an_add(a_candidate("Ada sings."))], Author("test"))
        return compare(db, tenant_id, shadow_id, user_id)

    monkeypatch.setattr(rebuild, "compare", let_go)
    assert rebuilt(door, settings)["status"] == "dropped"
    assert kept_beside(app) == 0


def test_of_several_who_take_a_rebuild_over_at_once_one_does(settings: Settings, door: Doors) -> None:
    live(door, settings, *TALK, *SHORT)
    made = rebuilt(door, settings, rules=[ONLY_LONG])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(door.post, [f"/v1/rebuilds/{made['id']}/apply"] * 4))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"rules": [ONLY_LONG, {"name": "x"}]}, "/rules/1"),
        ({"extractor": "magic"}, "/extractor"),
        ({"user_id": ""}, "/user_id"),
        ({"as_of": "yesterday"}, "/as_of"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(door: Doors, asked: Json, pointer: str) -> None:
    answer = door.post("/v1/rebuilds", {"user_id": "ada"} | asked)
    assert answer.status_code in {400, 422}
    assert any(one["pointer"].startswith(pointer) for one in answer.json()["errors"]), answer.text
