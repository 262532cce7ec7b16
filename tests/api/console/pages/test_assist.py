from __future__ import annotations

from core.config import Settings
from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import OTHER, Doors, key_of
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, said


def test_the_editor_is_given_the_schema_and_the_fields_of_the_tenants_own_events(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("Hello.", mood="good")])
    door.post("/v1/events", [said("Hello.", secret_field="x")], tenant=OTHER)
    answer = browser.get("/rules/schema.json")
    assert answer.status_code == 200
    words = answer.json()
    assert words["schema"]["required"] == ["name", "actions"]
    assert "payload.mood" in words["events"]["message.added"]
    assert "secret_field" not in answer.text


def test_a_key_that_may_not_read_gets_no_words(stranger: Browser, settings: Settings) -> None:
    stranger.log_in(key_of(settings, TENANT, ("write",)))
    assert stranger.get("/rules/schema.json").status_code == 403


def test_the_palette_finds_rules_users_and_events_by_a_few_characters(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("I play the cello.", id="m1")])
    assert 'data-href="/console/rules/write_episodes"' in browser.get("/palette?q=episod").text
    assert 'data-href="/console/people/ada"' in browser.get("/palette?q=AD").text
    assert 'data-href="/console/events/m1"' in browser.get("/palette?q=cello").text
    assert 'data-href="/console/go?q=%3Cb%3E"' in browser.get("/palette?q=<b>").text
    assert "role=" not in browser.get("/palette?q=%20").text


def test_the_palette_finds_what_has_an_id(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    shown = browser.get(f"/palette?q={memory.id}").text
    assert f'data-href="/console/memories/{memory.id}"' in shown
    assert "Ada plays the cello." in shown


def test_the_palette_finds_nothing_of_another_tenant(stranger: Browser, door: Doors, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    door.post("/v1/events", [said("I play the cello.", user="ada")])
    stranger.log_in(door.keys[OTHER])
    for word in ("cello", "ada", str(memory.id)):
        assert "palette-event-1" not in stranger.get(f"/palette?q={word}").text
        assert "palette-user-1" not in stranger.get(f"/palette?q={word}").text
        assert "palette-memory-1" not in stranger.get(f"/palette?q={word}").text
