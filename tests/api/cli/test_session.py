from __future__ import annotations

from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import accept
from tests.samples import said as said_
from tests.works import Works


def test_a_session_and_a_profile_are_shown(imprint: Imprint, app: Database, works: Works) -> None:
    accept(app, said_("I live in Turin.", session="a/b"), said_("I like [tea].", session="a/b"))
    works.settle()
    assert imprint("session", "list", "--user", "ada").out.split()[:4] == ["a/b", "ada", "2", "open"]
    shown = imprint("session", "show", "a/b")
    assert [line in shown.out for line in ("I live in Turin.", "I like [tea].")] == [True, True], shown.err
    assert len(imprint("session", "show", "a/b", "--last", "1", "--json").json["messages"]["items"]) == 1
    assert "home.city  Turin" in imprint("user", "profile", "ada", "--fresh").out
    assert imprint("profile", "ada").out == imprint("user", "profile", "ada").out
    assert imprint("session", "show", "nowhere").code == 1
