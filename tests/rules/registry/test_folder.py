"""A tenant's rules as a folder of files, put in force as a whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from core.errors import Conflict, Invalid
from core.storage.db import Database
from core.types import Json
from rules.document.formatting import canonical_text
from rules.registry import defaults, folder, store
from rules.registry.folder import ImportStep
from rules.registry.limits import Allowed
from rules.registry.store import RuleEdit
from tests.rules.samples import RUN, a_document
from tests.samples import TENANT

DEFAULTS = sorted(str(document["name"]) for document in defaults.load())
EDIT = RuleEdit(TENANT, "test", "imported")


def plan(
    app: Database, files: Mapping[str, str], *, prune: bool = False, allowed: Allowed | None = None
) -> list[ImportStep]:
    with app.tenant(TENANT) as tx:
        return folder.plan(tx, files, allowed or Allowed(), prune=prune)


def put(app: Database, files: Mapping[str, str], *, prune: bool = False) -> dict[str, int]:
    with app.tenant(TENANT) as tx:
        steps = folder.plan(tx, files, Allowed(), prune=prune)
        return {stored.name: stored.version for stored in folder.apply(tx, steps, EDIT, Allowed())}


def exported(app: Database) -> dict[str, str]:
    with app.tenant(TENANT) as tx:
        return folder.export(store.in_force(tx))


def file_of(*documents: Json) -> str:
    return json.dumps(documents[0] if len(documents) == 1 else documents)


def does(steps: list[ImportStep]) -> dict[str, str]:
    return {step.name: step.does for step in steps if step.does != "keep"}


def faults(app: Database, files: Mapping[str, str]) -> list[str]:
    with pytest.raises(Invalid) as refused:
        plan(app, files)
    return [problem.pointer for problem in refused.value.problems]


def test_what_is_exported_is_the_canonical_text_and_changes_nothing_when_imported(app: Database) -> None:
    files = exported(app)
    assert sorted(files) == [f"{name}.json" for name in DEFAULTS]
    assert files["notify_important.json"] == canonical_text(json.loads(files["notify_important.json"]))
    assert does(plan(app, files, prune=True)) == {}
    assert put(app, files, prune=True) == {}
    assert exported(app) == files


def test_a_folder_creates_changes_and_only_if_asked_deletes(app: Database) -> None:
    kept = {name: written for name, written in exported(app).items() if name.startswith("extract")}
    files = {**kept, "new.json": file_of(a_document(name="one"), a_document(name="two"))}
    files["extract_important_now.json"] = files["extract_important_now.json"].replace("0.7", "0.8")
    changes = {"one": "create", "two": "create", "extract_important_now": "change"}
    assert does(plan(app, files)) == changes
    gone = {name: "delete" for name in DEFAULTS if not name.startswith("extract")}
    assert does(plan(app, files, prune=True)) == changes | gone
    assert put(app, files, prune=True) == {"one": 1, "two": 1, "extract_important_now": 2}
    with app.tenant(TENANT) as tx:
        assert [s.name for s in store.in_force(tx)] == ["extract_important_now", "extract_while_chatting", "one", "two"]
        assert store.versions(tx, "one")[0].comment == "imported"


def test_a_step_shows_the_lines_that_go_and_come(app: Database) -> None:
    put(app, {"a": file_of(a_document())})
    [step] = [s for s in plan(app, {"a": file_of(a_document(priority=3))}) if s.does == "change"]
    assert (step.version, step.diff.splitlines()[:2]) == (1, ["--- r v1", "+++ r"])
    assert '+  "priority": 3' in step.diff


def test_every_fault_of_every_file_is_named_with_its_place(app: Database) -> None:
    wrong = [a_document(name="a", colour=1), a_document(name="b", actions=[{**RUN, "target": "nobody"}])]
    files = {"one.json": "{", "t/w~o.json": file_of(*wrong), "three": "[3]", "four": "5", "fine": file_of(a_document())}
    assert faults(app, files) == [
        "/files/four",
        "/files/one.json",
        "/files/t~1w~0o.json/0/colour",
        "/files/t~1w~0o.json/1/actions/0/target",
        "/files/three/0",
    ]
    assert exported(app).keys() == {f"{name}.json" for name in DEFAULTS}


def test_the_same_rule_in_two_files_is_refused(app: Database) -> None:
    assert faults(app, {"a": file_of(a_document()), "b": file_of(a_document())}) == ["/files/a/name", "/files/b/name"]


def test_a_file_nested_without_end_is_a_fault_like_any_other(app: Database) -> None:
    assert faults(app, {"a": "[" * 100_000}) == ["/files/a"]


def test_a_plan_is_carried_out_only_as_it_was_shown(app: Database) -> None:
    steps = plan(app, {"a": file_of(a_document())}, prune=True)
    shown = {step.name: step.version for step in steps}
    folder.require_as_shown(steps, shown)
    put(app, {"b": file_of(a_document(name="theirs"))})
    later = plan(app, {"a": file_of(a_document())}, prune=True)
    with pytest.raises(Conflict, match="theirs"):
        folder.require_as_shown(later, shown)
    with pytest.raises(Conflict):
        folder.require_as_shown(steps, {**shown, "r": 1})


def test_a_rule_that_somebody_edited_meanwhile_stops_all_of_it(app: Database) -> None:
    put(app, {"a": file_of(a_document())})
    files = {"a": file_of(a_document(priority=1)), "n": file_of(a_document(name="new"))}
    steps = plan(app, files)
    put(app, {"a": file_of(a_document(priority=2))})
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        folder.apply(tx, steps, EDIT, Allowed())
    assert "new.json" not in exported(app)


def test_a_folder_of_too_many_rules_is_refused_and_pruning_makes_room(app: Database) -> None:
    few = Allowed(rules=len(DEFAULTS))
    files = {"a": file_of(*(a_document(name=f"r{n}") for n in range(len(DEFAULTS))))}
    with pytest.raises(Conflict, match="IMPRINT_RULES_PER_TENANT"):
        plan(app, files, allowed=few)
    with app.tenant(TENANT) as tx:
        steps = folder.plan(tx, files, few, prune=True)
        assert len(folder.apply(tx, steps, EDIT, few)) == len(DEFAULTS)
        assert len(store.in_force(tx)) == len(DEFAULTS)
