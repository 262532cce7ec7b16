"""What was said last holds, whatever time it speaks of; what looks alike and differs in a number is kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import text

from core.memory import verdicts
from core.reflection import profile
from core.storage.db import Database
from tests.doors import Doors
from tests.samples import TENANT, accept, said
from tests.works import Works

AT_ONCE, ONE_BY_ONE = True, False


def tell(app: Database, works: Works, *lines: str, at_once: bool = ONE_BY_ONE) -> None:
    """Say these sentences, a minute apart; learn from each, or from all of them at once."""
    events = [said(line, time=f"2026-11-21T12:{n:02}:00+00:00") for n, line in enumerate(lines)]
    for batch in [events] if at_once else [[one] for one in events]:
        accept(app, *batch)
        works.settle()


def stored(app: Database, status: str = "active") -> list[Any]:
    with app.tenant(TENANT) as tx:
        query = "SELECT * FROM memories WHERE status = :status AND category <> 'episode' ORDER BY recorded_at, id"
        return list(tx.execute(text(query), {"status": status}))


def contents(app: Database, status: str = "active") -> list[str]:
    return [row.content for row in stored(app, status)]


def slot(app: Database, attribute: str, status: str = "active") -> list[str]:
    return [row.value for row in stored(app, status) if row.attribute == attribute]


def decided(app: Database) -> list[tuple[str, str]]:
    with app.tenant(TENANT) as tx:
        rows = verdicts.find(tx, verdicts.VerdictFilter("ada"))
        return [(row.kind, row.candidate["content"]) for row in rows]


def likes(app: Database) -> list[Any]:
    with app.tenant(TENANT) as tx:
        built = profile.get(tx, profile.ProfileOwner("ada"))
    lists = built.attributes.get("lists", {}) if built else {}
    return [
        (name, one["value"], one.get("negated", False))
        for name in ("likes", "dislikes", "prefers")
        for one in lists.get(name, [])
    ]


REPLACED = [
    (["I live in Bremen.", "I moved to Hamburg last month."], "home.city", "Hamburg", "Bremen"),
    (["I moved to Porto in June.", "I moved to Lisbon in March."], "home.city", "Lisbon", "Porto"),
    (
        ["I work at Hansa Bau.", "I no longer work at Hansa Bau; I started at Nordtec on 1 October."],
        "work.employer",
        "Nordtec",
        "Hansa Bau",
    ),
    (["I work as a teacher.", "Since 1 October I work as a pilot."], "work.role", "pilot", "teacher"),
    (["I am 34 years old.", "I turned 35 last week."], "age", "35", "34"),
    (["My favourite colour is teal.", "My favorite color is green."], "preference.color", "green", "teal"),
    (["我住在杭州。", "上个月我搬到了苏州。"], "home.city", "苏州", "杭州"),
]


@pytest.mark.parametrize("at_once", [AT_ONCE, ONE_BY_ONE])
@pytest.mark.parametrize(("lines", "attribute", "now", "before"), REPLACED)
def test_what_was_said_last_holds_whatever_time_it_speaks_of(
    app: Database, works: Works, lines: Sequence[str], attribute: str, now: str, before: str, *, at_once: bool
) -> None:
    tell(app, works, *lines, at_once=at_once)
    assert slot(app, attribute) == [now]
    assert slot(app, attribute, "superseded") == [before]
    old = next(row for row in stored(app, "superseded") if row.value == before)
    new = next(row for row in stored(app) if row.value == now)
    assert old.valid_to is not None
    assert old.valid_from is None or old.valid_from <= old.valid_to
    assert old.valid_to <= max(new.said_at, new.valid_from)


def test_a_state_ends_when_the_next_one_began(app: Database, works: Works) -> None:
    tell(app, works, "I live in Bremen.", "I moved to Hamburg on 1 October.")
    (old,) = stored(app, "superseded")
    assert (old.valid_from, f"{old.valid_to:%Y-%m-%d}") == (None, "2026-10-01")


@pytest.mark.parametrize(
    "past",
    [
        "I used to live in Paris.",
        "I lived in Kiel from 2010 to 2015.",
        "我以前住在上海。",
        "Before that I lived in Kiel.",
    ],
)
@pytest.mark.parametrize("at_once", [AT_ONCE, ONE_BY_ONE])
def test_a_closed_past_displaces_nothing(app: Database, works: Works, past: str, *, at_once: bool) -> None:
    tell(app, works, "I live in Bremen.", past, at_once=at_once)
    assert slot(app, "home.city") == ["Bremen"]


def test_what_arrives_late_does_not_overwrite_what_was_said_after_it(app: Database, works: Works) -> None:
    accept(app, said("I live in Hamburg.", time="2026-11-21T12:00:00+00:00"))
    works.settle()
    accept(app, said("I live in Bremen.", session="s0", time="2026-11-01T12:00:00+00:00"))
    works.settle()
    assert slot(app, "home.city") == ["Hamburg"]
    accept(app, said("I moved to Kiel yesterday.", session="s2", time="2026-11-10T12:00:00+00:00"))
    works.settle()
    assert slot(app, "home.city") == ["Hamburg"]


def test_what_was_said_again_since_outweighs_what_arrives_late(app: Database, works: Works) -> None:
    for day, line in ((1, "I live in Bremen."), (20, "I live in Bremen."), (10, "I live in Kiel.")):
        accept(app, said(line, session=f"s{day}", time=f"2026-11-{day:02}T12:00:00+00:00"))
        works.settle()
    assert slot(app, "home.city") == ["Bremen"]


KEPT_APART = [
    ["I closed ticket 1204.", "I closed ticket 1205."],
    ["I finished chapter 3.", "I finished chapter 4.", "I finished chapter 5."],
    [f"I paid {euros} euros for item K{euros}." for euros in range(10, 30)],
]


@pytest.mark.parametrize("at_once", [AT_ONCE, ONE_BY_ONE])
@pytest.mark.parametrize("lines", KEPT_APART)
def test_statements_that_differ_in_a_number_are_all_kept(
    app: Database, works: Works, lines: Sequence[str], *, at_once: bool
) -> None:
    tell(app, works, *lines, at_once=at_once)
    assert contents(app) == [line.replace("I ", "ada ", 1) for line in lines]


@pytest.mark.parametrize("at_once", [AT_ONCE, ONE_BY_ONE])
@pytest.mark.parametrize(
    "lines",
    [
        ["My room is 204.", "My room is now 310."],
        ["My cat is three years old.", "My cat is four years old."],
        ["My dog is six years old.", "Actually, my dog is seven years old."],
        ["My locker number is 17.", "My locker number is now 23."],
    ],
)
def test_the_later_number_of_one_thing_takes_the_place_of_the_earlier(
    app: Database, works: Works, lines: Sequence[str], *, at_once: bool
) -> None:
    tell(app, works, *lines, at_once=at_once)
    told = [line.removeprefix("Actually, ").replace("My ", "ada's ").replace("my ", "ada's ") for line in lines]
    assert contents(app) == told[1:]
    assert contents(app, "superseded") == told[:1]
    assert len(decided(app)) == 1


@pytest.mark.parametrize(
    "lines", [["My room is 204.", "My room is 310."], ["My locker number is 17.", "My locker number is 23."]]
)
def test_of_things_that_one_may_have_several_of_both_stay(app: Database, works: Works, lines: Sequence[str]) -> None:
    tell(app, works, *lines)
    assert contents(app) == [line.replace("My ", "ada's ") for line in lines]


TAKEN_BACK = [
    (["I like coffee.", "I no longer like coffee."], "coffee"),
    (["I like coffee.", "I don't like coffee any more."], "coffee"),
    (["I like coffee.", "I don't like coffee anymore."], "coffee"),
]


@pytest.mark.parametrize(
    ("lines", "thing", "at_once"),
    [
        *((lines, thing, at_once) for lines, thing in TAKEN_BACK for at_once in (AT_ONCE, ONE_BY_ONE)),
        # The hashed vectors of tests see no likeness in Chinese, so what is stored is not found by them.
        (["我喜欢咖啡。", "我不再喜欢咖啡了。"], "咖啡", AT_ONCE),
    ],
)
def test_what_is_taken_back_is_retired(
    app: Database, works: Works, lines: Sequence[str], thing: str, *, at_once: bool
) -> None:
    tell(app, works, *lines, at_once=at_once)
    assert len(contents(app)) == 1
    assert len(contents(app, "superseded")) == 1
    assert "likes" not in [name for name, value, negated in likes(app) if value == thing and not negated]
    assert len(decided(app)) == 1


def test_a_preference_that_is_turned_round_is_retired(app: Database, works: Works) -> None:
    tell(app, works, "I prefer short answers.", "I prefer long answers, not short answers.")
    assert contents(app) == ["Ada said: “I prefer long answers, not short answers.”"]
    assert likes(app) == [("prefers", "long answers", False)]


def test_what_is_denied_without_a_word_of_change_is_disputed(app: Database, works: Works) -> None:
    tell(app, works, "I like coffee.", "I do not like coffee.")
    assert {row.trust for row in stored(app)} == {"disputed"}
    assert [kind for kind, _ in decided(app)] == ["contradict"]


def test_an_ended_slot_is_vacant(app: Database, works: Works) -> None:
    tell(app, works, "I work at Hansa Bau.", "I no longer work at Hansa Bau.")
    assert slot(app, "work.employer") == []
    assert slot(app, "work.employer", "superseded") == ["Hansa Bau"]


# What was said once, in searches and contexts


MOVED = [
    "I live in Utrecht.",
    "My sister Nora plays the cello in an orchestra.",
    "I moved to Rotterdam.",
    "The weather here is awful today.",
]


def found(door: Doors, query: str, **more: Any) -> list[Any]:
    answer = door.post("/v1/search", {"user_id": "ada", "query": query, **more})
    assert answer.status_code == 200, answer.text
    results: list[Any] = answer.json()["results"]
    return results


@pytest.mark.parametrize("at_once", [AT_ONCE, ONE_BY_ONE])
def test_what_was_superseded_never_stands_before_what_holds(
    app: Database, door: Doors, works: Works, *, at_once: bool
) -> None:
    tell(app, works, *MOVED, at_once=at_once)
    results = found(door, "Where does Ada live in Utrecht?")
    places = {one["content"]: place for place, one in enumerate(results)}
    assert places["ada moved to Rotterdam."] < places["I live in Utrecht."]
    assert {one["content"]: one["superseded"] for one in results if one["type"] == "message"} == {
        "I live in Utrecht.": True,
        **dict.fromkeys(MOVED[1:], False),
    }


def test_a_chain_of_values_leads_to_the_last(app: Database, door: Doors, works: Works) -> None:
    tell(app, works, "I live in Utrecht.", "I moved to Rotterdam.", "I moved to Leiden.")
    results = found(door, "Where does Ada live in Utrecht?")
    places = {one["content"]: place for place, one in enumerate(results)}
    assert places["ada moved to Leiden."] < places["I live in Utrecht."]
    assert [one["superseded"] for one in results if one["type"] == "message"].count(True) == 2


def test_a_message_that_backs_something_else_as_well_is_not_superseded(
    app: Database, door: Doors, works: Works
) -> None:
    tell(app, works, "I live in Utrecht and I am allergic to peanuts.", "I moved to Rotterdam.")
    assert [one["superseded"] for one in found(door, "Utrecht") if one["type"] == "message"] == [False, False]


def test_what_was_asked_of_the_past_is_told_as_of_then(app: Database, door: Doors, works: Works) -> None:
    tell(app, works, "I live in Utrecht.", "I moved to Rotterdam.")
    results = found(door, "Where does Ada live?", as_of="2026-11-21T12:00:30+00:00", include=["memories"])
    assert [one["content"] for one in results] == ["ada lives in Utrecht."]


def test_a_context_marks_what_holds_no_longer_and_shows_the_best_hit(app: Database, door: Doors, works: Works) -> None:
    tell(app, works, *MOVED, *(f"I paid {n} euros for item K{n}." for n in range(2, 30)))
    query = "Where does Ada live?"
    best = found(door, query)[0]
    answer = door.post("/v1/context", {"user_id": "ada", "query": query, "max_tokens": 8000, "format": "text"})
    assert answer.status_code == 200, answer.text
    shown = answer.json()["text"]
    assert "Rotterdam" in shown
    assert best["content"] in shown
    assert all("no longer true" in line for line in shown.splitlines() if "Utrecht" in line)


def test_a_user_may_speak_under_a_name_of_another_case(app: Database, works: Works) -> None:
    accept(app, said("I moved to Lisbon in May.", session="s1"))
    works.settle()
    accept(app, said("I moved to Lisbon in May.", session="s2", speaker="Ada"))
    works.settle()
    assert contents(app) == ["ada moved to Lisbon in May 2026."]
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT target, error FROM dispatches WHERE error IS NOT NULL")).all() == []
