from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request

from api.console import render
from api.console.pages import now
from api.console.pages.now import ROWS
from tests.api.console.browser import Browser
from tests.doors import Doors


def frame(number: int) -> bytes:
    event = (
        '{"id": "e%d", "event_type": "order.placed", "time": "2026-11-26T10:00:00Z", "subject": null, "payload": {}}'
    )
    return f"id: 1.{number}\nevent: order.placed\ndata: {event % number}\n\n".encode()


def asked() -> Request:
    return Request({"type": "http", "headers": []})


async def some(number: int) -> AsyncIterator[list[bytes]]:
    yield [b": mark\nid: 1.0\n\n"]
    yield list(map(frame, range(number)))
    await asyncio.sleep(30)


async def first_update(number: int) -> str:
    updates = now._updates(some(number), render.load()(asked()))
    try:
        return (await anext(updates)).decode()
    finally:
        await updates.aclose()


def test_what_comes_within_a_moment_is_one_update_newest_first_and_bounded() -> None:
    update = asyncio.run(first_update(ROWS + 7))
    assert update.count("/console/events/e") == ROWS
    assert update.index("/console/events/e26") < update.index("/console/events/e7")
    assert "… and 7 more" in update
    assert all(line.startswith("data: ") for line in update.strip().splitlines())


def test_an_update_follows_soon_after_a_single_event() -> None:
    assert "/console/events/e0" in asyncio.run(asyncio.wait_for(first_update(1), 5))


def test_an_empty_installation_shows_how_to_begin_and_loads_the_demo(browser: Browser, door: Doors) -> None:
    assert "Load the demo" in browser.get("").text
    assert browser.press("/demo").status_code == 204
    assert door.get("/v1/sessions?user_id=maya").json()["items"]
    assert "Load the demo" not in browser.get("").text
    assert browser.press("/demo").status_code == 204


def test_the_lanes_and_the_figures_are_parts_of_the_page(browser: Browser) -> None:
    assert "<html" not in browser.get("/lanes?span=7d").text
    assert "<html" not in browser.get("/glance").text
    assert browser.get("/lanes?span=1y").status_code == 422
