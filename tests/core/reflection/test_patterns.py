from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.erasure import memory as erasure_memory
from core.errors import Never
from core.memory import memories
from core.memory.changes import Archive, Edit
from core.reflection import generalization, patterns, recurrence
from core.storage.db import Database
from core.types import Category, Evidence, Json, Topic
from core.undo import undo
from tests.core.reflection.series import EMBEDDER, RUNS, TOKYO, drawn, found, in_turn, said
from tests.factories import ADA, NOW, PERSON, carry_out, changes_of, memory_row
from tests.samples import TENANT, accept
from tests.samples import said as said_message


def parts_of(app: Database, memory: Any) -> int:
    count = text("SELECT count(*) FROM relations WHERE from_id = :id AND relation = 'derived_from'")
    with app.tenant(TENANT) as tx:
        return int(tx.execute(count, {"id": memory.id}).scalar_one())


def quotes(app: Database, memory: Any) -> set[str]:
    with app.tenant(TENANT) as tx:
        return {one.quote for one in memories.evidence(tx, [memory.id])[memory.id]}


def test_what_comes_again_is_a_pattern_that_rests_on_all_of_it(app: Database) -> None:
    mine = in_turn(RUNS[:4], topic=Topic.HABIT)
    carry_out(app, *mine)
    assert found(app) == {"looked_at": 4, "derived": 1}
    (one,) = drawn(app)
    assert (one.category, one.topic, one.subject, one.level) == ("pattern", "habit", "ada", 1)
    span = f"from {NOW:%Y-%m-%d} to {NOW + timedelta(days=9):%Y-%m-%d}"
    assert one.content == f"ada, often: running (on 4 days {span})."
    assert quotes(app, one) == set(RUNS[:4])
    assert parts_of(app, one) == 4
    assert {memory_row(app, add.id).status for add in mine} == {"active"}


def test_of_many_memories_a_pattern_cites_few_spread_over_its_days(app: Database) -> None:
    mine = [f"Ada went running in {place}." for place in "Porto Lima Oslo Bonn Rome Cork Graz Lyon Nice Bari".split()]
    carry_out(app, *in_turn(mine))
    found(app)
    (one,) = drawn(app)
    assert len(quotes(app, one)) == recurrence.CITED
    assert quotes(app, one) >= {mine[0], mine[-1]}
    assert parts_of(app, one) == len(mine)


def test_a_pattern_that_grew_still_cites_few(app: Database) -> None:
    mine = [f"Ada went running in {place}." for place in "Porto Lima Oslo Bonn Rome Cork Graz Lyon Nice Bari".split()]
    carry_out(app, *in_turn(mine[:6]))
    found(app)
    carry_out(app, *in_turn(mine[6:], first=6))
    assert found(app) == {"looked_at": 4, "replaced": 1}
    (one,) = drawn(app)
    assert len(quotes(app, one)) == recurrence.CITED
    assert "on 10 days" in one.content


def test_running_twice_adds_nothing(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:5]))
    found(app)
    before = drawn(app)
    assert found(app) == {"looked_at": 0}
    assert found(app, since="1900-01-01T00:00:00+00:00") == {"looked_at": 5}
    assert drawn(app) == before


def test_what_has_no_word_in_common_is_no_pattern(app: Database) -> None:
    near = EMBEDDER.embed(["something"])[0]
    alone = in_turn(["Bread rises.", "Cats sleep.", "Rain falls.", "He sang."])
    carry_out(app, *(replace(add, vector=near) for add in alone))
    assert found(app) == {"looked_at": 4}


def test_more_of_it_refreshes_the_pattern_in_place(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app)
    (before,) = drawn(app)
    carry_out(app, *in_turn(RUNS[4:], first=4))
    assert found(app) == {"looked_at": 2, "replaced": 1}
    (after,) = drawn(app)
    assert (after.id, after.version) == (before.id, 2)
    assert "on 6 days" in after.content
    assert quotes(app, after) == set(RUNS[:4])
    assert parts_of(app, after) == 6
    assert found(app) == {"looked_at": 2}
    assert changes_of(app, after.id) == ["derive", "replace"]


