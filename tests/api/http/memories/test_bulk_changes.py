"""`POST /v1/memories/bulk`: one action on many rows, with the checks of the single routes and a result for each."""

from __future__ import annotations

from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from httpx import Response
from sqlalchemy import text

from api.http.memories import bulk_changes
from api.ingress import audience
from core.config import Settings
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT

PATH = "/v1/memories/bulk"
CONTENTS = ("Ada has a cat.", "Ada plays the cello.", "Ada is allergic to peanuts.")


@pytest.fixture
def ids(door: Doors) -> list[str]:
    """Three memories of Ada."""
    return [stated(door, content) for content in CONTENTS]


def stated(door: Doors, content: str, user: str = "ada", **more: Any) -> str:
    answer = door.post("/v1/memories", {"user_id": user, "content": content, **more})
    return str(answer.json()["memory"]["id"])


def bulk(door: Doors, action: str, ids: list[str], **more: Any) -> Json:
    answer = door.post(PATH, {"action": action, "ids": ids, **more})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def outcomes(answer: Json) -> list[tuple[str, int]]:
    return [(row["outcome"], row["status"]) for row in answer["items"]]


def memory(door: Doors, memory_id: str) -> Json:
    found: Json = door.get(f"/v1/memories/{memory_id}").json()
    return found


def state(app: Database) -> dict[str, str]:
    row = "md5(string_agg(md5(t::text), '' ORDER BY md5(t::text)))"
    with app.tenant(TENANT) as tx:
        return {t.name: tx.execute(text(f"SELECT {row} FROM {t.name} t")).scalar_one() for t in TENANT_TABLES}


def test_each_row_is_changed_by_the_writer_and_can_be_undone(door: Doors, ids: list[str]) -> None:
    answer = bulk(door, "pin", ids, reason="They matter.")
    assert (answer["done"], answer["not_done"], outcomes(answer)) == (3, [], [("done", 200)] * 3)
    assert [memory(door, one)["pinned"] for one in ids] == [True] * 3
    latest = door.get(f"/v1/memories/{ids[0]}/history").json()["items"][-1]
    assert (latest["change"], latest["reason"], latest["change_id"]) == (
        "pin",
        "They matter.",
        answer["items"][0]["change_id"],
    )
    assert door.post(answer["items"][0]["undo"]).is_success
    assert [memory(door, one)["pinned"] for one in ids] == [False, True, True]
    again = bulk(door, "pin", ids)
    assert [row["outcome"] for row in again["items"]] == ["done", "unchanged", "unchanged"]
    assert bulk(door, "unpin", ids)["done"] == 3


def test_memories_are_archived_and_restored(door: Doors, ids: list[str]) -> None:
    assert bulk(door, "archive", ids[:2])["done"] == 2
    assert [memory(door, one)["status"] for one in ids] == ["archived", "archived", "active"]
    assert outcomes(bulk(door, "archive", ids)) == [("unchanged", 200), ("unchanged", 200), ("done", 200)]
    assert bulk(door, "restore", ids)["done"] == 3
    assert [memory(door, one)["status"] for one in ids] == ["active"] * 3


@pytest.mark.parametrize("action", ["pin", "archive", "erase", "restore", "merge"])
def test_a_dry_run_says_what_would_happen_and_changes_nothing(
    door: Doors, app: Database, ids: list[str], action: str
) -> None:
    before = state(app)
    planned = bulk(door, action, ids, dry_run=True)
    assert state(app) == before
    confirm = {"confirm": len(ids)} if action == "erase" else {}
    carried_out = bulk(door, action, ids, **confirm)
    assert outcomes(planned) == outcomes(carried_out)
    if action == "erase":
        told = [(row["erased"], row["counts"]) for row in planned["items"]]
        assert told == [(row["erased"], row["counts"]) for row in carried_out["items"]]
        assert all(counts["memories"] for _, counts in told)


def test_a_row_at_another_version_is_refused_and_the_others_are_done(door: Doors, ids: list[str]) -> None:
    answer = bulk(door, "archive", ids, versions={ids[1]: 7, ids[2]: 1})
    assert outcomes(answer) == [("done", 200), ("refused", 409), ("done", 200)]
    assert "version 1 now, not 7" in answer["items"][1]["detail"]


def test_rows_of_another_tenant_are_not_there(door: Doors, ids: list[str]) -> None:
    answer = door.post(PATH, {"action": "erase", "ids": ids, "confirm": 3}, tenant=OTHER).json()
    assert outcomes(answer) == [("refused", 404)] * 3
    assert [memory(door, one)["status"] for one in ids] == ["active"] * 3
    mixed = bulk(door, "pin", [ids[0], str(uuid4())])
    assert outcomes(mixed) == [("done", 200), ("refused", 404)]


def test_a_restoration_that_collides_is_refused(door: Doors) -> None:
    city = {"attribute": "home.city", "value": "Turin"}
    old = stated(door, "Ada lives in Turin.", **city)
    bulk(door, "archive", [old])
    stated(door, "Ada lives in Rome.", attribute="home.city", value="Rome")
    assert outcomes(bulk(door, "restore", [old], dry_run=True)) == [("refused", 409)]
    assert outcomes(bulk(door, "restore", [old])) == [("refused", 409)]


