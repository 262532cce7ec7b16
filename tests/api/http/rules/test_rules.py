"""Rules over HTTP: warnings, cost, history, folders, figures, and trying a rule before it is trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from httpx import Response
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from rules.registry import defaults, store
from tests.doors import OTHER, Doors, key_of, opened
from tests.outlets import open_to
from tests.rules.samples import a_document, a_leaf
from tests.samples import TENANT, event, said
from tests.works import Works

LOOP = a_document(event_type="a", actions=[{"action_type": "emit", "event_type": "a"}])
DEFAULTS = sorted(str(document["name"]) for document in defaults.load())


def pointers(answer: Response, status: int = 422) -> list[str]:
    assert answer.status_code == status, answer.text
    return [fault["pointer"] for fault in answer.json()["errors"]]


def edit(door: Doors, method: str, path: str, document: Json, **more: Any) -> Json:
    answer = door.ask(method, path, json=document, **more)
    assert answer.is_success, answer.text
    found: Json = answer.json()
    return found


def test_every_way_of_saving_answers_warnings_and_cost(door: Doors) -> None:
    answers = [
        edit(door, "POST", "/v1/rules/validate", LOOP),
        edit(door, "POST", "/v1/rules", LOOP),
        edit(door, "PUT", "/v1/rules/r", {**LOOP, "priority": 1}),
        edit(door, "PATCH", "/v1/rules/r", {"priority": 2}),
        edit(door, "POST", "/v1/rules/r/rollback", {"version": 1}),
    ]
    for answer in answers:
        assert [warning["pointer"] for warning in answer["warnings"]] == ["/actions/0"]
        assert answer["cost"]["limit"] >= answer["cost"]["units"] >= 0
    assert [answer.get("version") for answer in answers] == [None, 1, 2, 3, 4]


def test_the_list_is_narrowed_by_name_and_state(door: Doors) -> None:
    for name, more in (("alert_a", {}), ("alert_b", {"enabled": False}), ("alert_c", {"action_mode": "shadow"})):
        assert door.post("/v1/rules", a_document(name=name, **more)).status_code == 201

    def names(**params: str) -> list[str]:
        return [one["name"] for one in door.get("/v1/rules", params={"q": "ALERT", **params}).json()["items"]]

    assert names() == ["alert_a", "alert_b", "alert_c"]
    assert [names(state=one) for one in ("live", "paused", "shadow")] == [["alert_a"], ["alert_b"], ["alert_c"]]
    assert names(limit="1", after="alert_a") == ["alert_b"]
    assert door.get("/v1/rules", params={"state": "asleep"}).status_code == 422


def test_a_circle_through_rules_in_force_is_named(door: Doors) -> None:
    there = {"action_type": "emit", "event_type": "b"}
    back = {"action_type": "emit", "event_type": "a"}
    edit(door, "POST", "/v1/rules", a_document(name="one", event_type="a", actions=[there]))
    second = edit(door, "POST", "/v1/rules", a_document(name="two", event_type="b", actions=[back]))
    assert "`two` → `one` → `two`" in second["warnings"][0]["detail"]


def test_a_field_that_no_event_has_had_is_warned_of(door: Doors) -> None:
    door.post("/v1/events", event("order.placed", {"total": 3}))
    typo = a_document(event_type="order.placed", conditions=a_leaf(">", 1, field="payload.totl"))
    [warning] = edit(door, "POST", "/v1/rules/validate", typo)["warnings"]
    assert (warning["pointer"], "payload.total" in warning["detail"]) == ("/conditions/field", True)


def test_where_nothing_leaves_the_house_nothing_may_be_said_to(settings: Settings) -> None:
    hook = a_document(actions=[{"action_type": "webhook", "url": "https://hooks.example.org/x"}])
    with opened(settings) as closed:
        assert pointers(closed.post("/v1/rules", hook)) == ["/actions/0/url"]
    with opened(open_to(settings, "https://hooks.example.org")) as open_:
        assert open_.post("/v1/rules", hook).status_code == 201


def test_a_rule_above_the_limit_of_cost_is_refused(settings: Settings) -> None:
    cheap = a_document(conditions={"all": [a_leaf("contains", "x")] * 3})
    with opened(settings.model_copy(update={"rule_cost": 5_000})) as strict:
        assert pointers(strict.post("/v1/rules", cheap)) == ["/conditions"]


def test_a_tenant_may_have_only_so_many_rules(settings: Settings) -> None:
    with opened(settings.model_copy(update={"rules_per_tenant": len(DEFAULTS) + 1})) as small:
        assert small.post("/v1/rules", a_document(name="one")).status_code == 201
        answer = small.post("/v1/rules", a_document(name="two"))
        assert (answer.status_code, "IMPRINT_RULES_PER_TENANT" in answer.json()["detail"]) == (409, True)


def test_the_rules_of_a_tenant_may_cost_only_so_much_together(settings: Settings) -> None:
    scans = a_document(conditions={"all": [a_leaf("contains", "x")]})
    with opened(settings.model_copy(update={"rules_cost": 20_000})) as small:
        assert small.post("/v1/rules", {**scans, "name": "one"}).status_code == 201
        assert small.post("/v1/rules", {**scans, "name": "one", "priority": 1}).status_code == 201
        assert small.post("/v1/rules", {**scans, "name": "two"}).status_code == 201
        answer = small.post("/v1/rules", {**scans, "name": "three"})
        assert (answer.status_code, "IMPRINT_RULES_COST" in answer.json()["detail"]) == (409, True)
        assert small.ask("DELETE", "/v1/rules/one").status_code == 204
        assert small.post("/v1/rules", {**scans, "name": "three"}).status_code == 201


def test_a_comment_stays_with_its_version(door: Doors) -> None:
    edit(door, "POST", "/v1/rules", a_document(), params={"comment": "first"})
    edit(door, "PUT", "/v1/rules/r", a_document(priority=1), params={"comment": "second"})
    edit(door, "PATCH", "/v1/rules/r", {"priority": 2}, params={"comment": "third"})
    assert door.ask("DELETE", "/v1/rules/r", params={"comment": "fourth"}).status_code == 204
    edit(door, "POST", "/v1/rules/r/rollback", {"version": 1, "comment": "fifth"})
    found = door.get("/v1/rules/r/versions").json()["items"]
    assert [item["comment"] for item in found] == ["fifth", "fourth", "third", "second", "first"]
    assert door.post("/v1/rules", a_document(), params={"comment": "x" * 2_000}).status_code == 422


def test_a_version_names_the_key_of_its_author(door: Doors, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        key_id, key = tenants.create_key(tx, TENANT, ("admin",), "deploy bot")
    door.post("/v1/rules", a_document(name="r"), key=key)
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="r", priority=2), author="file")
    by_file, by_key = door.get("/v1/rules/r/versions").json()["items"]
    assert (by_file["author"], by_file["author_name"]) == ("file", "file")
    assert (by_key["author"], by_key["author_name"]) == (f"key:{key_id}", "deploy bot")


def test_versions_come_in_pages_each_with_its_difference(door: Doors) -> None:
    for priority in range(3):
        edit(door, "POST", "/v1/rules", a_document(priority=priority))
    first = door.get("/v1/rules/r/versions", params={"limit": 2}).json()
    assert [item["version"] for item in first["items"]] == [3, 2]
    assert '-  "priority": 1' in first["items"][0]["diff"]
    rest = door.get("/v1/rules/r/versions", params={"limit": 2, "after": first["next"]}).json()
    assert ([item["version"] for item in rest["items"]], rest["next"]) == ([1], None)
    assert door.get("/v1/rules/nobody/versions").status_code == 404


def test_a_rollback_keeps_to_the_version_that_was_seen(door: Doors) -> None:
    edit(door, "POST", "/v1/rules", a_document())
    edit(door, "POST", "/v1/rules", a_document(priority=1))
    back: Json = {"json": {"version": 1}}
    assert door.ask("POST", "/v1/rules/r/rollback", headers={"if-match": '"1"'}, **back).status_code == 409
    answer = door.ask("POST", "/v1/rules/r/rollback", headers={"if-match": '"2"'}, **back)
    assert (answer.json()["rule"], answer.headers["etag"]) == (a_document(), '"3"')
    assert door.post("/v1/rules/r/rollback", {"version": 9}).status_code == 404
    assert door.post("/v1/rules/r/rollback", {"version": 1, "really": True}).status_code == 422


def test_an_edit_is_an_event_of_its_own(door: Doors) -> None:
    edit(door, "POST", "/v1/rules", a_document(), params={"comment": "why"})
    [found] = door.get("/v1/events", params={"type": "rule.changed"}).json()["items"]
    assert (found["source"], found["subject"], found["hop"]) == ("imprint", "rule:r", 0)
    said_of = {name: found["payload"][name] for name in ("rule", "version", "comment", "change")}
    assert said_of == {"rule": "r", "version": 1, "comment": "why", "change": "created"}


def test_what_is_exported_can_be_imported_and_changes_nothing(door: Doors) -> None:
    files = door.get("/v1/rules/export").json()["files"]
    assert sorted(files) == [f"{name}.json" for name in DEFAULTS]
    answer = door.post("/v1/rules/import", {"files": files, "prune": True}).json()
    assert {step["does"] for step in answer["plan"]} == {"keep"}
    assert answer["applied"] == []
    assert door.get("/v1/rules/export").json()["files"] == files


def test_a_dry_run_shows_the_plan_and_changes_nothing(door: Doors) -> None:
    given = {"files": {"a.json": json.dumps({**LOOP, "name": "a"})}}
    planned = door.post("/v1/rules/import", {**given, "dry_run": True}).json()
    [step] = planned["plan"]
    assert (step["name"], step["does"], step["version"], planned["applied"]) == ("a", "create", 0, [])
    assert '+  "name": "a"' in step["diff"]
    assert [warning["pointer"] for warning in step["warnings"]] == ["/actions/0"]
    assert door.get("/v1/rules/a").status_code == 404
    done = door.post("/v1/rules/import", {**given, "expect": {"a": 0}, "comment": "all at once"}).json()
    assert done["applied"] == [{"name": "a", "version": 1}]
    assert door.get("/v1/rules/a/versions").json()["items"][0]["comment"] == "all at once"
    assert door.post("/v1/rules/import", {**given, "expect": {"a": 0}}).status_code == 409


def test_circles_within_a_folder_are_seen_before_it_is_in_force(door: Doors) -> None:
    rules = [
        a_document(name="one", event_type="a", actions=[{"action_type": "emit", "event_type": "b"}]),
        a_document(name="two", event_type="b", actions=[{"action_type": "emit", "event_type": "a"}]),
    ]
    given = {"files": {f"{rule['name']}.json": json.dumps(rule) for rule in rules}, "dry_run": True}
    plan = door.post("/v1/rules/import", given).json()["plan"]
    assert [len(step["warnings"]) for step in plan] == [1, 1]


def test_one_bad_file_keeps_all_of_them_out(door: Doors) -> None:
    files = {"good.json": json.dumps(a_document()), "bad.json": '{"name": "bad"}'}
    assert "/files/bad.json/actions" in pointers(door.post("/v1/rules/import", {"files": files}))
    assert door.get("/v1/rules/r").status_code == 404
    assert pointers(door.post("/v1/rules/import", {"files": {}, "dryrun": True})) == ["/dryrun"]


@pytest.mark.parametrize("name", ["schema", "export", "validate", "test", "import", "backtest", "activity", ".", ".."])
def test_a_rule_cannot_take_the_name_of_an_address(door: Doors, name: str) -> None:
    assert pointers(door.post("/v1/rules", a_document(name=name))) == ["/name"]


def test_the_figures_of_a_rule_and_of_its_group(door: Doors, works: Works) -> None:
    note = {"action_type": "notify", "channel": "log", "template": "x"}
    for name in ("one", "two"):
        edit(door, "POST", "/v1/rules", a_document(name=name, event_type="x", actions=[note], group="g"))
    door.post("/v1/events", event("x", {"user_id": "ada"}))
    works.settle()
    found = door.get("/v1/rules/one/stats").json()
    assert (found["fired"], found["users"], found["group"]) == (1, 1, "g")
    assert [(other["rule"], other["held"]) for other in found["beside"]] == [("two", {"group": 1})]
    earlier = door.get("/v1/rules/one/stats", params={"to": "2020-01-01T00:00:00Z"}).json()
    assert (earlier["fired"], earlier["to"]) == (0, "2020-01-01T00:00:00Z")
    assert door.get("/v1/rules/one/stats", params={"from": "yesterday"}).status_code == 422
    assert door.get("/v1/rules/nobody/stats").status_code == 404


def test_a_trial_looks_up_what_a_router_would(door: Doors) -> None:
    door.post("/v1/events", [said("One."), said("Two.")])
    rule = a_document(conditions={"all": [a_leaf(">=", 2, field="session.message_count")]})
    tried = door.post("/v1/rules/test", {"rule": rule, "event": said("Three.")}).json()
    assert (tried["matched"], tried["tree"]["nodes"][0]["actual"]) == (True, 2)
    tried = door.post("/v1/rules/test", {"rule": rule, "event": said("x", session="other")}).json()
    assert (tried["matched"], tried["tree"]["nodes"][0]["actual"]) == (False, 0)


def test_a_trial_that_wants_no_warnings_gets_none(door: Doors) -> None:
    asked = {"rule": a_document(conditions={"all": [a_leaf("==", 1, field="payload.nobody_sends_this")]})}
    tried = door.post("/v1/rules/test", {**asked, "event": said("x")}).json()
    assert tried["warnings"]
    quick = door.post("/v1/rules/test", {**asked, "event": said("x"), "warnings": False}).json()
    assert quick == {name: value for name, value in tried.items() if name != "warnings"}


def test_a_trial_compares_meanings(door: Doors) -> None:
    near = a_leaf("means", "the cat sleeps", field="payload.content", threshold=0.9)
    rule = a_document(conditions={"any": [near, a_leaf("any_of", {**near, "field": "item"}, field="payload.tags")]})
    tried = door.post("/v1/rules/test", {"rule": rule, "event": said("the cat sleeps")}).json()
    assert (tried["matched"], round(tried["tree"]["nodes"][0]["similarity"], 3)) == (True, 1.0)
    assert door.post("/v1/rules/test", {"rule": rule, "event": said("tax return")}).json()["matched"] is False


def test_a_trial_says_what_holds_a_rule_back_and_what_its_flows_keep_apart(door: Doors) -> None:
    rule = a_document(enabled=False, flow={"cooldown": {"seconds": 5}})
    tried = door.post("/v1/rules/test", {"rule": rule, "event": said("x")}).json()
    assert (tried["matched"], tried["held_by"], tried["keys"]) == (True, "disabled", {"cooldown": "session:s1"})


def test_a_trial_takes_events_of_any_shape(door: Doors) -> None:
    odd = event("x", {"session_id": 5, "user_id": ["a"]})
    rule = a_document(event_type="x", conditions={"none": [a_leaf(">", 0, field="user.memory_count")]})
    assert door.post("/v1/rules/test", {"rule": rule, "event": odd}).json()["matched"] is True


def test_high_risk_is_for_an_admin_to_allow(settings: Settings, door: Doors) -> None:
    risky = a_document(risk_level="high")
    assert pointers(door.post("/v1/rules", risky)) == ["/risk_level"]
    editor = key_of(settings, TENANT, ("rules", "read"))
    assert door.ask("PATCH", "/v1/tenant", json={"allow_high_risk": True}, key=editor).status_code == 403
    assert door.ask("PATCH", "/v1/tenant", json={"allow_high_risk": True}).json()["allow_high_risk"] is True
    assert door.get("/v1/tenant", key=editor).json() == {"id": TENANT, "allow_high_risk": True}
    assert door.get("/v1/tenant", tenant=OTHER).json()["allow_high_risk"] is False
    saved = edit(door, "POST", "/v1/rules", risky)
    assert [warning["pointer"] for warning in saved["warnings"]] == ["/action_mode"]
    assert door.ask("PATCH", "/v1/tenant", json={"allow_high_risk": False}).json()["allow_high_risk"] is False
    assert pointers(door.ask("PATCH", "/v1/rules/r", json={"priority": 1})) == ["/risk_level"]
    assert door.ask("PATCH", "/v1/tenant", json={"allow_low_risk": True}).status_code == 422


def test_a_rule_that_cannot_be_read_disturbs_no_other(door: Doors, app: Database) -> None:
    edit(door, "POST", "/v1/rules", a_document(name="old"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE rules SET document = '{}' WHERE name = 'old'"))
    assert edit(door, "POST", "/v1/rules", a_document())["version"] == 1


def test_what_will_never_match_is_said_wherever_a_rule_is_saved_or_tried(door: Doors) -> None:
    role = a_leaf("==", "human", field="payload.role")
    typo = a_document(event_type=["message.added", "mesage.added"], conditions=role)
    folder = {"files": {"r.json": json.dumps(typo)}, "dry_run": True}
    answers = [
        edit(door, "POST", "/v1/rules/validate", typo),
        edit(door, "POST", "/v1/rules/import", folder)["plan"][0],
        edit(door, "POST", "/v1/rules/test", {"rule": typo, "event": said("x")}),
        edit(door, "POST", "/v1/rules", typo),
        edit(door, "PUT", "/v1/rules/r", {**typo, "priority": 1}),
        edit(door, "PATCH", "/v1/rules/r", {"priority": 2}),
        door.post("/v1/rules/test", {"names": ["r"], "event": said("x")}).json()[0],
    ]
    for answer in answers:
        found = {warning["pointer"]: warning["detail"] for warning in answer["warnings"]}
        assert "did you mean `message.added`?" in found["/event_type/1"]
    only = a_document(conditions=role)
    [warning] = edit(door, "POST", "/v1/rules/validate", only)["warnings"]
    assert (warning["pointer"], "user, assistant, system, tool" in warning["detail"]) == ("/conditions/value", True)
