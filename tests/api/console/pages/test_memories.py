from __future__ import annotations

from uuid import UUID

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out


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
