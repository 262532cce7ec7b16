from __future__ import annotations

from uuid import UUID

from httpx import Response

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out
from tests.works import Works


def known(app: Database) -> list[str]:
    memories = [a_memory("Ada plays the cello."), a_memory("Ada lives in Lisbon.")]
    carry_out(app, *memories)
    return [str(one.id) for one in memories]


def post(browser: Browser, path: str, **fields: str | list[str]) -> Response:
    headers = {"hx-request": "true", "x-csrf-token": browser.token}
    return browser.client.post(f"/console{path}", data=fields, headers=headers, follow_redirects=False)


def target(answer: Response) -> str:
    assert answer.status_code == 204, answer.text
    return answer.headers["hx-redirect"].removeprefix("/console")


def test_an_action_is_previewed_and_carried_out_when_the_number_of_rows_is_typed(
    browser: Browser, door: Doors, app: Database, works: Works
) -> None:
    ids = known(app)
    preview = target(post(browser, "/bulk", action="erase", scope="ticked", id=ids))
    assert "hx-trigger" in browser.get(preview).text  # It looks again while the job runs.
    works.settle()
    shown = browser.get(preview).text
    assert "What would happen" in shown
    assert "Ada plays the cello." in shown
    assert "hx-trigger" not in browser.get(f"{preview}/standing").text.partition("<section")[0]
    assert len(door.get("/v1/memories").json()["items"]) == 2
    assert "Nothing was changed" in post(browser, f"{preview}/run", confirm="3").text
    run = target(post(browser, f"{preview}/run", confirm="2"))
    works.settle()
    done = browser.get(run).text
    assert "What happened" in done
    assert "/console/receipts/" in done
    assert "cello" not in done
    assert not door.get("/v1/memories").json()["items"]
    listed = browser.get("/bulk").text
    assert preview in listed
    assert run in listed


def test_all_that_match_the_filter_are_chosen_without_being_ticked(
    browser: Browser, door: Doors, app: Database, works: Works
) -> None:
    known(app)
    door.post("/v1/memories", {"user_id": "bob", "content": "Bob plays chess."})
    job = target(post(browser, "/bulk", action="archive", scope="all", filter_user_id="ada", filter_q=""))
    works.settle()
    assert "2 memories" in browser.get(job).text
    run = target(post(browser, f"{job}/run", confirm="2", reason="Outdated."))
    works.settle()
    assert "Outdated." in str(door.get(f"/v1/memories/{known_ids(door)[0]}/history").json())
    assert [one["user_id"] for one in door.get("/v1/memories").json()["items"]] == ["bob"]
    assert "No memory matches" in browser.get(f"{run}?outcome=refused").text


def known_ids(door: Doors) -> list[str]:
    return [one["id"] for one in door.get("/v1/memories?user_id=ada&status=archived").json()["items"]]


def test_a_job_is_cancelled(browser: Browser, door: Doors, app: Database, works: Works) -> None:
    job = target(post(browser, "/bulk", action="pin", scope="ticked", id=known(app)))
    assert target(post(browser, f"{job}/cancel")) == job
    works.settle()
    assert "cancelled" in browser.get(job).text


def test_without_a_selection_nothing_happens(browser: Browser) -> None:
    assert "Select memories first" in browser.press("/bulk", action="pin").text


def test_the_graph_of_a_user_shows_their_memories(browser: Browser, app: Database) -> None:
    ids = known(app)
    shown = browser.get("/graph?user_id=ada").text
    assert all(f"/console/memories/{UUID(one)}" in shown for one in ids)
