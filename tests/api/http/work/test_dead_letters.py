"""Dead letters: their groups, discarding them, and retrying one with other parameters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from httpx import Response
from sqlalchemy import text

from core.config import Settings
from core.dispatches import control as dispatch_control
from core.dispatches import dead_letters
from core.dispatches.control import SignedRemark
from core.errors import Forbidden
from core.events.publishing import Author
from core.storage.db import Database
from core.types import Json
from tests import databases
from tests.api.http.dead import LOG, NOWHERE, failed, groups, letters
from tests.api.http.dispatching import events_of, problem, save, shown, status_of, sweep
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, event
from tests.works import Works
from workers.dispatch.relay import DispatchRef


def edit(door: Doors, dispatch_id: str, params: Json, **fields: Any) -> Response:
    return door.post(f"/v1/dispatches/{dispatch_id}/retry-edited", {"params": params, **fields})


def test_errors_that_differ_in_ids_numbers_and_quotes_are_one_group(door: Doors, app: Database) -> None:
    letters(app, 'The webhook at x answered 503: "try in 7 s"')
    last = letters(app, 'The webhook at x answered 500: "try in 19 s"')[0]
    other = letters(app, "The channel 'none' is not there.", rule="other")[0]
    found = {one["newest"]["id"]: one for one in groups(door)}
    assert found.keys() == {last, other}
    one = found[last]
    assert (one["letters"], one["rules"], one["retryable"]) == ({"count": 2, "more": False}, ["r"], True)
    assert one["error"] == 'The webhook at x answered 500: "try in 19 s"'
    assert one["first_at"] < one["last_at"] == one["newest"]["ended_at"]
    assert {d["id"] for d in shown(door, fingerprint=one["fingerprint"])} > {last}
    assert door.get("/v1/dispatches/groups", tenant=OTHER).json() == {"items": [], "next": None}


def test_the_end_of_a_traceback_tells_groups_apart(door: Doors, app: Database) -> None:
    trace = 'Traceback (most recent call last):\n  File "/x/y.py", line {}, in work\n    do()\n{}: no such row {}\n'
    letters(app, trace.format(3, "KeyError", 1))
    letters(app, trace.format(4, "KeyError", 2))
    letters(app, trace.format(3, "ValueError", 1))
    assert sorted(one["letters"]["count"] for one in groups(door)) == [1, 2]


def test_groups_are_read_page_by_page(door: Doors, app: Database) -> None:
    for word in ("one", "two", "three"):
        letters(app, f"It failed at {word}.")
    first = door.get("/v1/dispatches/groups", params={"limit": 2}).json()
    rest = door.get("/v1/dispatches/groups", params={"limit": 2, "after": first["next"]}).json()
    assert len(first["items"]) == 2
    assert len(rest["items"]) == 1
    assert rest["next"] is None
    assert len({one["fingerprint"] for one in first["items"] + rest["items"]}) == 3


def test_groups_are_found_in_the_index_however_many_letters_they_have(settings: Settings, app: Database) -> None:
    fill = """
        INSERT INTO dispatches (tenant_id, action_type, target, queue, status, error, ended_at)
        SELECT :tenant, 'notify', 'notifier', 'io', 'dead', 'It failed at ' || chr(97 + n % 3) || '.', now()
        FROM generate_series(1, 30000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    databases.analyzed(settings, "dispatches")
    with app.tenant(TENANT) as tx:
        found = dead_letters.groups(tx)
        values = {"after": "", "limit": 50, "most": 1000, "rules": 20}
        nodes = databases.carried_out(tx, str(dead_letters._GROUPS), values)
    assert [one.letters for one in found] == [1_000] * 3
    read = [n for n in nodes if n.get("Relation Name") == "dispatches"]
    assert {n["Node Type"] for n in read} <= {"Index Scan", "Index Only Scan"}
    assert sum(n["Actual Rows"] * n["Actual Loops"] for n in read) < 4_000


def test_a_group_is_retried_as_a_whole(door: Doors, app: Database) -> None:
    late, no = letters(app, "timeout after 30 s", 3), letters(app, "404: no such hook")
    mine = next(one for one in groups(door) if one["letters"]["count"] == 3)
    answer = door.post("/v1/dispatches/replay", {"filter": {"fingerprint": mine["fingerprint"]}}).json()
    assert (answer["matched"], answer["replayed"]) == (3, 3)
    assert status_of(door, *late, *no) == ["pending"] * 3 + ["dead"]


def test_discarding_takes_the_number_that_was_shown(door: Doors, app: Database, works: Works) -> None:
    first, second = failed(app, works, 2)
    letters(app, "timeout")
    wanted = {"filter": {"error_contains": "channel"}}
    would = door.post("/v1/dispatches/discard", {**wanted, "dry_run": True}).json()
    assert would == {"matched": 1, "more": False, "discarded": 0, "ids": [first]}
    assert "confirm" in problem(door.post("/v1/dispatches/discard", {**wanted, "confirm": 2}), 409)
    problem(door.post("/v1/dispatches/discard", wanted), 409)
    assert status_of(door, first, second) == ["dead", "held"]
    done = door.post("/v1/dispatches/discard", {**wanted, "confirm": 1, "comment": "old"}).json()
    assert (done["discarded"], done["ids"]) == (1, [first])
    assert status_of(door, first, second) == ["cancelled", "cancelled"]
    error = door.get(f"/v1/dispatches/{first}").json()["error"]
    assert error.startswith("Discarded by key:")
    assert ": old It had failed: There is no channel 'none'" in error


def test_what_was_discarded_can_begin_again(door: Doors, app: Database) -> None:
    ids = letters(app, "timeout", 2)
    door.post("/v1/dispatches/discard", {"confirm": 2})
    assert groups(door) == []
    again = door.post("/v1/dispatches/replay", {"filter": {"status": "cancelled"}}).json()
    assert again["ids"] == ids


def test_only_so_many_are_discarded_at_once(door: Doors, app: Database) -> None:
    ids = letters(app, "timeout", 3)
    would = door.post("/v1/dispatches/discard", {"limit": 2, "dry_run": True}).json()
    assert (would["matched"], would["more"]) == (2, True)
    assert door.post("/v1/dispatches/discard", {"limit": 2, "confirm": 2}).json()["ids"] == ids[:2]
    assert "dead letters" in problem(door.post("/v1/dispatches/discard", {"filter": {"status": "cancelled"}}), 409)


def test_a_failed_attempt_is_recorded_with_its_stage_and_times(door: Doors, app: Database, works: Works) -> None:
    (one,) = failed(app, works)
    (attempt,) = door.get(f"/v1/dispatches/{one}").json()["failures"]
    assert (attempt["attempt"], attempt["stage"], attempt["error"]) == (1, "agent", "Never")
    assert attempt["began_at"] <= attempt["ended_at"]


def test_a_dead_letter_is_retried_with_other_parameters(
    door: Doors, app: Database, queue: Database, works: Works
) -> None:
    first, second = failed(app, works, 2)
    given = door.get(f"/v1/dispatches/{first}/params").json()
    assert (given["params"], given["editable"], given["reason"]) == (NOWHERE, True, None)
    assert given["params_schema"]["required"] == ["channel", "template"]
    answer = edit(door, first, LOG)
    assert answer.status_code == 200, answer.text
    retry = answer.json()
    assert (retry["edit_of"], retry["status"], retry["params"], retry["rule"]) == (first, "pending", LOG, "r")
    assert retry["edited_by"].startswith("key:")
    assert retry["event_id"] == door.get(f"/v1/dispatches/{first}").json()["event_id"]
    sweep(works, queue)
    assert status_of(door, first, retry["id"], second) == ["cancelled", "done", "done"]
    before = door.get(f"/v1/dispatches/{first}").json()
    assert (before["params"], before["edited_as"]) == (NOWHERE, retry["id"])
    assert "There is no channel 'none'" in before["error"]


def test_the_trace_of_the_event_shows_both(door: Doors, app: Database, works: Works) -> None:
    (first,) = failed(app, works)
    retry = edit(door, first, LOG).json()
    trace = door.get(f"/v1/events/{retry['event_id']}/trace").json()
    assert [(d["id"], d["edit_of"]) for d in trace["dispatches"]] == [(first, None), (retry["id"], first)]


def test_of_two_edits_at_once_one_is_refused(door: Doors, app: Database, works: Works) -> None:
    (first,) = failed(app, works)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: edit(door, first, {**LOG, "template": str(n)}), range(4)))
    assert sorted(one.status_code for one in answers) == [200, 409, 409, 409]
    assert len([d for d in shown(door) if d["edit_of"] == first]) == 1


