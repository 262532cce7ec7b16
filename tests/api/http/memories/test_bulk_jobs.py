"""Jobs that change many memories: previewed, then carried out by workers, by the rules of the single routes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.bulk import rows as bulk_rows
from core.config import Settings
from core.erasure import memory as memory_erasure
from core.events.publishing import Author
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.faults.stand import eventually
from tests.samples import TENANT
from tests.works import Works

PATH = "/v1/memories/bulk/jobs"
CONTENTS = ("Ada has a cat.", "Ada plays the cello.", "Ada is allergic to peanuts.")


def stated(door: Doors, content: str, user: str = "ada", **more: Any) -> str:
    answer = door.post("/v1/memories", {"user_id": user, "content": content, **more})
    return str(answer.json()["memory"]["id"])


@pytest.fixture
def ids(door: Doors) -> list[str]:
    """Three memories of Ada."""
    return [stated(door, content) for content in CONTENTS]


def begin(door: Doors, body: Json, *, status: int = 202, path: str = PATH, **more: Any) -> Json:
    answer = door.post(path, body, **more)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def standing(door: Doors, job: Json) -> Json:
    return dict(door.get(f"{PATH}/{job['id']}").json())


def rows(door: Doors, job: Json, **query: Any) -> list[Json]:
    return list(door.get(f"{PATH}/{job['id']}/rows", params=query).json()["items"])


def memory(door: Doors, memory_id: str) -> Json:
    return dict(door.get(f"/v1/memories/{memory_id}").json())


def numbers(job: Json) -> tuple[str, int, int, int]:
    return job["status"], job["done"], job["unchanged"], job["refused"]


def test_a_preview_changes_nothing_and_its_run_carries_the_same_rows_out(
    door: Doors, works: Works, ids: list[str]
) -> None:
    door.post(f"/v1/memories/{ids[0]}/pin", {})
    preview = begin(door, {"action": "pin", "filter": {"user_id": "ada"}, "reason": "They matter."})
    assert (preview["preview"], preview["rows"], preview["chosen"]) == (True, 3, {"user_id": "ada", "more": False})
    works.settle()
    assert numbers(standing(door, preview)) == ("done", 2, 1, 0)
    assert [memory(door, one)["pinned"] for one in ids] == [True, False, False]
    stated(door, "Ada lives in Lisbon.")  # Not among the rows that were previewed.
    run = begin(door, {}, path=f"{PATH}/{preview['id']}/run")
    works.settle()
    assert numbers(standing(door, run)) == ("done", 2, 1, 0)
    assert standing(door, run)["of"] == preview["id"]
    assert [memory(door, one)["pinned"] for one in ids] == [True, True, True]
    changed = rows(door, run, outcome="done")
    assert [row["memory_id"] for row in changed] == [ids[2], ids[1]]
    latest = door.get(f"/v1/memories/{ids[1]}/history").json()["items"][-1]
    assert (latest["change"], latest["reason"], latest["change_id"]) == (
        "pin",
        "They matter.",
        changed[1]["change_id"],
    )
    assert latest["author"]["name"].startswith("key:")
    assert door.post(changed[1]["undo"]).is_success
    [told] = door.get("/v1/events?type=memory.bulk_completed").json()["items"]
    assert told["payload"] == {"job_id": run["id"], "action": "pin", "done": 2, "unchanged": 1, "refused": 0}


def test_a_row_that_changed_since_its_preview_is_refused_and_stops_no_other(
    door: Doors, works: Works, ids: list[str]
) -> None:
    preview = begin(door, {"action": "archive", "filter": {"user_id": "ada"}})
    works.settle()
    door.ask("PATCH", f"/v1/memories/{ids[1]}", json={"content": "Ada plays the viola."})
    run = begin(door, {}, path=f"{PATH}/{preview['id']}/run")
    works.settle()
    assert numbers(standing(door, run)) == ("done", 2, 0, 1)
    [refused] = rows(door, run, outcome="refused")
    assert (refused["memory_id"], refused["status"]) == (ids[1], 409)
    assert [memory(door, one)["status"] for one in ids] == ["archived", "active", "archived"]


def test_pages_follow_each_other_to_the_end(
    door: Doors, works: Works, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_rows, "PAGE", 2)
    job = begin(door, {"action": "archive", "ids": [*ids, str(uuid4())], "preview": False})
    works.settle()
    assert numbers(standing(door, job)) == ("done", 3, 0, 1)
    assert [row["status"] for row in rows(door, job)] == [200, 200, 200, 404]
    first = door.get(f"{PATH}/{job['id']}/rows?limit=3").json()
    assert [row["place"] for row in first["items"]] == [1, 2, 3]
    assert [row["place"] for row in rows(door, job, after=first["next"])] == [4]


def test_an_erasure_has_to_be_confirmed_and_says_what_goes_along(
    door: Doors, works: Works, app: Database, ids: list[str]
) -> None:
    preview = begin(door, {"action": "erase", "filter": {"user_id": "ada"}, "evidence": True, "reason": None})
    works.settle()
    shown = standing(door, preview)
    assert numbers(shown) == ("done", 3, 0, 0)
    assert shown["counts"]["memories"] == 3
    assert [memory(door, one)["content"] for one in ids] == list(CONTENTS)
    path = f"{PATH}/{preview['id']}/run"
    problem = begin(door, {"confirm": 2}, path=path, status=422)
    assert problem["errors"][0]["pointer"] == "/confirm"
    run = begin(door, {"confirm": 3}, path=path)
    works.settle()
    assert numbers(standing(door, run)) == ("done", 3, 0, 0)
    assert [door.get(f"/v1/memories/{one}").status_code for one in ids] == [404] * 3
    for row in rows(door, run):
        assert door.get(f"/v1/receipts/{row['receipt_id']}").json()["receipt"]["scope"] == "memory"
    with app.tenant(TENANT) as tx:
        kept = tx.execute(
            text("SELECT string_agg(j::text, '') || string_agg(r::text, '') FROM bulk_jobs j, bulk_rows r")
        )
        written = str(kept.scalar_one())
    assert not any(word in written for word in ("cello", "peanuts", "cat"))


def test_what_is_erased_with_an_earlier_row_is_not_erased_twice(door: Doors, works: Works) -> None:
    one = stated(door, "Ada has a cat.")
    two = stated(door, "Ada has a dog.")
    merged = door.post("/v1/memories/merge", {"ids": [one, two], "content": "Ada has a cat and a dog."})
    assert merged.is_success
    for preview in (True, False):
        body = {"action": "erase", "ids": [one, two], "preview": preview} | ({} if preview else {"confirm": 2})
        job = begin(door, body)
        works.settle()
        found = rows(door, job)
        assert [row["outcome"] for row in found] == ["done", "done"]
        if found[0]["erased"] and two in found[0]["erased"]:
            assert found[1]["with_id"] == one
            assert found[1]["receipt_id"] == found[0]["receipt_id"]


def test_memories_are_merged_as_one_change(door: Doors, works: Works, ids: list[str]) -> None:
    preview = begin(door, {"action": "merge", "ids": ids, "content": "Ada has a cat, a cello and an allergy."})
    works.settle()
    shown = standing(door, preview)
    assert numbers(shown) == ("done", 3, 0, 0)
    assert isinstance(shown["warnings"], list)
    assert [memory(door, one)["status"] for one in ids] == ["active"] * 3
    run = begin(door, {}, path=f"{PATH}/{preview['id']}/run")
    works.settle()
    assert memory(door, ids[0])["content"] == "Ada has a cat, a cello and an allergy."
    assert [memory(door, one)["status"] for one in ids[1:]] == ["archived"] * 2
    changes = {row["change_id"] for row in rows(door, run)}
    assert len(changes) == 1
    assert door.post(rows(door, run)[0]["undo"]).is_success
    assert [memory(door, one)["status"] for one in ids] == ["active"] * 3


def test_memories_that_cannot_be_merged_are_all_refused(door: Doors, works: Works, ids: list[str]) -> None:
    bobs = stated(door, "Bob has a cat.", "bob")
    job = begin(door, {"action": "merge", "ids": [ids[0], bobs], "preview": False})
    works.settle()
    assert numbers(standing(door, job)) == ("done", 0, 0, 2)


def test_a_cancelled_job_keeps_what_is_done(
    door: Doors, works: Works, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = begin(door, {"action": "archive", "ids": ids, "preview": False})
    cancelled = begin(door, {}, path=f"{PATH}/{job['id']}/cancel", status=200)
    assert cancelled["status"] == "cancelled"
    works.settle()
    assert [memory(door, one)["status"] for one in ids] == ["active"] * 3
    assert begin(door, {}, path=f"{PATH}/{job['id']}/cancel", status=200)["status"] == "cancelled"
    done = begin(door, {"action": "archive", "ids": ids, "preview": False})
    works.settle()
    assert begin(door, {}, path=f"{PATH}/{done['id']}/cancel", status=409)["title"] == "Conflict"


def test_a_repeated_request_begins_one_job(door: Doors, works: Works, ids: list[str]) -> None:
    body = {"action": "pin", "ids": ids}
    key = {"Idempotency-Key": "tidy-1"}
    first = begin(door, body, headers=key)
    assert begin(door, body, headers=key, status=200)["id"] == first["id"]
    begin(door, body | {"action": "unpin"}, headers=key, status=409)
    works.settle()
    run = f"{PATH}/{first['id']}/run"
    again = {"Idempotency-Key": "run-1"}
    second = begin(door, {}, path=run, headers=again)
    assert begin(door, {}, path=run, headers=again, status=200)["id"] == second["id"]
    assert [one["id"] for one in door.get(PATH).json()["items"]] == [second["id"], first["id"]]


def test_only_a_preview_that_has_ended_can_be_carried_out(door: Doors, works: Works, ids: list[str]) -> None:
    preview = begin(door, {"action": "pin", "ids": ids})
    begin(door, {}, path=f"{PATH}/{preview['id']}/run", status=409)
    job = begin(door, {"action": "pin", "ids": ids, "preview": False})
    works.settle()
    begin(door, {}, path=f"{PATH}/{job['id']}/run", status=409)
    door.ask("DELETE", f"/v1/memories/{ids[0]}")
    begin(door, {}, path=f"{PATH}/{preview['id']}/run", status=409)
    assert standing(door, preview)["erased"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"action": "pin"}, ""),
        ({"action": "pin", "ids": [str(uuid4())], "filter": {}}, ""),
        ({"action": "pin", "filter": {"user_id": "nobody"}}, "/filter"),
        ({"action": "pin", "filter": {"q": "cat"}}, "/filter/q"),
        ({"action": "pin", "ids": [str(uuid4())], "evidence": True}, "/evidence"),
        ({"action": "merge", "ids": [str(uuid4())]}, "/ids"),
        ({"action": "erase", "ids": [str(uuid4())], "preview": False}, "/confirm"),
        ({"action": "pin", "ids": ["00000000-0000-0000-0000-000000000001"] * 2}, "/ids"),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused(door: Doors, body: Json, pointer: str) -> None:
    assert begin(door, body, status=422)["errors"][0]["pointer"] == pointer


def test_words_of_the_filter_are_not_kept(door: Doors, ids: list[str]) -> None:
    job = begin(door, {"action": "pin", "filter": {"user_id": "ada", "q": "peanuts"}})
    assert job["chosen"] == {"user_id": "ada", "words": ["q"], "more": False}


def test_a_key_that_only_reads_changes_nothing_and_another_tenant_sees_no_job(
    door: Doors, settings: Settings, ids: list[str]
) -> None:
    reads = key_of(settings, TENANT, ("read",))
    begin(door, {"action": "pin", "ids": ids}, key=reads, status=403)
    job = begin(door, {"action": "pin", "ids": ids})
    assert door.get(f"{PATH}/{job['id']}", key=reads).is_success
    begin(door, {}, path=f"{PATH}/{job['id']}/cancel", key=reads, status=403)
    assert door.get(f"{PATH}/{job['id']}", tenant=OTHER).status_code == 404
    assert door.get(f"{PATH}/{job['id']}/rows", tenant=OTHER).status_code == 404


def test_jobs_at_the_same_time_are_limited(door: Doors, app: Database, ids: list[str]) -> None:
    for _ in range(TenantLimits().bulk_jobs):
        begin(door, {"action": "pin", "ids": ids})
    answer = door.post(PATH, {"action": "pin", "ids": ids})
    assert (answer.status_code, answer.json()["limit"]["name"]) == (429, "bulk_jobs")


def test_a_job_that_no_rule_carries_out_says_so(door: Doors, works: Works, ids: list[str]) -> None:
    assert door.ask("PATCH", "/v1/rules/change_on_request", json={"enabled": False}).is_success
    job = begin(door, {"action": "pin", "ids": ids})
    works.settle()
    assert "change_on_request" in standing(door, job)["error"]


def test_an_erasure_waits_for_the_page_of_a_job_before_it_locks_anything_the_page_needs(
    door: Doors, app: Database, ids: list[str]
) -> None:
    job = begin(door, {"action": "erase", "ids": ids, "preview": False, "confirm": 3})
    with ThreadPoolExecutor(1) as pool, app.tenant(TENANT) as page:
        page.execute(text("SELECT FROM bulk_jobs WHERE id = :id FOR UPDATE"), {"id": job["id"]})
        erasure = pool.submit(door.ask, "DELETE", f"/v1/memories/{ids[0]}")
        eventually(lambda: page.execute(_WAITING).scalar_one())
        page.execute(text("SET LOCAL lock_timeout = '500ms'"))
        memory_erasure.erase(page, TENANT, UUID(ids[1]), Author("test"))
    assert erasure.result().status_code == 200


_WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = current_user")