def test_a_pattern_without_a_theme_gets_one_and_its_words(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app)
    (before,) = drawn(app)
    with app.tenant(TENANT) as tx:
        forget = "UPDATE memories SET structured = structured #- '{pattern,theme}' #- '{pattern,days}' WHERE id = :id"
        tx.execute(text(forget), {"id": before.id})
    since = "1900-01-01T00:00:00+00:00"
    assert found(app, since=since) == {"looked_at": 4, "replaced": 1}
    (after,) = drawn(app)
    assert (after.id, after.structured["pattern"]["theme"]) == (before.id, "run")
    assert set(after.structured) == {"pattern", "activity", "often", "days_of_week", "hours"}
    assert after.structured["activity"] == "running"
    assert found(app, since=since) == {"looked_at": 4}


def test_a_pattern_that_someone_put_away_does_not_come_back(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app)
    (one,) = drawn(app)
    carry_out(app, Archive(one.id, 1, "no"))
    carry_out(app, *in_turn(RUNS[4:], first=4))
    assert found(app) == {"looked_at": 2}
    assert [each.status for each in drawn(app)] == ["archived"]


def test_a_pattern_that_was_undone_does_not_come_back_nor_stand_in_the_way(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app)
    (one,) = drawn(app)
    with app.tenant(TENANT) as tx:
        change = memories.history(tx, one.id)[0].change_id
    assert change is not None
    undo.carry_out(app, EMBEDDER, TENANT, change, PERSON)
    carry_out(app, *in_turn(RUNS[4:], first=4), *in_turn(TOKYO, subject="Initech", category=Category.FACT))
    assert found(app, by_model("knowledge", OFFICE))["derived"] == 1
    assert [(each.category, each.status) for each in drawn(app)][1:] == [("knowledge", "active")]
    assert drawn(app)[0].status != "active"


def test_a_persons_own_words_for_a_pattern_stay(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app)
    (one,) = drawn(app)
    carry_out(app, Edit(one.id, 1, {"content": "Ada is a runner."}, "shorter"))
    carry_out(app, *in_turn(RUNS[4:], first=4))
    found(app)
    assert [each.content for each in drawn(app)] == ["Ada is a runner."]


def test_only_what_is_new_is_looked_at_with_what_lies_near_it(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]), *in_turn(TOKYO[:3], subject="Initech", category=Category.FACT))
    assert found(app) == {"looked_at": 7, "derived": 1}
    carry_out(app, said(TOKYO[3], 9, subject="Initech", category=Category.FACT))
    assert found(app, by_model("knowledge", OFFICE)) == {"looked_at": 1, "derived": 1}


def test_all_since_a_time_is_looked_at_page_by_page(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "NEW", 4)
    for number, content in enumerate([*RUNS, *TOKYO[:1]]):
        carry_out(app, said(content, number))
    since: str | None = "1900-01-01T00:00:00+00:00"
    looked = []
    while since:
        page = patterns.find(app, TENANT, "ada", EMBEDDER, generalization.by_rules, since)
        looked.append(page.looked_at)
        since = page.since
    assert looked == [4, 3]


class Asking:
    """A model's client that answers as a test says."""

    def __init__(self, answer: Callable[[], Json] | Json | None) -> None:
        self.answer = answer

    def ask(self, prompt: str, system: str, asked: str, shape: Any, on_call: object) -> Any:
        if self.answer is None:
            raise Never("It missed the shape twice.")
        return shape.model_validate(self.answer)


def by_model(category: str, statement: str) -> Any:
    return generalization.by_model(Asking({"category": category, "statement": statement}), lambda _: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statement", "taken"),
    [
        ("Ada goes running by the river, often in company.", True),
        ("Ada runs with Bob, Carla, Ines and Tom.", True),
        ("Ada runs 4 times a week.", False),
        ("Ada runs with Pete.", False),
    ],
)
def test_a_models_words_are_taken_where_they_bring_no_name(app: Database, statement: str, taken: bool) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app, by_model("pattern", statement))
    (one,) = drawn(app)
    assert (one.content == statement) is taken


def test_where_a_model_sees_nothing_nothing_is_drawn(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    assert found(app, by_model("none", "")) == {"looked_at": 4}


def test_a_model_that_misses_the_shape_is_done_without(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:4]))
    found(app, generalization.by_model(Asking(None), lambda _: None))  # type: ignore[arg-type]
    assert "often: running" in drawn(app)[0].content


@pytest.mark.parametrize(("statement", "taken"), [("小明经常在公园跑步。", True), ("小明经常在北京跑步。", False)])
def test_chinese_of_a_model_holds_no_word_of_its_own(app: Database, statement: str, taken: bool) -> None:
    contents = [f"小明去公园跑步，和{name}一起。" for name in ("小红", "小刚", "小李", "小王")]
    carry_out(app, *in_turn(contents, subject="小明"))
    found(app, by_model("pattern", statement))
    assert (drawn(app)[0].content == statement) is taken


