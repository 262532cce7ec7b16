"""`imprint rules`: a look at what would change, and then the change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from rules.registry import defaults, store
from tests.commands import Imprint
from tests.samples import TENANT

RULE = {
    "name": "note_orders",
    "event_type": "order.placed",
    "actions": [{"action_type": "notify", "channel": "log", "template": "{{payload.n}}"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The default rules as files."""
    for document in defaults.load():
        write(tmp_path, document)
    return tmp_path


def write(folder: Path, document: dict[str, Any]) -> Path:
    file = folder / f"{document['name']}.json"
    file.write_text(json.dumps(document))
    return file


def in_force(imprint: Imprint) -> dict[str, int]:
    return {item["name"]: item["version"] for item in imprint("rules", "list", "--json").json["items"]}


def test_the_rules_in_force_are_listed_and_shown(imprint: Imprint) -> None:
    assert "consolidate_on_session_end" in imprint("rules", "list").out
    shown = imprint("rules", "show", "consolidate_on_session_end")
    assert (shown.code, '"payload.message_count"' in shown.out) == (0, True)
    assert imprint("rules", "show", "nobody").code == 1


def test_files_that_say_what_is_in_force_change_nothing(imprint: Imprint, folder: Path) -> None:
    said = imprint("rules", "apply", str(folder))
    assert (said.code, said.out) == (0, f"Nothing to change: {len(defaults.load())} rules as they are.\n")


def test_a_change_is_shown_as_a_difference_and_put_in_force(imprint: Imprint, folder: Path) -> None:
    changed = next(d for d in defaults.load() if d["name"] == "consolidate_on_session_end")
    changed["conditions"]["all"][0]["value"] = 7
    write(folder, changed)
    write(folder, RULE)
    said = imprint("rules", "apply", str(folder), "--yes")
    assert said.code == 0
    lines = [line.strip() for line in said.out.splitlines()]
    assert [line[0] for line in lines if '"value": 3}' in line or '"value": 7}' in line] == ["-", "+"]
    assert "1 to create, 1 to change, 0 to delete" in said.out
    assert in_force(imprint)["consolidate_on_session_end"] == 2
    assert in_force(imprint)["note_orders"] == 1


def test_the_plan_as_json_changes_nothing_without_yes(imprint: Imprint, tmp_path: Path) -> None:
    file = write(tmp_path, RULE)
    answer = imprint("rules", "apply", str(file), "--json").json
    assert [(step["name"], step["does"]) for step in answer["plan"]] == [("note_orders", "create")]
    assert (answer["applied"], "note_orders" in in_force(imprint)) == ([], False)
    answer = imprint("rules", "apply", str(file), "--json", "--yes").json
    assert (answer["applied"], in_force(imprint)["note_orders"]) == ([{"name": "note_orders", "version": 1}], 1)


def test_where_nobody_can_be_asked_yes_must_be_given(imprint: Imprint, tmp_path: Path) -> None:
    said = imprint("rules", "apply", str(write(tmp_path, RULE)))
    assert (said.code, "add --yes" in said.err) == (2, True)
    assert "note_orders" not in in_force(imprint)


def test_one_bad_rule_keeps_all_of_them_out_and_every_fault_is_named(imprint: Imprint, tmp_path: Path) -> None:
    write(tmp_path, RULE)
    file = tmp_path / "more.json"
    run = {"action_type": "run_agent", "target": "nobody"}
    file.write_text(json.dumps([{**RULE, "name": "a", "actions": [run]}, {**RULE, "name": "b", "colour": "red"}]))
    said = imprint("rules", "apply", str(tmp_path), "--yes")
    assert said.code == 1
    assert f"{file}/0/actions/0/target" in said.err
    assert f"{file}/1/colour" in said.err
    assert "note_orders" not in in_force(imprint)