def test_each_erasure_has_a_receipt_and_what_goes_with_another_has_the_same(door: Doors) -> None:
    first, second = stated(door, "Ada has a cat."), stated(door, "Ada plays the cello.")
    answer = bulk(door, "erase", [first, second], confirm=2)
    assert answer["done"] == 2
    for row in answer["items"]:
        receipt = door.get(f"/v1/receipts/{row['receipt_id']}").json()
        assert (receipt["receipt"]["counts"]["memories"], row["erased"]) == (1, [row["id"]])
    assert outcomes(bulk(door, "erase", [first], confirm=1)) == [("refused", 404)]


def test_what_was_erased_with_an_earlier_row_is_named(door: Doors, ids: list[str]) -> None:
    absorbed = bulk(door, "merge", ids[:2])
    assert absorbed["done"] == 2
    planned = bulk(door, "erase", ids[:2], dry_run=True)
    done = bulk(door, "erase", ids[:2], confirm=2)
    assert outcomes(planned) == outcomes(done) == [("done", 200)] * 2
    assert done["items"][1]["receipt_id"] == done["items"][0]["receipt_id"]
    assert set(done["items"][0]["erased"]) == set(ids[:2])


def test_a_merge_is_one_change_with_the_objections_of_the_judge(door: Doors, ids: list[str]) -> None:
    planned = bulk(door, "merge", ids, dry_run=True, content="Ada has a cat, a cello and an allergy.")
    done = bulk(door, "merge", ids, content="Ada has a cat, a cello and an allergy.")
    assert planned["warnings"] == done["warnings"]
    assert len({row["change_id"] for row in done["items"]}) == 1
    assert [memory(door, one)["status"] for one in ids] == ["active", "archived", "archived"]
    assert door.post(done["items"][0]["undo"]).is_success
    assert [memory(door, one)["status"] for one in ids] == ["active"] * 3
    strange = stated(door, "Bob has a dog.", user="bob")
    refused = door.post(PATH, {"action": "merge", "ids": [ids[0], strange]})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/ids/1")


def test_a_repeated_request_changes_nothing_and_gets_the_same_answer(
    door: Doors, app: Database, ids: list[str]
) -> None:
    def ask(action: str) -> Response:
        return door.post(PATH, {"action": action, "ids": ids}, headers={"idempotency-key": "once"})

    first, before = ask("archive").json(), state(app)
    assert (ask("archive").json(), state(app)) == (first, before)
    assert ask("restore").status_code == 409
    [event] = door.get("/v1/events?type=memory.bulk_changed").json()["items"]
    assert (event["source"], event["payload"]["action"], event["payload"]["done"]) == ("imprint", "archive", 3)
    for content in CONTENTS:
        assert content not in str(event)


def test_rows_for_which_the_time_does_not_suffice_are_named(door: Doors, ids: list[str]) -> None:
    with mock.patch.object(bulk_changes, "SECONDS", 0):
        answer = bulk(door, "pin", ids)
    assert (answer["done"], answer["not_done"]) == (1, ids[1:])


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"action": "erase", "ids": [1, 2]}, "/confirm"),
        ({"action": "erase", "ids": [1, 2], "confirm": 3}, "/confirm"),
        ({"action": "pin", "ids": [1, 1]}, "/ids/1"),
        ({"action": "pin", "ids": [1], "versions": {2: 1}}, "/versions/00000000-0000-0000-0000-000000000002"),
        ({"action": "pin", "ids": [1], "confirm": 1}, "/confirm"),
        ({"action": "pin", "ids": [1], "content": "x"}, "/content"),
        ({"action": "merge", "ids": [1]}, "/ids"),
        ({"action": "merge", "ids": list(range(21))}, "/ids"),
        ({"action": "pin", "ids": list(range(501))}, "/ids"),
        ({"action": "pin", "ids": []}, "/ids"),
        ({"action": "burn", "ids": [1]}, "/action"),
    ],
)
def test_a_request_that_is_wrong_as_a_whole_is_refused(door: Doors, body: Json, pointer: str) -> None:
    numbers = {f"00000000-0000-0000-0000-{number:012}": version for number, version in body.pop("versions", {}).items()}
    asked = {**body, "ids": [f"00000000-0000-0000-0000-{one:012}" for one in body["ids"]], "versions": numbers}
    refused = door.post(PATH, asked)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)


def test_a_key_that_only_reads_changes_nothing(door: Doors, settings: Settings, ids: list[str]) -> None:
    reader = key_of(settings, TENANT, ("read",))
    for action in ("pin", "erase"):
        assert door.post(PATH, {"action": action, "ids": ids, "dry_run": True}, key=reader).status_code == 403


def test_which_rows_may_be_read_is_read_at_once(door: Doors, ids: list[str]) -> None:
    def readings(*names: str) -> int:
        with mock.patch.object(audience, "for_reader", wraps=audience.for_reader) as opened:
            answer = bulk(door, "pin", list(names))
        assert outcomes(answer)[-1] == ("refused", 404)
        return opened.call_count

    gone = str(uuid4())
    assert readings(gone) == readings(*ids, gone)
