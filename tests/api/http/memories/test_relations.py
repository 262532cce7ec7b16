from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from core.config import Settings
from core.memory.changes import Add, Link
from core.storage.db import Database
from core.types import Json, Relation
from tests.doors import OTHER, Doors, key_of
from tests.factories import a_memory, carry_out
from tests.samples import TENANT

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def pair(app: Database) -> tuple[Add, Add]:
    one, other = a_memory("Ada has a cat.", subject="cat"), a_memory("Ada buys food.", subject="food")
    carry_out(app, one, other)
    return one, other


def test_a_relation_is_written_listed_followed_and_removed(door: Doors, pair: tuple[Add, Add]) -> None:
    one, other = (str(add.id) for add in pair)
    path = f"/v1/memories/{one}/relations"
    body = {"relation": "about", "to": other, "strength": 0.5}
    written = door.ask("PUT", path, json=body)
    assert written.status_code == 200, written.text
    assert {name: written.json()[name] for name in ("from_id", "relation", "to_id", "strength")} == {
        "from_id": one, "relation": "about", "to_id": other, "strength": 0.5,
    }  # fmt: skip
    listed = door.get(f"/v1/memories/{other}/relations").json()
    assert listed == {"items": [written.json()], "next": None}
    (near,) = door.get(f"/v1/memories/{one}/related").json()["items"]
    assert (near["id"], near["path"][0]["by"], near["path"][0]["strength"]) == (other, "about", 0.5)
    assert near["score"] == pytest.approx(0.25), "half of the weight of its kind"
    assert door.ask("DELETE", path, params={"relation": "about", "to": other}).status_code == 204
    assert door.ask("DELETE", path, params={"relation": "about", "to": other}).status_code == 404
    assert door.get(path).json()["items"] == []


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"relation": "likes"}, "/relation"),
        ({"relation": "supersedes"}, "/relation"),
        ({"strength": 0}, "/strength"),
        ({"strength": 1.5}, "/strength"),
        ({"to": "x"}, "/to"),
    ],
)
def test_a_wrong_relation_is_refused_with_its_place(
    door: Doors, pair: tuple[Add, Add], wrong: Json, pointer: str
) -> None:
    body = {"relation": "supports", "to": str(pair[1].id), **wrong}
    answer = door.ask("PUT", f"/v1/memories/{pair[0].id}/relations", json=body)
    assert (answer.status_code, [e["pointer"] for e in answer.json()["errors"]]) == (422, [pointer])


def test_who_may_only_read_or_belongs_to_another_tenant_relates_nothing(
    door: Doors, settings: Settings, pair: tuple[Add, Add]
) -> None:
    path, body = f"/v1/memories/{pair[0].id}/relations", {"relation": "supports", "to": str(pair[1].id)}
    assert door.ask("PUT", path, json=body, key=key_of(settings, TENANT, ("read",))).status_code == 403
    assert door.ask("PUT", path, json=body, tenant=OTHER).status_code == 404
    assert door.get(path, tenant=OTHER).status_code == 404
    missing = f"/v1/memories/{uuid4()}/relations"
    assert door.ask("PUT", missing, json=body).status_code == 404
    assert door.get(f"/v1/memories/{UUID(int=0)}/relations").status_code == 404


def test_a_doubt_is_shown_wherever_the_memory_is_until_a_person_removes_it(door: Doors, app: Database) -> None:
    old = a_memory("Ada drives to work.", occurred_at=NOON)
    new = a_memory("Ada takes the bus to work.", occurred_at=NOON + timedelta(days=90))
    carry_out(app, old, new)
    carry_out(app, Link(new.id, Relation.MAY_SUPERSEDE, old.id))
    question = {"query": "How does Ada get to work?", "user_id": "ada"}
    results = door.post("/v1/search", question).json()["results"]
    assert {result["id"]: result.get("may_be_outdated", False) for result in results} == {
        str(old.id): True,
        str(new.id): False,
    }
    assert "Ada drives to work. (2026-11-21) (may be outdated)" in door.post("/v1/context", question).text
    (relative,) = door.get(f"/v1/memories/{old.id}/lineage").json()["items"]
    assert (relative["role"], relative["id"]) == ("may_be_superseded_by", str(new.id))
    doubt = {"relation": "may_supersede", "to": str(old.id)}
    assert door.ask("DELETE", f"/v1/memories/{new.id}/relations", params=doubt).status_code == 204
    assert "outdated" not in door.post("/v1/context", question).text
