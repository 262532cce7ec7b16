"""`imprint search`, `imprint memory`, `imprint dead`."""

from __future__ import annotations

from sqlalchemy import text

from core.storage.db import Database
from tests.commands import Imprint
from tests.core.summaries.conversations import HIKE, talk, wrote
from tests.samples import TENANT, accept, accept_all, ended, said
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


def test_explain_says_what_was_looked_at_and_how(imprint: Imprint, app: Database) -> None:
    accept(app, said("I live in Turin."), said("I like [tea]."))
    shown = imprint("search", "Turin", "--user", "ada", "--explain", "--method", "keyword", "--recipe", "broad").out
    assert "broad, keyword: " in shown
    assert "2 message" in shown
    assert "include documents memories messages" in shown
    assert "1. by lexical" in shown


def test_a_recipe_says_how_many_and_the_limit_stands_above_it(imprint: Imprint, app: Database) -> None:
    accept_all(app, [said(f"I live in Turin, house {n}.") for n in range(14)])
    asked = ("search", "Turin", "--user", "ada", "--json")
    assert len(imprint(*asked).json["results"]) == 10
    assert len(imprint(*asked, "--recipe", "broad").json["results"]) == 14
    assert len(imprint(*asked, "--recipe", "broad", "--limit", "3").json["results"]) == 3
    assert imprint(*asked, "--recipe", "magic").code == 2


def test_results_are_shown_by_session(imprint: Imprint, app: Database) -> None:
    accept(app, said("I live in Turin."), said("Turin has trams.", session="s[2]"), said("Turin is old."))
    shown = imprint("search", "Turin", "--user", "ada", "--group-by", "session")
    lines = [line.split()[0] for line in shown.out.splitlines() if line.startswith("s")]
    assert sorted(lines) == ["s1", "s[2]"]
    assert shown.out.count("message") == 3
    groups = imprint("search", "Turin", "--user", "ada", "--group-by", "session", "--json").json["groups"]
    assert {group["session_id"]: len(group["results"]) for group in groups} == {"s1": 2, "s[2]": 1}


def test_the_next_page_is_asked_for_with_what_the_first_has_shown(imprint: Imprint, app: Database) -> None:
    accept_all(app, [said(f"I live in Turin, house {n}.") for n in range(3)])
    asked = ("search", "Turin", "--user", "ada", "--limit", "2")
    shown = imprint(*asked).out
    after = shown.partition("More: --after ")[2].strip()
    first = imprint(*asked, "--json").json
    assert first["next"]
    last = imprint(*asked, "--after", after, "--json").json
    assert last["next"] is None
    assert len({one["content"] for one in first["results"] + last["results"]}) == 3
    assert "More:" not in imprint(*asked, "--after", after).out
    wrong = imprint("search", "trams", "--user", "ada", "--after", after)
    assert (wrong.code, "/after" in wrong.err) == (1, True)


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
    assert "There are no dead letters." in imprint("dead", "list").err
    learn(app, works)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("UPDATE dispatches SET status = 'dead', error = 'no [luck]' WHERE target = 'memory_consolidator'")
        )
    [item] = imprint("dead", "list", "--json").json["items"]
    assert item["error"] == "no [luck]"
    assert "no [luck]" in imprint("dead", "list").out
    assert "consolidate_on_session_end" in imprint("dead", "show", item["id"]).out


def test_units_are_shown_with_their_subject(imprint: Imprint, app: Database) -> None:
    accept_all(app, talk(HIKE))
    wrote(app)
    found = imprint("search", "the hike on the trail", "--user", "ada", "--include", "units", "--include", "memories")
    assert found.code == 0
    assert " unit " in found.out
    assert "trail" in found.out
    assert " message " not in found.out
    assert imprint("search", "x", "--user", "ada", "--include", "everything").code == 2


def test_results_are_shown_by_group(imprint: Imprint, app: Database) -> None:
    accept(app, said("I live in Turin.", group_id="team"), said("Turin is cold."))
    lines = imprint("search", "Turin", "--user", "ada", "--group-by", "group").out.splitlines()
    assert {line.split()[0] for line in lines if line and not line.startswith(" ")} >= {"team", "no"}


def test_a_search_is_narrowed_by_fields(imprint: Imprint, app: Database) -> None:
    accept(
        app, said("I live in Turin.", metadata={"project": "atlas"}), said("I like Turin.", metadata={"project": "x"})
    )
    shown = imprint("search", "Turin", "--user", "ada", "--metadata", '{"project": "atlas"}').out
    assert "I live in Turin." in shown
    assert "I like Turin." not in shown
    refused = imprint("search", "Turin", "--user", "ada", "--metadata", "atlas")
    assert refused.code == 2
    assert "--metadata is no JSON" in refused.err
