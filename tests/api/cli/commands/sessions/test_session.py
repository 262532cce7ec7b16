from __future__ import annotations

from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import accept
from tests.samples import said as said_
from tests.works import Works

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/roof.png"}, "name": "roof.png"}


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


def test_names_of_files_are_shown_with_their_message_once(imprint: Imprint, app: Database) -> None:
    parts = {"content": [{"type": "text", "text": "This is my roof."}, PICTURE]}
    accept(app, said_("", message_id="m1") | {"payload": said_("")["payload"] | parts})
    accept(app, said_("See [file: plan.pdf]", message_id="m2", metadata={"files": ["plan.pdf", "cost.xls"]}))
    shown = imprint("session", "show", "s1").out
    assert "This is my roof. [file: roof.png]" in shown
    assert "See [file: plan.pdf] [file: cost.xls]" in shown
    items = imprint("session", "show", "s1", "--json").json["messages"]["items"]
    assert [one["attachments"] for one in items] == [["roof.png"], ["plan.pdf", "cost.xls"]]


def test_messages_of_two_users_in_a_session_without_a_group_are_warned_of(imprint: Imprint, app: Database) -> None:
    accept(app, said_("Hello.", session="shared"), said_("Hi.", session="shared", user="bob"))
    accept(app, said_("Hello.", session="club", group_id="g"), said_("Hi.", session="club", user="bob", group_id="g"))
    assert "messages of several users (ada, bob) and no group" in imprint("session", "show", "shared").err
    assert "several users" not in imprint("session", "show", "club").err
    session = imprint("session", "show", "club", "--json").json
    assert (session["users"], session["warnings"]) == (["ada", "bob"], [])
