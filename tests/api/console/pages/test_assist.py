from __future__ import annotations

from core.config import Settings
from tests.api.console.browser import Browser
from tests.doors import OTHER, Doors, key_of
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
