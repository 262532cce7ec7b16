from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import BytesIO
from zipfile import ZipFile

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
    then = browser.get("/people/ada?true_then=50").text
    assert "Lisbon" in then
    assert "cello" not in then


def test_the_archive_of_a_user_is_downloaded(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("I play the cello."))
    answer = browser.get("/export?user_id=ada")
    assert answer.headers["content-type"] == "application/zip"
    assert b"cello" in ZipFile(BytesIO(answer.content)).read("messages.jsonl")


def test_a_user_is_erased_after_a_look_at_what_would_go(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("I play the cello."))
    plan = browser.get("/people/ada/erasure").text
    assert "messages" in plan
    assert "Nothing was erased" in browser.press("/people/ada/erasure", confirm="adA").text
    answer = browser.press("/people/ada/erasure", confirm="ada")
    assert "Erased." in browser.get(answer.headers["hx-redirect"].removeprefix("/console")).text
    assert door.get("/v1/sessions/s1").status_code == 404
