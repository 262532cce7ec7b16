"""`imprint memory forgettings` and `imprint memory unforget`."""

from __future__ import annotations

from core.storage.db import Database
from tests.commands import Imprint
from tests.core.undo_windows import allow_undo
from tests.samples import accept_all, said
from tests.works import Works


def test_what_was_forgotten_is_listed_and_brought_back(imprint: Imprint, app: Database, works: Works) -> None:
    assert "Nothing that was forgotten can be undone." in imprint("memory", "forgettings").err
    allow_undo(app)
    accept_all(app, [said("My PIN is 671498."), said("Please forget 671498.")])
    works.settle()
    (one,) = imprint("memory", "forgettings", "--user", "ada", "--json").json["items"]
    listed = imprint("memory", "forgettings").out
    assert [listed.startswith(f"{one['id'][-8:]}  ada "), "2 messages" in listed] == [True, True]
    assert "Brought back: 2 messages" in imprint("memory", "unforget", one["id"][-8:]).out
    assert imprint("memory", "unforget", one["id"]).code == 1
