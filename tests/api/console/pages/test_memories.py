from __future__ import annotations

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.memory.changes import Link
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Relation
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, said
from tests.works import Works


def known(app: Database) -> UUID:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    return memory.id


def test_a_memory_is_edited_pinned_and_undone(browser: Browser, door: Doors, app: Database) -> None:
    memory = known(app)
    path = f"/memories/{memory}"
    assert browser.press(f"{path}/edit", version="1", content="Ada plays the viola.").status_code == 204
    shown = browser.get(path).text
    assert "Ada plays the viola." in shown
    assert "<del>" in shown
    assert browser.press(f"{path}/pin", pinned="true").status_code == 204
    assert door.get(f"/v1{path}").json()["pinned"]
    browser.press(f"{path}/undo")
    browser.press(f"{path}/undo")
    assert door.get(f"/v1{path}").json()["content"] == "Ada plays the cello."


def test_the_dates_the_slot_and_the_category_of_a_memory_are_edited(
    browser: Browser, door: Doors, app: Database
) -> None:
    path = f"/memories/{known(app)}"
    form = {"version": "1", "content": "Ada lives in Porto.", "category": "project", "attribute": "home.city"}
    times = {"occurred_at": "2026-03-10T09:30:00+01:00", "valid_from": "2026-03-10", "valid_to": ""}
    assert browser.press(f"{path}/edit", **form, value="Porto", **times).status_code == 204
    memory = door.get(f"/v1{path}").json()
    assert (memory["category"], memory["attribute"], memory["value"]) == ("project", "home.city", "Porto")
    assert datetime.fromisoformat(memory["occurred_at"]) == datetime.fromisoformat(times["occurred_at"])
    assert memory["valid_from"].startswith("2026-03-10T00:00:00")
    shown = browser.get(path).text
    assert 'value="home.city"' in shown
    assert '<option value="project" selected>' in shown
    cleared = {**form, "version": "2", "attribute": "", "value": "", "valid_from": ""}
    assert browser.press(f"{path}/edit", **cleared).status_code == 204
    memory = door.get(f"/v1{path}").json()
    assert (memory["attribute"], memory["value"], memory["valid_from"]) == (None, None, None)
    assert "/valid_to" in browser.press(f"{path}/edit", **form, valid_to="soon").text


def test_a_version_names_the_key_that_wrote_it(browser: Browser, door: Doors, app: Database) -> None:
    memory = known(app)
    with app.tenant(TENANT) as tx:
        key_id, key = tenants.create_key(tx, TENANT, ("write", "read"), name="Editor of Porto")
    door.ask("PATCH", f"/v1/memories/{memory}", json={"content": "Ada plays the viola."}, key=key)
    authors = [one["author"] for one in door.get(f"/v1/memories/{memory}/history").json()["items"]]
    assert (authors[1]["name"], authors[1]["key_name"]) == (f"key:{key_id}", "Editor of Porto")
    assert "key_name" not in authors[0]
    assert door.get(f"/v1/memories/{memory}/why").json()["steps"][1]["author"]["key_name"] == "Editor of Porto"
    shown = browser.get(f"/memories/{memory}").text
    assert f'<span title="key:{key_id}">Editor of Porto</span>' in shown


def test_an_edit_of_what_has_changed_meanwhile_is_refused(browser: Browser, door: Doors, app: Database) -> None:
    path = f"/memories/{known(app)}"
    door.ask("PATCH", f"/v1{path}", json={"content": "Ada plays the viola."})
    answer = browser.press(f"{path}/edit", version="1", content="Ada plays chess.")
    assert "at version 2 now" in answer.text
    assert answer.headers["hx-retarget"] == "#notices"


def test_a_memory_is_erased_only_when_its_id_is_typed_and_leaves_a_receipt(
    browser: Browser, door: Doors, app: Database
) -> None:
    memory = known(app)
    path = f"/memories/{memory}"
    assert "Nothing was erased" in browser.press(f"{path}/erase", confirm="yes").text
    answer = browser.press(f"{path}/erase", confirm=str(memory)[-8:])
    receipt = answer.headers["hx-redirect"].removeprefix("/console")
    assert "cello" not in browser.get(receipt).text
    assert door.get(f"/v1{path}").status_code == 404


