"""Relative days are those of the speaker's clock: the offset of the time, else the user's time zone, else UTC."""

from __future__ import annotations

import pytest

from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, ended, event, said
from tests.works import Works

CASES = [
    ("2026-03-10T00:30:00+09:00", "I moved to Lisbon yesterday.", "9 March 2026", "2026-03-09"),
    ("2026-03-10T00:30:00+09:00", "I moved to Lisbon this morning.", "10 March 2026", "2026-03-10"),
    ("2026-03-10T23:30:00-08:00", "I moved to Lisbon today.", "10 March 2026", "2026-03-10"),
    ("2026-03-10T00:30:00+09:00", "我昨天搬到了里斯本。", "2026年3月9日", "2026-03-09"),
    ("2026-03-10T23:30:00-08:00", "我今天搬到了里斯本。", "2026年3月10日", "2026-03-10"),
    ("2026-03-10T23:30:00Z", "I moved to Lisbon today.", "10 March 2026", "2026-03-10"),
]


def stored(door: Doors, works: Works, user: str = "ada") -> Json:
    works.settle()
    items = door.get(f"/v1/memories?user_id={user}&category=fact").json()["items"]
    [memory] = [item for item in items if item["attribute"] == "home.city"]
    return memory


@pytest.mark.parametrize(("time", "words", "written", "day"), CASES)
def test_the_offset_of_a_time_decides_the_day_and_the_preview_says_the_same(
    door: Doors, app: Database, works: Works, time: str, words: str, written: str, day: str
) -> None:
    asked = {"user_id": "ada", "messages": [{"content": words, "occurred_at": time}]}
    [previewed] = door.post("/v1/extraction/preview", asked).json()["items"]
    accept(app, said(words, time=time), ended(time=time, message_count=3))
    memory = stored(door, works)
    assert written in memory["content"]
    assert memory["valid_from"].startswith(day)
    assert memory["content"] == previewed["statement"]["content"]
    assert memory["valid_from"][:19] == previewed["statement"]["valid_from"][:19]


def test_a_zone_of_the_user_decides_where_the_time_came_in_utc(door: Doors, app: Database, works: Works) -> None:
    assert (
        door.ask("PUT", "/v1/users/ada/settings", json={"time_zone": "Asia/Tokyo"}).json()["time_zone"] == "Asia/Tokyo"
    )
    time = "2026-03-09T15:30:00Z"
    accept(app, said("I moved to Lisbon yesterday.", time=time), ended(time=time, message_count=3))
    assert stored(door, works)["valid_from"].startswith("2026-03-09")
    asked = {"user_id": "ada", "messages": [{"content": "I moved to Lisbon yesterday.", "occurred_at": time}]}
    [previewed] = door.post("/v1/extraction/preview", asked).json()["items"]
    assert "9 March 2026" in previewed["statement"]["content"]


def test_an_offset_of_the_time_counts_before_the_zone_of_the_user(door: Doors, app: Database, works: Works) -> None:
    door.ask("PUT", "/v1/users/ada/settings", json={"time_zone": "Asia/Tokyo"})
    time = "2026-03-10T23:30:00-08:00"
    accept(app, said("I moved to Lisbon today.", time=time), ended(time=time, message_count=3))
    assert stored(door, works)["valid_from"].startswith("2026-03-10")


def test_a_request_to_remember_is_read_on_the_clock_of_its_time(door: Doors, app: Database, works: Works) -> None:
    asked = {"user_id": "ada", "content": "I moved to Lisbon yesterday."}
    accept(app, event("memory.requested", asked, time="2026-03-10T00:30:00+09:00"))
    assert "9 March 2026" in stored(door, works)["content"]


def test_a_message_and_its_event_show_the_offset_of_their_time(door: Doors, app: Database) -> None:
    accept(app, said("I moved.", id="e1", message_id="m1", time="2026-03-10T23:30:00-08:00"))
    [message] = door.get("/v1/sessions/s1/messages").json()["items"]
    assert message["occurred_at"] == "2026-03-10T23:30:00-08:00"
    assert door.get("/v1/events/e1").json()["time"] == "2026-03-10T23:30:00-08:00"


def test_what_is_true_from_today_on_is_shown_where_the_day_has_begun_before_utc(
    door: Doors, app: Database, works: Works
) -> None:
    door.ask("PUT", "/v1/users/ada/settings", json={"time_zone": "Pacific/Kiritimati"})
    answer = door.post("/v1/memories", {"user_id": "ada", "content": "I moved to Lisbon today."})
    assert answer.is_success, answer.text
    works.settle()
    context = door.post("/v1/context", {"user_id": "ada", "query": "Where do I live?", "format": "text"}).json()
    assert "Lisbon" in context["text"]


def test_a_zone_that_there_is_not_is_refused_with_an_example(door: Doors) -> None:
    refused = door.ask("PUT", "/v1/users/ada/settings", json={"time_zone": "Lissabon"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/time_zone")
    assert "Europe/Lisbon" in refused.json()["errors"][0]["detail"]
    assert door.get("/v1/users/ada/settings").json()["time_zone"] is None


def test_erasing_the_user_takes_the_zone(door: Doors) -> None:
    door.ask("PUT", "/v1/users/ada/settings", json={"time_zone": "Asia/Tokyo"})
    assert door.ask("DELETE", "/v1/users/ada").is_success
    assert door.get("/v1/users/ada/settings").json()["time_zone"] is None


def test_a_time_without_an_offset_is_refused_with_what_to_do(door: Doors) -> None:
    refused = door.post("/v1/events", said("I moved.", time="2026-03-10T23:30:00"))
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/0/time")
    assert "2026-11-21T10:00:00Z" in refused.json()["errors"][0]["detail"]


def test_the_zone_of_the_tenant_decides_for_users_without_one(door: Doors, app: Database, works: Works) -> None:
    path = "/v1/tenant/clock"
    assert door.get(path).json() == {"time_zone": None}
    assert door.ask("PUT", path, json={"time_zone": "Asia/Tokyo"}).json() == {"time_zone": "Asia/Tokyo"}
    assert door.get(path).json() == {"time_zone": "Asia/Tokyo"}
    assert door.get(path, tenant=OTHER).json() == {"time_zone": None}
    assert door.get("/v1/users/ada/settings").json()["time_zone"] is None
    door.ask("PUT", "/v1/users/bob/settings", json={"time_zone": "UTC"})
    time = "2026-03-09T15:30:00Z"
    for user in ("ada", "bob"):
        words = said("I moved to Lisbon yesterday.", session=user, user=user, time=time)
        accept(app, words, ended(user, user, time=time, message_count=3))
    assert stored(door, works)["valid_from"].startswith("2026-03-09")
    assert stored(door, works, "bob")["valid_from"].startswith("2026-03-08")


def test_a_zone_of_a_tenant_is_set_by_an_admin_and_checked(door: Doors, settings: Settings) -> None:
    writer = key_of(settings, TENANT, ("write", "read"))
    assert door.ask("PUT", "/v1/tenant/clock", json={"time_zone": "Asia/Tokyo"}, key=writer).status_code == 403
    refused = door.ask("PUT", "/v1/tenant/clock", json={"time_zone": "Lissabon"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/time_zone")
