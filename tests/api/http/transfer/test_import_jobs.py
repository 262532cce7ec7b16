"""An archive of Imprint comes back whole, once, and by a job that can be followed, stopped and listed."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import uuid4

import pytest

from core.config import Settings
from core.storage.db import Database
from core.transfer import imports
from core.transfer.imports import PART_BYTES
from core.types import Json
from tests.core.erasing import holding, user_erased
from tests.core.transfer.rich import SECRET, a_rich_user, archive_of, changed, lines, made
from tests.doors import OTHER, Doors, key_of
from tests.factories import events_since
from tests.samples import TENANT, accept, said
from tests.works import Works

ADA = {"user_id": "ada"}


def restored(door: Doors, works: Works, archive: bytes, user: str = "ada", tenant: str = OTHER) -> Json:
    """The job of an archive that was sent at once, when it has ended."""
    params = {"user_id": user, "dry_run": False}
    answer = door.ask("POST", "/v1/import", params=params, content=archive, tenant=tenant)
    assert answer.status_code == 202, answer.text
    works.settle()
    return dict(door.get(f"/v1/imports/{answer.json()['id']}", tenant=tenant).json())


def uploading(door: Doors, archive: bytes, **more: Any) -> Json:
    asked = {**ADA, "size": len(archive), "sha256": hashlib.sha256(archive).hexdigest(), **more}
    answer = door.post("/v1/imports", asked, tenant=OTHER)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def put(door: Doors, job: Json, number: int, data: bytes) -> int:
    path = f"/v1/imports/{job['id']}/parts/{number}"
    return door.ask("PUT", path, content=data, tenant=OTHER).status_code


def a_talk(count: int, words: str = "x") -> bytes:
    """An archive with messages of one session."""
    session: Json = {"id": "s1", "group_id": None, "started_at": "2025-01-01T00:00:00Z", "ended_at": None, "state": {}}
    same = {"group_id": None, "agent_id": None, "role": "user", "speaker": None, "importance": None, "extras": None}
    at = {"session_id": "s1", "occurred_at": "2025-01-01T00:00:00Z", "audience_labels": [], "hidden": False}
    told = [same | at | {"ordinal": n + 1, "id": f"m{n}", "content": f"{n} {words}"} for n in range(count)]
    return made({"sessions": [session], "messages": told})


@pytest.mark.parametrize("raw", [False, True])
def test_an_export_of_what_was_imported_is_the_same_but_for_its_authority_and_a_second_import_changes_nothing(
    door: Doors, app: Database, works: Works, raw: bool
) -> None:
    a_rich_user(door, app, works)
    first = archive_of(app, raw=raw)
    found = lines(first)
    assert {m["status"] for m in found["memories"]} == {"active", "superseded", "archived"}
    assert {m["trust"] for m in found["memories"]} >= {"candidate", "confirmed", "disputed", "quarantined"}
    assert max(len(m["versions"]) for m in found["memories"]) > 2
    assert all(found[name] for name in ("sessions", "messages", "relations", "documents", "plans", "profile", "names"))
    assert (SECRET in str(found)) is raw
    job = restored(door, works, first)
    assert (job["status"], job["report"]["left_out"], job["report"]["known"]) == ("done", {}, {})
    assert job["progress"] == {"done": sum(job["report"]["lines"].values()), "lines": job["progress"]["done"]}
    second = archive_of(app, tenant=OTHER, raw=raw)
    assert lines(second) == {**found, "memories": [without_authority(one) for one in found["memories"]]}
    again = restored(door, works, first)
    assert (again["status"], again["report"]["restored"], again["report"]["left_out"]) == ("done", {}, {})
    assert archive_of(app, tenant=OTHER, raw=raw) == second


def without_authority(memory: Json) -> Json:
    """Return a memory as it is restored: not pinned, and no instruction confirmed, in no version."""
    orders = memory["category"] == "instruction" and memory["trust"] == "confirmed"
    changed = memory | {"pinned": False} | ({"trust": "candidate"} if orders else {})
    if "versions" not in memory:
        return changed
    snapshots = [one["snapshot"] for one in memory["versions"]]
    plain = [without_authority(was) if {"category", "trust", "pinned"} <= was.keys() else was for was in snapshots]
    versions = [one | {"snapshot": was} for one, was in zip(memory["versions"], plain, strict=True)]
    return changed | {"versions": versions}


def test_what_is_restored_is_found_at_once_and_nothing_is_learnt_or_told_of_it(
    door: Doors, app: Database, works: Works
) -> None:
    a_rich_user(door, app, works)
    restored(door, works, archive_of(app))
    found = door.post("/v1/search", {**ADA, "query": "Where does Ada live?", "include": ["memories", "messages"]},
                      tenant=OTHER).json()["results"]  # fmt: skip
    assert {one["type"] for one in found} == {"memory", "message"}
    assert door.post("/v1/search", {**ADA, "query": "绿茶"}, tenant=OTHER).json()["results"]
    with app.tenant(OTHER) as tx:
        told = {event.event_type for event in events_since(tx, 0, 1000)}
        open_ones = tx.exec_driver_sql(
            "SELECT count(*) FROM sessions WHERE extracted_to < message_count OR indexed_to < message_count"
        ).scalar_one()
        vectors = tx.exec_driver_sql("SELECT count(*) FROM search_index WHERE embedding IS NULL").scalar_one()
        for table in ("import_parts", "import_places"):
            assert tx.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() == 0
    assert told <= {"rule.changed", "import.requested", "message.imported", "import.completed", "mirror.requested"}
    assert open_ones == 0
    assert vectors == 1, "of the quarantined memory alone"


def test_what_stands_stays_and_what_is_missing_comes(door: Doors, app: Database, works: Works) -> None:
    a_rich_user(door, app, works)
    archive = archive_of(app)
    accept(app, said("I moved here.", session="s1", message_id="m1"), said("New.", session="s9"), tenant=OTHER)
    door.post("/v1/memories", {**ADA, "content": "Ada prefers black tea.", "attribute": "preference.tea",
                               "value": "black"}, tenant=OTHER)  # fmt: skip
    works.settle()
    job = restored(door, works, archive)
    assert job["status"] == "done"
    kept = lines(archive_of(app, tenant=OTHER))
    talk = [m["content"] for m in kept["messages"] if m["session_id"] == "s1"]
    assert talk[:2] == ["I moved here.", "我住在里斯本，我喜欢绿茶。"]
    teas = {m["content"]: m["status"] for m in kept["memories"] if m["attribute"] == "preference.tea"}
    assert teas == {"Ada prefers black tea.": "active", "Ada 喜欢绿茶。": "archived"}
    cited = next(m for m in kept["memories"] if m["content"] == "Ada 喜欢绿茶。")["evidence"]
    assert cited == [{"session_id": "s1", "ordinal": 2, "quote": "我喜欢绿茶", "at": cited[0]["at"]}]
    again = restored(door, works, archive)
    assert again["report"]["restored"] == {}
    assert lines(archive_of(app, tenant=OTHER))["memories"] == kept["memories"]


def test_what_was_erased_does_not_come_back(door: Doors, app: Database, works: Works) -> None:
    a_rich_user(door, app, works)
    archive = archive_of(app)
    found = door.get("/v1/memories", params={**ADA, "q": "boat"}).json()["items"]
    boat = next(one for one in found if one["content"] == "Ada owns a boat.")
    assert door.ask("DELETE", f"/v1/memories/{boat['id']}").status_code == 200
    job = restored(door, works, archive, tenant=TENANT)
    assert job["report"]["left_out"]["memories: was erased for this user"] >= 1
    assert "boat" not in str(lines(archive_of(app))["memories"])


def test_after_a_user_was_erased_their_archive_brings_nothing_back(
    door: Doors, app: Database, works: Works, settings: Settings
) -> None:
    a_rich_user(door, app, works)
    archive = archive_of(app)
    job = uploading(door, archive)
    assert put(door, job, 0, archive) == 204
    user_erased(app, settings)
    done = restored(door, works, archive, tenant=TENANT)
    assert (done["status"], done["report"]["restored"]) == ("done", {})
    user_erased(app, settings)
    assert door.get("/v1/imports").json()["items"] == []
    assert "imports" not in holding(app, "ada")


def test_an_erasure_stops_an_import_and_deletes_its_upload(door: Doors, app: Database, settings: Settings) -> None:
    accept(app, said("I own a boat."))
    archive = archive_of(app)
    asked = {**ADA, "size": len(archive), "sha256": "0" * 64}
    job = door.post("/v1/imports", asked).json()
    assert door.ask("PUT", f"/v1/imports/{job['id']}/parts/0", content=archive).status_code == 204
    assert door.ask("DELETE", "/v1/sessions/s1").status_code == 200
    ended = door.get(f"/v1/imports/{job['id']}").json()
    assert ended["status"] == "cancelled"
    assert "erased" in ended["error"][0]["detail"]
    with app.tenant(TENANT) as tx:
        assert tx.exec_driver_sql("SELECT count(*) FROM import_parts").scalar_one() == 0


def test_a_session_of_another_user_is_not_written_into(door: Doors, app: Database, works: Works) -> None:
    accept(app, said("I live in Lisbon.", user="ada", message_id="m1"))
    job = restored(door, works, archive_of(app), user="eve", tenant=TENANT)
    reason = "its session or its id belongs to another user of the tenant"
    assert job["report"]["left_out"] == {f"sessions: {reason}": 1, f"messages: {reason}": 1}
    assert [m["content"] for m in lines(archive_of(app))["messages"]] == ["I live in Lisbon."]


def test_a_large_archive_is_sent_in_parts_in_any_order_and_goes_on_after_an_interruption(
    door: Doors, app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = a_talk(40, "".join(f"{n:x}" for n in range(3_000)))
    monkeypatch.setattr(imports, "PART_BYTES", 1_000)
    for module in ("core.transfer.restoring.restorer", "api.http.transfer.imports"):
        monkeypatch.setattr(f"{module}.PART_BYTES", 1_000)
    pieces = [archive[start : start + 1_000] for start in range(0, len(archive), 1_000)]
    job = uploading(door, archive)
    assert job["missing"] == list(range(len(pieces)))
    for number in reversed(range(2, len(pieces))):
        assert put(door, job, number, pieces[number]) == 204
    refused = door.post(f"/v1/imports/{job['id']}/start", tenant=OTHER)
    assert (refused.status_code, "2 parts have not arrived: 0, 1" in refused.text) == (409, True)
    assert put(door, job, 0, b"short") == 422
    assert put(door, job, len(pieces), b"x") == 422
    same = uploading(door, archive)
    assert (same["id"], same["missing"]) == (job["id"], [0, 1])
    for number in (0, 1):
        put(door, job, number, pieces[number])
    started = door.post(f"/v1/imports/{job['id']}/start", tenant=OTHER)
    assert (started.status_code, started.json()["status"]) == (202, "pending")
    assert put(door, job, 0, pieces[0]) == 409
    works.settle()
    ended = door.get(f"/v1/imports/{job['id']}", tenant=OTHER).json()
    assert (ended["status"], ended["report"]["restored"]["messages"]) == ("done", 40)
    assert door.get("/v1/settle", params={"token": ended["settle_token"]}, tenant=OTHER).json()["pending"] == 0


def test_a_broken_archive_changes_nothing_and_says_where_it_is_broken(door: Doors, app: Database, works: Works) -> None:
    def lie(found: dict[str, list[Json]]) -> None:
        found["messages"][1]["role"] = "root"

    archive = changed(a_talk(3), lie)
    refused = door.ask("POST", "/v1/import", params=ADA, content=archive, tenant=OTHER)
    assert refused.status_code == 422
    [problem] = refused.json()["errors"]
    assert problem["pointer"] == "/role"
    assert problem["detail"].startswith("messages.jsonl:2: Input should be 'user'")
    job = uploading(door, archive)
    put(door, job, 0, archive)
    door.post(f"/v1/imports/{job['id']}/start", tenant=OTHER)
    works.settle()
    ended = door.get(f"/v1/imports/{job['id']}", tenant=OTHER).json()
    assert (ended["status"], ended["error"]) == ("failed", [problem])
    with app.tenant(OTHER) as tx:
        assert tx.exec_driver_sql("SELECT count(*) FROM sessions").scalar_one() == 0
        assert "import.failed" in {event.event_type for event in events_since(tx, 0, 1000)}


def test_an_import_can_be_stopped_and_is_listed_page_by_page(door: Doors, works: Works) -> None:
    jobs = [uploading(door, a_talk(n + 1)) for n in range(3)]
    stopped = door.ask("DELETE", f"/v1/imports/{jobs[0]['id']}", tenant=OTHER).json()
    assert stopped["status"] == "cancelled"
    assert door.ask("DELETE", f"/v1/imports/{uuid4()}", tenant=OTHER).status_code == 404
    page = door.get("/v1/imports", params={"limit": 2}, tenant=OTHER).json()
    assert [one["id"] for one in page["items"]] == [jobs[2]["id"], jobs[1]["id"]]
    rest = door.get("/v1/imports", params={"limit": 2, "after": page["next"]}, tenant=OTHER).json()
    assert ([one["id"] for one in rest["items"]], rest["next"]) == ([jobs[0]["id"]], None)
    assert door.get("/v1/imports", params={"user_id": "eve"}, tenant=OTHER).json()["items"] == []
    assert door.get("/v1/imports").json()["items"] == [], "of another tenant"
    assert works.settle() == 0


def test_a_cancelled_import_is_left_alone_by_the_worker(door: Doors, app: Database, works: Works) -> None:
    archive = a_talk(1)
    answer = door.ask("POST", "/v1/import", params={**ADA, "dry_run": False}, content=archive, tenant=OTHER).json()
    door.ask("DELETE", f"/v1/imports/{answer['id']}", tenant=OTHER)
    works.settle()
    assert door.get(f"/v1/imports/{answer['id']}", tenant=OTHER).json()["status"] == "cancelled"
    with app.tenant(OTHER) as tx:
        assert tx.exec_driver_sql("SELECT count(*) FROM sessions").scalar_one() == 0


def test_uploads_are_bounded_in_number_and_in_bytes(door: Doors, app: Database) -> None:
    too_large = door.post("/v1/imports", {**ADA, "size": 3 * 1024**3, "sha256": "a" * 64})
    assert (too_large.status_code, "import_bytes" in too_large.text) == (413, True)
    for n in range(4):
        assert door.post("/v1/imports", {**ADA, "size": PART_BYTES, "sha256": f"{n}" * 64}).status_code == 201
    fifth = door.post("/v1/imports", {**ADA, "size": 1, "sha256": "f" * 64})
    assert (fifth.status_code, "imports" in fifth.text) == (429, True)
    with app.tenant(TENANT) as tx:
        tx.exec_driver_sql("UPDATE imports SET updated_at = now() - interval '25 hours'")
    assert door.post("/v1/imports", {**ADA, "size": 1, "sha256": "f" * 64}).status_code == 201
    assert {one["status"] for one in door.get("/v1/imports").json()["items"]} == {"failed", "uploading"}


def test_scopes_and_labels_of_the_key_hold(door: Doors, settings: Settings) -> None:
    archive, asked = a_talk(1), {**ADA, "dry_run": False}
    publisher = key_of(settings, TENANT, ("publish",))
    refused = door.ask("POST", "/v1/import", params=asked, content=archive, key=publisher)
    assert (refused.status_code, "`write`" in refused.text) == (403, True)
    assert door.ask("POST", "/v1/import", params=ADA, content=archive, key=publisher).status_code == 200
    reader = key_of(settings, TENANT, ("read",))
    assert door.post("/v1/imports", {**ADA, "size": 1, "sha256": "a" * 64}, key=reader).status_code == 403
    assert door.get("/v1/imports", key=reader).status_code == 200


def test_an_import_of_another_format_has_a_job_that_is_done_when_it_is_answered(door: Doors) -> None:
    talk = b'[{"role": "user", "content": "I play the cello."}]'
    answer = door.ask("POST", "/v1/import", params={**ADA, "dry_run": False}, content=talk).json()
    job = door.get(f"/v1/imports/{answer['id']}").json()
    assert (job["status"], job["formats"], job["report"]["accepted"]) == ("done", ["messages"], answer["accepted"])
    assert door.ask("POST", "/v1/import", params=ADA, content=talk).json()["id"] is None