def test_what_was_edited_is_not_retried_beside_its_edit(door: Doors, app: Database, works: Works) -> None:
    (first,) = failed(app, works)
    edit(door, first, LOG)
    problem(door.post(f"/v1/dispatches/{first}/retry"), 409)
    again = door.post("/v1/dispatches/replay", {"filter": {"status": "cancelled"}}).json()
    assert (again["matched"], again["ids"]) == (0, [])


@pytest.mark.parametrize(
    ("params", "pointer", "words"),
    [
        ({"channel": "none", "template": "x"}, "/params/channel", "allowed are: `log`"),
        ({"channel": "log"}, "/params/template", "required"),
        ({"channel": "log", "template": "x", "colour": "red"}, "/params/colour", "unknown field"),
        ({"channel": "log", "template": "x", "gathered": ["e1"]}, "/params/gathered", "leave it as it was"),
        ({"channel": "log", "template": "a\x00b"}, "/params/template", "NUL"),
    ],
)
def test_parameters_that_a_rule_could_not_have_are_refused_with_their_place(
    door: Doors, app: Database, works: Works, params: Json, pointer: str, words: str
) -> None:
    (first,) = failed(app, works)
    answer = edit(door, first, params, dry_run=True)
    assert answer.status_code == 422, answer.text
    assert [(p["pointer"], words in p["detail"]) for p in answer.json()["errors"]] == [(pointer, True)]
    assert status_of(door, first) == ["dead"]


