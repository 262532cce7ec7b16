from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from zipfile import ZipFile

import pytest

from core.erasure import preview
from core.memory import receipts
from core.memory.changes import Owner
from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out
from tests.samples import said

LONG_AGO = datetime.now(UTC) - timedelta(days=100)


def test_a_user_is_seen_as_of_then(browser: Browser, app: Database) -> None:
    carry_out(app, a_memory("Ada lives in Lisbon.", valid_from=LONG_AGO))
    carry_out(app, a_memory("Ada plays the cello.", valid_from=datetime.now(UTC) - timedelta(hours=1)))
    assert "cello" in browser.get("/people/ada").text
    assert "As of then" in browser.get("/people/ada?true_then=50").text
    then = browser.get("/people/ada/memories?true_then=50")
    assert then.headers["hx-replace-url"] == "/console/people/ada?true_then=50&known_then=100"
    assert "Lisbon" in then.text
    assert "cello" not in then.text


def test_names_of_one_person_are_merged_shown_separated_and_taken_back(browser: Browser, app: Database) -> None:
    carry_out(app, a_memory("Evelyn is Ada's mother."), a_memory("Evelyn paints."))
    listed = browser.get("/people/ada/names").text
    assert ("Evelyn" in listed, "mother" in listed) == (True, True)
    assert "paints" in browser.get("/people/ada/names/about?of=my+mother").text
    assert browser.press("/people/ada/names/merge", names="Evelyn, Eve ,").headers["hx-refresh"] == "true"
    browser.press("/people/ada/names/show", of="Evelyn", shown="Eve")
    page = browser.get("/people/ada/names/about?of=Evelyn").text
    assert "<h1>Eve</h1>" in page
    browser.press("/people/ada/names/separate", of="Evelyn", other="Eve")
    assert "≠" in browser.get("/people/ada/names").text
    browser.press("/people/ada/names/undo", of="Eve", other="Evelyn")
    assert "≠" not in browser.get("/people/ada/names").text


def test_the_archive_of_a_user_is_downloaded(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("I play the cello."))
    answer = browser.get("/export?user_id=ada")
    assert answer.headers["content-type"] == "application/zip"
    assert b"cello" in ZipFile(BytesIO(answer.content)).read("messages.jsonl")


def test_what_was_counted_up_to_a_ceiling_is_marked(
    browser: Browser, door: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.post("/v1/events", [said("I play the cello."), said("I play the viola.")])
    assert "0 memories and 1 sessions" in browser.get("/people/ada/erasure").text
    monkeypatch.setattr(preview, "SMALL", -1)
    plan = browser.get("/people/ada/erasure").text
    assert "0+ memories and 1 sessions" in plan
    assert re.search('events</code></th><td class="number">2\\+<', plan)
    assert re.search('messages</code></th><td class="number">2<', plan)


def test_a_user_is_erased_after_a_look_at_what_would_go(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("I play the cello."))
    plan = browser.get("/people/ada/erasure").text
    assert "messages" in plan
    assert "Nothing was erased" in browser.press("/people/ada/erasure", confirm="adA").text
    answer = browser.press("/people/ada/erasure", confirm="ada")
    assert "Erased." in browser.get(answer.headers["hx-redirect"].removeprefix("/console")).text
    assert door.get("/v1/sessions/s1").status_code == 404


def test_a_group_is_exported_and_erased_after_a_look_at_what_would_go(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("I play the cello.", group_id="crew"), said("I live in Rome.", session="s2")])
    archive = ZipFile(BytesIO(browser.get("/export?group_id=crew").content))
    assert b"cello" in archive.read("messages.jsonl")
    plan = browser.get("/groups/crew/erasure").text
    assert "Users concerned: 1." in plan
    assert "Nothing was erased" in browser.press("/groups/crew/erasure", confirm="crow").text
    answer = browser.press("/groups/crew/erasure", confirm="crew")
    assert "Erased." in browser.get(answer.headers["hx-redirect"].removeprefix("/console")).text
    assert door.get("/v1/sessions/s1").status_code == 404
    assert door.get("/v1/sessions/s2").status_code == 200


def test_users_and_groups_are_found_by_the_beginning_of_their_ids(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("Hello.", group_id="crew"), said("Hello.", session="s2", user="bob")])
    assert {"ada", "bob"} <= set(re.findall(r"/console/people/(\w+)", browser.get("/people").text))
    found = browser.get("/people?q=bo").text
    assert "/console/people/bob" in found
    assert "/console/people/ada" not in found
    assert "/console/groups/crew" in browser.get("/people?kind=group").text


def test_a_group_is_shown_with_profile_members_and_memories(browser: Browser, app: Database, door: Doors) -> None:
    door.post("/v1/events", said("I play the cello.", group_id="crew"))
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory, owner=Owner("ada", "crew"))
    shown = browser.get("/groups/crew").text
    assert f"/console/memories/{memory.id}" in shown
    assert "/console/people/ada" in shown
    assert "/console/sessions/s1" in shown


def test_the_file_of_a_receipt_can_be_verified(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("I play the cello."))
    place = browser.press("/people/ada/erasure", confirm="ada").headers["hx-redirect"].removeprefix("/console")
    told = browser.get(f"{place}/file").json()
    assert receipts.verify(told["receipt"], told["signature"], told["public_key"])


def test_names_that_no_header_can_hold_are_quoted(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("我喜欢茶。", user="小明", session="会话"))
    answer = browser.get("/people/小明/memories")
    assert answer.status_code == 200
    assert answer.headers["hx-replace-url"].startswith("/console/people/%E5%B0%8F%E6%98%8E")
    fields = {"text": "user: I like tea.", "user_id": "ada", "session": "中文\r\nX-Evil: 1", "step": "import"}
    pasted = browser.press("/add/paste", **fields)
    assert pasted.status_code in {200, 204}
    assert "x-evil" not in pasted.headers


def test_an_edit_without_its_fields_is_refused(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    answer = browser.press(f"/memories/{memory.id}/edit")
    assert answer.status_code == 200
    assert answer.headers["hx-retarget"] == "#notices"