@pytest.mark.parametrize("content", ["{", "[1]", '"x"'])
def test_a_file_that_holds_no_rule_is_named(imprint: Imprint, tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    said = imprint("rules", "apply", str(tmp_path), "--yes")
    assert (said.code, "x.json" in said.err) == (1, True)


def test_the_same_rule_in_two_files_is_refused(imprint: Imprint, tmp_path: Path) -> None:
    write(tmp_path, RULE)
    (tmp_path / "again.json").write_text(json.dumps(RULE))
    said = imprint("rules", "apply", str(tmp_path), "--yes")
    assert (said.code, "in more than one place" in said.err) == (1, True)


def test_a_folder_without_rules_is_an_error(imprint: Imprint, tmp_path: Path) -> None:
    assert imprint("rules", "apply", str(tmp_path)).code == 1
    assert imprint("rules", "apply", str(tmp_path / "nowhere")).code == 1


def test_a_folder_that_was_exported_changes_nothing_and_is_exported_byte_for_byte(
    imprint: Imprint, tmp_path: Path
) -> None:
    assert imprint("rules", "apply", str(write(tmp_path, RULE)), "--yes").code == 0
    one, other = tmp_path / "one", tmp_path / "deep" / "other"
    said = imprint("rules", "export", str(one))
    assert (said.code, f"Wrote {len(defaults.load()) + 1} rules" in said.err) == (0, True)
    assert "Nothing to change" in imprint("rules", "apply", str(one), "--prune").out
    assert imprint("rules", "export", str(other)).code == 0
    files = {file.name: file.read_bytes() for file in one.iterdir()}
    assert {file.name: file.read_bytes() for file in other.iterdir()} == files
    assert "note_orders.json" in files


def test_pruning_deletes_what_no_file_has(imprint: Imprint, folder: Path) -> None:
    imprint("rules", "apply", str(write(folder, RULE)), "--yes")
    (folder / "note_orders.json").unlink()
    assert "Nothing to change" in imprint("rules", "apply", str(folder)).out
    said = imprint("rules", "apply", str(folder), "--prune", "--yes", "--comment", "tidy")
    assert (said.code, "1 to delete" in said.out, "Deleted: note_orders" in said.out) == (0, True, True)
    assert "note_orders" not in in_force(imprint)
    newest = imprint("rules", "history", "note_orders", "--json").json["items"][0]
    assert (newest["rule"], newest["comment"]) == (None, "tidy")


def test_one_bad_file_of_a_folder_keeps_the_good_ones_out(imprint: Imprint, tmp_path: Path) -> None:
    write(tmp_path, RULE)
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xe9"}')
    said = imprint("rules", "apply", str(tmp_path), "--yes")
    assert (said.code, "latin.json is not UTF-8 text" in said.err) == (1, True)
    assert "note_orders" not in in_force(imprint)


def test_what_will_not_do_as_meant_is_said_before_it_is_in_force(imprint: Imprint, tmp_path: Path) -> None:
    loop = {**RULE, "actions": [{"action_type": "emit", "event_type": "order.placed"}]}
    said = imprint("rules", "apply", str(write(tmp_path, loop)), "--yes")
    assert (said.code, "note_orders /actions/0: `emit` leads to `order.placed`" in said.err) == (0, True)


def test_a_rule_is_tried_on_an_event_with_the_values_that_were_there(imprint: Imprint, tmp_path: Path) -> None:
    ended = {"event_type": "session.ended", "payload": {"session_id": "s1", "user_id": "ada", "message_count": 2}}
    event = tmp_path / "event"
    event.write_text(json.dumps(ended))
    said = imprint("rules", "test", "consolidate_on_session_end", "--event", str(event))
    assert (said.code, "does not match" in said.out) == (0, True)
    assert "✗ payload.message_count >= 3 is 2" in said.out
    ended["payload"]["message_count"] = 3  # type: ignore[index]
    said = imprint("rules", "test", "consolidate_on_session_end", "--event", "-", stdin=json.dumps(ended))
    assert ("✓ payload.message_count >= 3 is 3" in said.out, "memory_consolidator" in said.out) == (True, True)


def test_a_draft_is_tried_from_its_file(imprint: Imprint, tmp_path: Path) -> None:
    leaf = {"field": "payload.items", "op": "any_of", "value": {"field": "item.sku", "op": "==", "value": "a"}}
    draft = write(tmp_path, {**RULE, "conditions": leaf, "enabled": False, "flow": {"cooldown": {"seconds": 9}}})
    order = {"event_type": "order.placed", "payload": {"items": [{"sku": "b"}, {"sku": "a"}], "n": 5}}
    said = imprint("rules", "test", str(draft), "--event", "-", stdin=json.dumps(order))
    assert "held back by disabled" in said.out
    assert ['✗ item.sku == "a" is "b"' in said.out, '✓ item.sku == "a" is "a"' in said.out] == [True, True]
    assert "cooldown for the key of the tenant" in said.out
    assert '"template": 5' in said.out
    answer = imprint("rules", "test", str(draft), "--event", "-", "--json", stdin=json.dumps(order)).json
    assert (answer["matched"], answer["held_by"]) == (True, "disabled")
    other = {**order, "event_type": "order.refused"}
    assert "does not match" in imprint("rules", "test", str(draft), "-e", "-", stdin=json.dumps(other)).out


@pytest.mark.parametrize("event", ["{", "[]"])
def test_an_event_that_is_none_is_an_error(imprint: Imprint, event: str) -> None:
    assert imprint("rules", "test", "notify_important", "--event", "-", stdin=event).code == 1


def test_the_history_shows_who_why_and_what(imprint: Imprint, tmp_path: Path) -> None:
    imprint("rules", "apply", str(write(tmp_path, RULE)), "--yes", "-m", "we sell now")
    imprint("rules", "apply", str(write(tmp_path, {**RULE, "priority": 4})), "--yes")
    said = imprint("rules", "history", "note_orders")
    assert [word in said.out for word in ("v2", "v1", "we sell now", '+  "priority": 4')] == [True] * 4
    assert imprint("rules", "history", "nobody").code == 1


def test_a_rollback_shows_the_difference_and_puts_the_old_words_in_force(imprint: Imprint, tmp_path: Path) -> None:
    imprint("rules", "apply", str(write(tmp_path, RULE)), "--yes")
    imprint("rules", "apply", str(write(tmp_path, {**RULE, "priority": 4})), "--yes")
    assert imprint("rules", "rollback", "note_orders", "1").code == 2
    said = imprint("rules", "rollback", "note_orders", "1", "--yes", "--comment", "too loud")
    assert (said.code, '-  "priority": 4' in said.out, "note_orders v3" in said.out) == (0, True, True)
    assert imprint("rules", "history", "note_orders", "--json").json["items"][0]["comment"] == "too loud"
    assert "Nothing to change" in imprint("rules", "rollback", "note_orders", "1", "--yes").out
    assert imprint("rules", "rollback", "note_orders", "9", "--yes").code == 1


def test_a_deleted_rule_comes_back_by_a_rollback(imprint: Imprint, folder: Path) -> None:
    (folder / "notify_important.json").unlink()
    assert imprint("rules", "apply", str(folder), "--prune", "--yes").code == 0
    assert imprint("rules", "rollback", "notify_important", "1", "--yes").code == 0
    assert in_force(imprint)["notify_important"] == 3


def test_figures_stand_in_a_table_and_as_json(imprint: Imprint) -> None:
    said = imprint("rules", "stats")
    assert [name in said.out for name in ("notify_important", "extract_while_chatting")] == [True, True]
    assert imprint("rules", "stats", "notify_important", "--json").json["fired"] == 0
    assert "last acted" in imprint("rules", "stats", "notify_important").out
    assert imprint("rules", "stats", "nobody").code == 1


def test_high_risk_is_allowed_and_no_longer(imprint: Imprint, tmp_path: Path) -> None:
    risky = write(tmp_path, {**RULE, "risk_level": "high"})
    said = imprint("rules", "apply", str(risky), "--yes")
    assert (said.code, "allow-high-risk on" in said.err) == (1, True)
    assert "may run without approval" in imprint("rules", "allow-high-risk", "on").err
    assert imprint("rules", "apply", str(risky), "--yes").code == 0
    assert "never run" in imprint("rules", "allow-high-risk", "off").err
    assert imprint("rules", "allow-high-risk", "perhaps").code == 2


def test_an_upgrade_gives_every_tenant_the_default_rules_it_never_had(
    imprint: Imprint, settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.database_url
    monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("IMPRINT_EMBEDDING", "hash")
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "notify_important", author="test")
        for table in ("rules", "rule_versions"):
            tx.execute(text(f"UPDATE {table} SET name = 'mine' WHERE name = 'extract_important_now'"))
            tx.execute(text(f"DELETE FROM {table} WHERE name = 'change_on_request'"))
    said = imprint("db", "upgrade")
    new = "change_on_request, extract_important_now"
    assert (said.code, f"New default rules in {TENANT}: {new}" in said.err) == (0, True)
    assert {"mine", "change_on_request", "extract_important_now"} <= set(in_force(imprint))
    assert "notify_important" not in in_force(imprint)
    assert f"in {TENANT}" not in imprint("db", "upgrade").err


@pytest.mark.parametrize(
    ("event", "place", "detail"),
    [
        ({"event_type": "mess age", "payload": {}}, "/event_type", "match"),
        ({"event_type": "message.added", "payload": {"role": "user"}}, "/payload/content", "is required"),
        ({"type": "a.b", "payload": {}}, "/type", "`event_type` in its place"),
        ({"event_typ": "a.b"}, "/event_typ", "did you mean `event_type`?"),
    ],
)
def test_a_fault_of_the_event_leads_into_its_file(
    imprint: Imprint, tmp_path: Path, event: dict[str, Any], place: str, detail: str
) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))
    tried = imprint("rules", "test", "track_plans", "--event", str(file))
    assert (tried.code, tried.out) == (1, "")
    assert f"{file}{place}: " in tried.err.replace("\n", "")
    assert detail in tried.err


def test_a_fault_of_a_draft_leads_into_its_file(imprint: Imprint, tmp_path: Path) -> None:
    draft, event = write(tmp_path, {**RULE, "priority": "high"}), tmp_path / "e.json"
    event.write_text('{"event_type": "order.placed"}')
    tried = imprint("rules", "test", str(draft), "--event", str(event))
    assert f"{draft}/priority: must be" in tried.err.replace("\n", "")


def test_trying_a_rule_shows_what_will_not_do_as_meant(imprint: Imprint, tmp_path: Path) -> None:
    draft = write(tmp_path, {**RULE, "event_type": "mesage.added"})
    event = tmp_path / "e.json"
    event.write_text('{"event_type": "order.placed"}')
    tried = imprint("rules", "test", str(draft), "--event", str(event))
    assert tried.code == 0
    assert "did you mean `message.added`?" in tried.err
