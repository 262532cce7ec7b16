from __future__ import annotations

from uuid import UUID

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out


def known(app: Database) -> list[str]:
    memories = [a_memory("Ada plays the cello."), a_memory("Ada lives in Lisbon.")]
    carry_out(app, *memories)
    return [str(one.id) for one in memories]


def test_an_action_is_previewed_and_carried_out_when_the_number_of_rows_is_typed(
    browser: Browser, door: Doors, app: Database
) -> None:
    ids = known(app)
    preview = browser.client.post(
        "/console/memories/bulk",
        data={"action": "erase", "id": ids},
        headers={"hx-request": "true", "x-csrf-token": browser.token},
    ).text
    assert "What would happen" in preview
    assert len(door.get("/v1/memories").json()["items"]) == 2
    again = {"action": "erase", "id": ids, "confirm": "3"}
    headers = {"hx-request": "true", "x-csrf-token": browser.token}
    assert "Nothing was changed" in browser.client.post("/console/memories/bulk", data=again, headers=headers).text
    done = browser.client.post("/console/memories/bulk", data=again | {"confirm": "2"}, headers=headers).text
    assert "2 done" in done
    assert not door.get("/v1/memories").json()["items"]


def test_without_a_selection_nothing_happens(browser: Browser) -> None:
    assert "Select memories first" in browser.press("/memories/bulk", action="pin").text


def test_the_graph_of_a_user_shows_their_memories(browser: Browser, app: Database) -> None:
    ids = known(app)
    shown = browser.get("/graph?user_id=ada").text
    assert all(f"/console/memories/{UUID(one)}" in shown for one in ids)
