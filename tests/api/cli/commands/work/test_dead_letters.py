from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import text

from core.storage.db import Database
from tests.api.http.dead import LOG, NOWHERE, failed, letters
from tests.commands import Imprint
from tests.samples import TENANT, accept
from tests.samples import said as said_
from tests.works import Works


def test_dead_letters_are_replayed_all_at_once(imprint: Imprint, app: Database, works: Works) -> None:
    accept(app, said_("I live in Turin."))
    works.settle()
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'dead', ended_at = now(), error = 'away'"))
        ids = set(map(str, tx.execute(text("SELECT id FROM dispatches")).scalars()))
    listed = imprint("dead", "list").out
    assert {line.split()[0] for line in listed.splitlines()} == {one[-8:] for one in ids}
    assert "away" in imprint("dead", "show", min(ids)[-8:]).out
    assert imprint("dead", "replay", min(ids)[-8:], "--json").json["items"] == [min(ids)]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'dead', ended_at = now()"))
    assert imprint("dead", "replay").code == 2
    assert set(imprint("dead", "replay", "--all", "--json").json["items"]) == ids
    assert "There is no such dead letter." in imprint("dead", "replay", "--all").err


def test_groups_are_listed_and_one_is_replayed(imprint: Imprint, app: Database) -> None:
    ids = letters(app, "timeout after 3 s", 2)
    letters(app, "no such host")
    [group] = [line.split()[0] for line in imprint("dead", "groups").out.splitlines() if "timeout" in line]
    assert set(imprint("dead", "replay", "--all", "--group", group, "--json").json["items"]) == set(ids)
    assert "no such host" in imprint("dead", "groups").out


def test_a_dead_letter_is_retried_with_the_parameters_of_a_file(
    imprint: Imprint, app: Database, works: Works, tmp_path: Path
) -> None:
    (one,) = failed(app, works)
    file = tmp_path / "params.json"
    file.write_text("{")
    refused = imprint("dead", "edit", one, "--params", str(file))
    assert (refused.code, "params.json is not JSON" in refused.err) == (2, True)
    file.write_text(json.dumps(NOWHERE))
    assert "allowed are" in imprint("dead", "edit", one, "--params", str(file), "--dry-run").err
    file.write_text(json.dumps(LOG))
    assert "valid" in imprint("dead", "edit", one, "--params", str(file), "--dry-run").err
    assert "is tried again as" in imprint("dead", "edit", one, "--params", str(file)).err
    assert imprint("dead", "list", "--json").json["items"] == []


def test_dead_letters_are_discarded_after_a_confirmation(imprint: Imprint, app: Database) -> None:
    letters(app, "timeout", 2)
    assert imprint("dead", "discard").code != 0
    assert len(imprint("dead", "list", "--json").json["items"]) == 2
    assert "2 dead letters are discarded." in imprint("dead", "discard", "--yes", "-m", "old").err
    assert imprint("dead", "list", "--json").json["items"] == []