def test_evidence_is_shown_in_its_conversation_with_the_passage_marked(
    browser: Browser, door: Doors, works: Works
) -> None:
    talk = [said(f"Filler number {n}.", message_id=f"f{n}") for n in range(9)]
    talk.insert(5, said("Well. I am allergic to peanuts.", message_id="peanuts"))
    assert door.post("/v1/events", talk).status_code == 202
    works.settle()
    body = {
        "user_id": "ada",
        "content": "Ada is allergic to peanuts.",
        "evidence": [{"session_id": "s1", "message_id": "peanuts", "quote": "I am allergic to peanuts."}],
    }
    memory = door.post("/v1/memories", body).json()["memory"]["id"]
    shown = browser.get(f"/memories/{memory}").text
    assert "Well. <mark>I am allergic to peanuts.</mark>" in shown
    assert "Filler number 3." in shown
    assert "Filler number 0." not in shown
    there = "/sessions/s1?around=peanuts"
    assert f"/console{there}" in shown
    assert 'class="user cited"' in browser.get(there).text


def test_what_was_merged_or_replaced_is_linked_with_its_change_and_undone(browser: Browser, door: Doors) -> None:
    one, two = (
        door.post("/v1/memories", {"user_id": "ada", "content": content}).json()["memory"]["id"]
        for content in ("Ada plays the cello.", "Ada has a cat.")
    )
    assert door.post("/v1/memories/merge", {"ids": [one, two], "reason": "Both are hers."}).is_success
    kept = browser.get(f"/memories/{one}").text
    assert "absorbed" in kept
    assert "Ada has a cat." in kept
    gone = browser.get(f"/memories/{two}").text
    assert "merged into" in gone
    assert "Both are hers." in gone
    change = door.get(f"/v1/memories/{two}/lineage").json()["items"][0]["change_id"]
    assert browser.press(f"/memories/{two}/changes/{change}/undo").status_code == 204
    assert door.get(f"/v1/memories/{two}").json()["status"] == "active"
    assert not door.get(f"/v1/memories/{two}/lineage").json()["items"]


@pytest.mark.parametrize("on_the_later", [True, False])
def test_a_person_says_that_both_of_two_memories_hold(
    browser: Browser, door: Doors, app: Database, on_the_later: bool
) -> None:
    old, new = a_memory("Ada drives to work."), a_memory("Ada takes the bus to work.")
    carry_out(app, old, new)
    carry_out(app, Link(new.id, Relation.MAY_SUPERSEDE, old.id))
    here, there = (new, old) if on_the_later else (old, new)
    role, tag = ("may_supersede", "may replace") if on_the_later else ("may_be_superseded_by", "may be replaced by")
    shown = browser.get(f"/memories/{here.id}").text
    assert tag in shown
    assert "Both hold" in shown
    assert browser.press(f"/memories/{here.id}/doubts/{there.id}/remove", doubts=role).status_code == 204
    assert not door.get(f"/v1/memories/{old.id}/lineage").json()["items"]


def test_versions_differ_word_by_word(browser: Browser, door: Doors, app: Database) -> None:
    path = f"/memories/{known(app)}"
    door.ask("PATCH", f"/v1{path}", json={"content": "Ada plays the viola."})
    assert "Ada plays the <del>cello</del><ins>viola</ins>." in browser.get(path).text


def test_the_date_of_a_memory_is_shown(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada moved to Porto.", occurred_at=datetime(2025, 3, 4, 17, tzinfo=UTC))
    carry_out(app, memory)
    page = browser.get(f"/memories/{memory.id}").text
    assert re.search(r"<dt>Said or happened</dt><dd><time[^>]*>2025-03-04 17:00:00</time>", page)