def test_a_dry_run_changes_nothing(door: Doors, app: Database, works: Works) -> None:
    (first,) = failed(app, works)
    assert edit(door, first, LOG, dry_run=True).json()["id"] == first
    assert status_of(door, first) == ["dead"]
    assert len(shown(door)) == 1


def test_braces_in_a_text_are_no_template_any_more(door: Doors, app: Database, works: Works) -> None:
    (first,) = failed(app, works)
    words = "They wrote {{ and {{payload.x"
    assert edit(door, first, {**LOG, "template": words}).json()["params"]["template"] == words


def test_a_masked_value_stays_and_cannot_be_edited_in_part(door: Doors, app: Database, works: Works) -> None:
    secret = "My card is 4111 1111 1111 1111."
    (first,) = failed(app, works, params={**NOWHERE, "template": secret, "subject": "Card"})
    given = door.get(f"/v1/dispatches/{first}/params").json()["params"]
    assert "4111" not in given["template"]
    refused = edit(door, first, {**given, "channel": "log", "template": given["template"] + " Really."})
    assert [one["pointer"] for one in refused.json()["errors"]] == ["/params/template"]
    retry = edit(door, first, {**given, "channel": "log"}).json()["id"]
    with app.tenant(TENANT) as tx:
        kept = tx.execute(text("SELECT params FROM dispatches WHERE id = :id"), {"id": retry}).scalar_one()
    assert kept["template"] == secret


def test_what_was_approved_needs_an_approval_for_other_parameters(door: Doors, app: Database, works: Works) -> None:
    action = {"action_type": "notify", **NOWHERE, "channel": "log"}
    save(app, name="careful", action_mode="approve", actions=[action])
    accept(app, event(id="e1"))
    works.settle()
    (held,) = shown(door, hold="approval")
    door.post(f"/v1/dispatches/{held['id']}/approve")
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE dispatches SET params = params || \'{"channel": "none"}\''))
    works.run([DispatchRef(TENANT, "io", UUID(held["id"]))])
    retry = edit(door, held["id"], LOG).json()
    assert (retry["status"], retry["hold"]) == ("held", "approval")
    assert retry["expires_at"] is not None
    assert len(events_of(door, "approval.requested")) == 2
    editor = SignedRemark(Author(retry["edited_by"]))
    with app.tenant(TENANT) as tx, pytest.raises(Forbidden, match="edited"):
        dispatch_control.decide(tx, UUID(retry["id"]), "approved", editor, four_eyes=True)
    assert door.post(f"/v1/dispatches/{retry['id']}/approve").json()["status"] == "pending"


def test_who_may_not_edit_rules_may_not_edit_parameters(
    settings: Settings, door: Doors, app: Database, works: Works
) -> None:
    (first,) = failed(app, works)
    for scope in ("read", "write", "publish"):
        key = key_of(settings, TENANT, (scope,))
        assert door.post(f"/v1/dispatches/{first}/retry-edited", {"params": LOG}, key=key).status_code == 403
    assert status_of(door, first) == ["dead"]


def test_what_has_no_parameters_of_its_own_is_not_edited(door: Doors, app: Database) -> None:
    (lost,) = letters(app, "The rules failed.", action_type="decide", target="rules", rule=None)
    (done,) = letters(app, "x")
    door.post(f"/v1/dispatches/{done}/retry")
    assert "no parameters" in problem(edit(door, lost, {}), 409)
    assert "pending" in problem(edit(door, done, {}), 409)
    told = door.get(f"/v1/dispatches/{lost}/params").json()
    assert (told["editable"], "no parameters" in told["reason"]) == (False, True)


def test_a_retry_may_not_be_given_a_credential(door: Doors, app: Database, works: Works) -> None:
    (first,) = failed(app, works)
    answer = edit(door, first, {**LOG, "headers": {"Authorization": "Bearer zzz"}})
    assert answer.status_code == 422
    assert "/params/headers/Authorization" in {fault["pointer"] for fault in answer.json()["errors"]}
