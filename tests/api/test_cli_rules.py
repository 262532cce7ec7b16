"""`imprint rules`: a look at what would change, and then the change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rules import defaults
from tests.commands import Imprint

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
    return {item["name"]: item["version"] for item in imprint("rules", "list", "--json").json}


def test_the_rules_in_force_are_listed_and_shown(imprint: Imprint) -> None:
    assert "consolidate_on_session_end" in imprint("rules", "list").out
    shown = imprint("rules", "show", "consolidate_on_session_end")
    assert (shown.code, '"payload.message_count"' in shown.out) == (0, True)
    assert imprint("rules", "show", "nobody").code == 1


def test_files_that_say_what_is_in_force_change_nothing(imprint: Imprint, folder: Path) -> None:
    said = imprint("rules", "apply", str(folder))
    assert (said.code, said.out) == (0, f"0 to create, 0 to change, {len(defaults.load())} as they are.\n")


def test_a_change_is_shown_as_a_difference_and_put_in_force(imprint: Imprint, folder: Path) -> None:
    changed = next(d for d in defaults.load() if d["name"] == "consolidate_on_session_end")
    changed["conditions"]["all"][0]["value"] = 7
    write(folder, changed)
    write(folder, RULE)
    said = imprint("rules", "apply", str(folder), "--yes")
    assert said.code == 0
    lines = [line.strip() for line in said.out.splitlines()]
    assert [line for line in lines if line.endswith((": 3", ": 7"))] == ['-        "value": 3', '+        "value": 7']
    assert "1 to create, 1 to change" in said.out
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