def test_another_group_of_people_has_patterns_of_its_own(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:3]))
    carry_out(app, *in_turn(RUNS[3:], first=3), owner=replace(ADA, group_id="team"))
    assert found(app) == {"looked_at": 6}


def test_two_people_of_a_group_have_patterns_of_their_own(app: Database) -> None:
    theirs = [f"Bob went swimming with {name}." for name in ("Carla", "Ines", "Tom", "Olga")]
    carry_out(app, *in_turn(RUNS[:4]), *in_turn(theirs, subject="Bob"), owner=replace(ADA, group_id="team"))
    found(app)
    assert sorted((one.subject, one.content.split(" (")[0]) for one in drawn(app)) == [
        ("Bob", "Bob, often: swimming"),
        ("ada", "ada, often: running"),
    ]


def test_accounts_of_conversations_make_no_pattern(app: Database) -> None:
    told = [f"Ada talked with Bob about running on day {n}, 19:55 UTC." for n in "one two three four five".split()]
    carry_out(app, *in_turn(told, category=Category.EPISODE))
    assert found(app) == {"looked_at": 0}


def test_what_an_assistant_repeats_every_day_is_no_pattern(app: Database) -> None:
    line = "Ada goes running with the club."
    for day in range(6):
        at = (NOW - timedelta(days=30 - 3 * day)).isoformat()
        accept(app, said_message(line, session=f"t{day}", message_id=f"b{day}", role="assistant", time=at))
    rests = tuple(Evidence(f"t{day}", f"b{day}", f"e{day}", line) for day in range(6))
    carry_out(app, said(line, 0, evidence=rests))
    assert found(app) == {"looked_at": 1}


def test_what_a_person_repeats_is_one(app: Database) -> None:
    line = "Ada goes running with the club."
    for day in range(6):
        at = (NOW - timedelta(days=30 - 3 * day)).isoformat()
        accept(app, said_message(line, session=f"t{day}", message_id=f"b{day}", time=at))
    rests = tuple(Evidence(f"t{day}", f"b{day}", f"e{day}", line) for day in range(6))
    carry_out(app, said(line, 0, evidence=rests))
    assert found(app) == {"looked_at": 1, "derived": 1}
    assert drawn(app)[0].content.startswith("ada, often: running (on 6 days")


def test_a_pattern_goes_with_each_memory_that_it_counts(app: Database) -> None:
    begins, ends = "Ba Ko Li Mu Ne Po Ra Su Ti Ve".split(), "dor kan lis mont nar pol rim stad".split()
    mine = in_turn([f"Ada went running in {begin}{end}." for begin in begins for end in ends][:70])
    carry_out(app, *mine)
    found(app)
    (one,) = drawn(app)
    assert "on 70 days" in one.content
    assert parts_of(app, one) == 70
    with app.tenant(TENANT) as tx:
        erasure_memory.erase(tx, TENANT, mine[40].id, PERSON)
    assert drawn(app) == []


def test_no_words_are_asked_for_what_is_known_and_has_not_grown(app: Database) -> None:
    asked: list[generalization.MemoryGroup] = []

    def wording(group: generalization.MemoryGroup) -> generalization.DerivedStatement | None:
        asked.append(group)
        return generalization.by_rules(group)

    for thing in ("pottery", "violin", "badminton", "sculpture", "karate", "chess"):
        names = ("Bob", "Carla", "Ines", "Tom", "Olga")
        carry_out(app, *in_turn([f"Ada loves {thing} with {name}." for name in names], subject="Ada"))
    first: Any = found(app, wording)
    assert first["derived"] == len(asked) > 3
    asked.clear()
    assert found(app, wording, since="1900-01-01T00:00:00+00:00") == {"looked_at": 30}
    assert asked == []


OFFICE = "Initech has its office in Tokyo."


def test_facts_about_one_thing_become_knowledge_in_a_models_words(app: Database) -> None:
    carry_out(app, *in_turn(TOKYO, subject="Initech", category=Category.FACT))
    assert found(app, by_model("knowledge", OFFICE))["derived"] == 1
    (one,) = drawn(app)
    assert (one.category, one.subject, one.content) == ("knowledge", "Initech", OFFICE)
    assert parts_of(app, one) == 4


def test_without_a_model_they_stay_facts(app: Database) -> None:
    carry_out(app, *in_turn(TOKYO, subject="Initech", category=Category.FACT))
    assert found(app) == {"looked_at": 4}
