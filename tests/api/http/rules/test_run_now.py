"""A schedule can be run now, over HTTP and by the command."""

from __future__ import annotations

import pytest
from httpx import Response

from core.config import Settings
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.commands import Imprint
from tests.doors import OTHER, Doors, key_of, opened
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, said
from tests.works import Works

NIGHTLY: Json = {
    "name": "nightly",
    "schedule": {"cron": "0 3 * * *", "timezone": "Europe/Lisbon"},
    "actions": [{"action_type": "notify", "channel": "log", "template": "It is {{payload.due_at}}."}],
}
EACH = NIGHTLY | {"name": "each", "schedule": {"every_seconds": 86_400, "for_each": "user"}}


def saved(door: Doors, document: Json) -> None:
    assert door.post("/v1/rules", document).status_code == 201


def ticks(door: Doors, answer: Response) -> list[Json]:
    assert answer.status_code == 202, answer.text
    return [door.get(f"/v1/events/{event['id']}").json() for event in answer.json()["events"]]


def test_a_rule_for_the_tenant_runs_as_the_clock_would_run_it(door: Doors, works: Works) -> None:
    saved(door, NIGHTLY)
    answer = door.post("/v1/rules/nightly/run")
    [tick] = ticks(door, answer)
    assert tick["id"].startswith("nightly@run@")
    assert (tick["source"], tick["event_type"], tick["subject"]) == ("imprint", "clock.ticked", "rule:nightly")
    payload = tick["payload"]
    assert (payload["rule"], payload["version"], payload["timezone"]) == ("nightly", 1, "Europe/Lisbon")
    assert payload["requested_by"].startswith("key:")
    assert payload["due_at"].endswith("Z")
    works.settle()
    trace = door.get(f"/v1/events/{tick['id']}/trace").json()
    [fired] = [rule for rule in trace["rules"] if rule["verdict"] == "fired"]
    assert fired["rule"] == "nightly"
    assert [dispatch["status"] for dispatch in trace["dispatches"]] == ["done"]


def test_a_rule_for_each_user_reaches_all_of_them_or_one(door: Doors, app: Database) -> None:
    accept(app, *(said("x", user=user, session=user) for user in ("ada", "bob", "cem")))
    saved(door, EACH)
    everyone = ticks(door, door.post("/v1/rules/each/run", {}))
    assert [tick["payload"]["user_id"] for tick in everyone] == ["ada", "bob", "cem"]
    assert {tick["subject"] for tick in everyone} == {"user:ada", "user:bob", "user:cem"}
    [one] = ticks(door, door.post("/v1/rules/each/run", {"user_id": "bob"}))
    assert one["payload"]["user_id"] == "bob"
    assert door.post("/v1/rules/each/run", {"user_id": "nobody"}).status_code == 404


def test_many_users_are_reached_page_by_page(settings: Settings, app: Database) -> None:
    accept(app, *(said("x", user=user, session=user) for user in ("ada", "bob", "cem")))
    with opened(settings.model_copy(update={"schedule_page": 2})) as door:
        saved(door, EACH)
        first = door.post("/v1/rules/each/run").json()
        rest = door.post("/v1/rules/each/run", {"after": first["next"]}).json()
    assert ([len(page["events"]) for page in (first, rest)], rest["next"]) == ([2, 1], None)


def test_twice_is_twice_and_the_time_table_stays(door: Doors) -> None:
    saved(door, NIGHTLY)
    ids = {door.post("/v1/rules/nightly/run").json()["events"][0]["id"] for _ in range(2)}
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("document", "body", "status"),
    [
        (a_document(name="nightly"), None, 409),
        (NIGHTLY | {"enabled": False}, None, 409),
        (NIGHTLY, {"user_id": "ada"}, 422),
        (NIGHTLY, {"user": "ada"}, 422),
        (None, None, 404),
    ],
)
def test_what_cannot_run_says_why(door: Doors, document: Json | None, body: Json | None, status: int) -> None:
    if document is not None:
        saved(door, document)
    assert door.post("/v1/rules/nightly/run", body).status_code == status


def test_it_takes_the_scope_and_the_tenant_of_the_rule(door: Doors, settings: Settings) -> None:
    saved(door, NIGHTLY)
    reader = key_of(settings, TENANT, ("read", "publish", "write"))
    assert door.post("/v1/rules/nightly/run", key=reader).status_code == 403
    assert door.post("/v1/rules/nightly/run", tenant=OTHER).status_code == 404


def test_a_full_backlog_is_not_made_longer(settings: Settings, app: Database) -> None:
    with opened(settings.model_copy(update={"tenant_limits": TenantLimits(events_waiting=1)})) as door:
        with app.tenant(TENANT) as tx:
            store.save(tx, TENANT, NIGHTLY, author="test")
        assert door.post("/v1/rules/nightly/run").status_code == 429


def test_the_command_runs_a_rule_and_says_where_to_look(imprint: Imprint, app: Database) -> None:
    accept(app, said("x", user="ada"), said("x", user="bob", session="s2"))
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, EACH, author="test")
    ran = imprint("rules", "run", "each")
    assert (ran.code, "each v1 runs: 2 events emitted." in ran.out) == (0, True)
    assert "imprint events trace each@run@" in ran.out
    one = imprint("rules", "run", "each", "--user", "ada", "--json").json
    assert [event["id"].endswith("@ada") for event in one["events"]] == [True]
    assert imprint("rules", "run", "track_plans").code == 1
