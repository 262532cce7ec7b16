"""`imprint search`, `imprint memory`, `imprint dead`."""

from __future__ import annotations

from sqlalchemy import text

from core.db import Database
from tests.commands import Imprint
from tests.samples import TENANT, accept, ended, said
from tests.works import Works


def learn(app: Database, works: Works) -> None:
    accept(app, said("I live in Turin.", speaker="Ada"), ended(message_count=3))
    works.settle()


def test_what_is_known_is_shown_with_its_words(imprint: Imprint, app: Database, works: Works) -> None:
    learn(app, works)
    shown = imprint("search", "Where does Ada live?", "--user", "ada")
    assert shown.code == 0
    assert "memory Ada lives in Turin." in shown.out
    assert "“I live in Turin.” s1" in shown.out


def test_explain_shows_what_made_the_score(imprint: Imprint, app: Database, works: Works) -> None:
    learn(app, works)
    assert "lexical" in imprint("search", "Turin", "--user", "ada", "--explain").out
    assert "lexical" not in imprint("search", "Turin", "--user", "ada").out


def test_a_search_needs_to_know_whose_memory(imprint: Imprint) -> None:
    assert imprint("search", "Turin").code == 2


def test_a_message_is_found_before_anyone_has_worked_on_it(imprint: Imprint, app: Database) -> None:
    accept(app, said("I live in Turin."))
    [found] = imprint("search", "Turin", "--user", "ada", "--method", "keyword", "--json").json["results"]
    assert (found["type"], found["content"]) == ("message", "I live in Turin.")


def test_a_memory_says_why_it_exists(imprint: Imprint, app: Database, works: Works) -> None:
    learn(app, works)
    memory = imprint("search", "Turin", "--user", "ada", "--json").json["results"][0]
    shown = imprint("memory", "show", memory["id"])
    assert (shown.code, "home.city" in shown.out) == (0, True)
    why = imprint("memory", "why", memory["id"])
    assert why.code == 0
    for word in ("Ada lives in Turin.", "“I live in Turin.”", "session.ended", "consolidate_on_session_end v1"):
        assert word in why.out


def test_a_memory_that_is_not_there_fails(imprint: Imprint) -> None:
    said_ = imprint("memory", "show", "01a20095-28b8-75d5-9892-47ddf4802c74")
    assert (said_.code, "There is no memory" in said_.err) == (1, True)


def test_what_was_given_up_is_listed_with_its_reason(imprint: Imprint, app: Database, works: Works) -> None:
    assert "Nothing was given up." in imprint("dead", "list").err
    learn(app, works)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("UPDATE dispatches SET status = 'dead', error = 'no [luck]' WHERE target = 'memory_consolidator'")
        )
    [item] = imprint("dead", "list", "--json").json
    assert item["error"] == "no [luck]"
    assert "no [luck]" in imprint("dead", "list").out
    assert "consolidate_on_session_end" in imprint("dead", "show", item["id"]).out
