from __future__ import annotations

from sqlalchemy import text

from core.storage.db import Database
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
