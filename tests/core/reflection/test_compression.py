from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Conflict, Never
from core.inference.embedders import HashEmbedder
from core.memory import memories
from core.memory.changes import Derive, Dispute, Pin
from core.memory.identity import KnownMemory
from core.reflection import compression
from core.reflection.compression import CompressionPage, Core, PendingCompression
from core.statements import condense
from core.storage.db import Database
from core.types import Category, Json
from core.undo import undo
from tests.core.reflection.runs import RUNS, runs
from tests.factories import ADA, NOW, PERSON, a_memory, carry_out, changes_of, events_since, memory_row, set_back
from tests.samples import TENANT

EMBEDDER = HashEmbedder()
UNUSED, USES = timedelta(days=90), 5


def planned(app: Database, days: float, user: str = "ada", **fields: Any) -> PendingCompression:
    """What one pass would do so many days from now."""
    asked = CompressionPage(user, UNUSED, USES, memories.now() + timedelta(days=days), **fields)
    return compression.plan(app, TENANT, EMBEDDER, asked, fields.pop("condenser", compression.extractive))


def compressed(app: Database, days: float, **fields: Any) -> Json:
    found = planned(app, days, **fields)
    with app.tenant(TENANT) as tx:
        return found.write(tx, PERSON)


def active(app: Database) -> list[Any]:
    with app.tenant(TENANT) as tx:
        ids = tx.exec_driver_sql("SELECT id FROM memories WHERE status = 'active' ORDER BY id").scalars().all()
        return list(memories.of_ids(tx, ids).values())


def parts_of(app: Database, core: UUID) -> set[UUID]:
    with app.tenant(TENANT) as tx:
        found = tx.exec_driver_sql(
            "SELECT to_id FROM relations WHERE from_id = %(id)s AND relation = 'derived_from'", {"id": core}
        )
        return set(found.scalars())


def test_ten_become_three_after_thirty_days_and_one_after_ninety(app: Database) -> None:
    mine = runs()
    carry_out(app, *mine)
    assert compressed(app, 29) == {"looked_at": 0}
    compressed(app, 31)
    three = active(app)
    assert len(three) == 3
    assert compressed(app, 60)["looked_at"] == 3
    assert len(active(app)) == 3
    compressed(app, 91)
    (one,) = active(app)
    assert one.level == 2
    for said in RUNS:
        assert condense.marks(said) <= condense.marks(one.content)
    assert all(memory_row(app, add.id).status == "archived" for add in mine)
    assert {p for c in parts_of(app, one.id) for p in ([c] if c in {a.id for a in mine} else parts_of(app, c))} == {
        add.id for add in mine
    }


def test_a_core_rests_on_all_evidence_and_counts_as_unused_since_its_parts(app: Database) -> None:
    mine = runs(4, confidence=0.6)
    carry_out(app, *mine)
    set_back(app, [add.id for add in mine], 100)
    last = max(memory_row(app, add.id).recorded_at for add in mine)
    assert compressed(app, 0) == {"looked_at": 4, "derived": 1, "archived": 4}
    (core,) = active(app)
    assert (core.last_used_at, core.level, core.confidence) == (last, 1, 0.6)
    assert core.structured["compressed"]["memories"] == 4
    with app.tenant(TENANT) as tx:
        assert {e.message_id for e in memories.evidence(tx, [core.id])[core.id]} == set(RUNS[:4])
        told = [event.event_type for event in events_since(tx, 0, 100)]
    assert told.count("memory.compressed") == 1
    assert told.count("memory.archived") == 4
    assert changes_of(app, mine[0].id) == ["add", "archive"]


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True},
        {"category": Category.INSTRUCTION},
        {"attribute": "home.city", "value": "Lisbon"},
        {"importance": 0.9},
        {"expires_at": NOW + timedelta(days=3000)},
        {"valid_to": NOW + timedelta(days=3000)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_must_keep_its_wording_is_left_alone(app: Database, fields: Json) -> None:
    kept = [replace(a, candidate=replace(a.candidate, **fields)) for a in runs(3)]
    if "attribute" in fields:
        kept = [replace(a, candidate=replace(a.candidate, attribute=f"city.{n}")) for n, a in enumerate(kept)]
    carry_out(app, *kept)
    assert compressed(app, 100) == {"looked_at": 0}


def test_what_was_used_often_or_is_disputed_is_left_alone(app: Database) -> None:
    mine = runs(4)
    carry_out(app, *mine)
    one, other = (KnownMemory(a.id, 1, a.candidate.content, "ada", None, None, NOW) for a in mine[:2])
    carry_out(app, Dispute(one, other, "they differ"))
    assert compressed(app, 100)["looked_at"] == 2
    with app.tenant(TENANT) as tx:
        tx.exec_driver_sql("UPDATE memories SET uses = 5, last_used_at = recorded_at WHERE trust = 'candidate'")
    assert compressed(app, 100) == {"looked_at": 0}


def test_two_are_no_group_nor_are_three_of_different_things(app: Database) -> None:
    carry_out(app, *runs(2), a_memory("Ada is allergic to nuts."), a_memory("The piano was sold."))
    carry_out(app, *(replace(a, id=uuid4()) for a in runs(1, subject="bob")))
    assert compressed(app, 100) == {"looked_at": 5}


def test_a_group_of_people_is_not_mixed_with_what_was_said_alone(app: Database) -> None:
    carry_out(app, *runs(3))
    carry_out(app, *(a_memory(said) for said in RUNS[3:6]), owner=replace(ADA, group_id="team"))
    assert compressed(app, 100)["derived"] == 2
    assert sorted(str(one.group_id) for one in active(app)) == ["None", "team"]


def test_running_again_changes_nothing(app: Database) -> None:
    carry_out(app, *runs(5))
    compressed(app, 100)
    assert compressed(app, 100) == {"looked_at": 1}


def test_a_compression_is_undone_at_once(app: Database) -> None:
    mine = runs(4)
    carry_out(app, *mine)
    compressed(app, 100)
    with app.tenant(TENANT) as tx:
        change = memories.history(tx, mine[0].id)[-1].change_id
    assert change is not None
    undo.carry_out(app, EMBEDDER, TENANT, change, PERSON)
    assert {(one.id, one.level) for one in active(app)} == {(add.id, 0) for add in mine}
    assert compressed(app, 100)["derived"] == 1


def test_whoever_changes_a_part_meanwhile_wins(app: Database) -> None:
    mine = runs(3)
    carry_out(app, *mine)
    found = planned(app, 100)
    carry_out(app, Pin(mine[1].id, 1, pinned=True, reason="dear"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
    assert compressed(app, 100) == {"looked_at": 2}


def test_what_does_not_fit_into_one_statement_becomes_several_or_stays(app: Database) -> None:
    long = [f"Ada ran {n} km with {n + 1} friends, {n + 2} dogs and {n + 3} bottles, {'far ' * 60}." for n in range(20)]
    carry_out(app, *map(a_memory, long))
    assert compressed(app, 100)["derived"] >= 3
    left = active(app)
    assert all(len(one.content) <= condense.LONGEST for one in left)
    said = frozenset[str]().union(*(condense.marks(one.content) for one in left))
    assert all(condense.marks(one) <= said for one in long)


def test_a_page_ends_where_the_next_begins(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "PAGE", 4)
    carry_out(app, *runs(10))
    first = planned(app, 100)
    assert (first.looked_at, first.after is not None) == (4, True)
    second = planned(app, 100, after=first.after)
    ids = [
        {p.id for _, cs in page.changes for c in cs if isinstance(c, Derive) for p in c.parts}
        for page in (first, second)
    ]
    assert not ids[0] & ids[1]
    assert planned(app, 100, after=planned(app, 100, after=second.after).after or second.after).after is None


def test_users_follow_one_another(app: Database) -> None:
    for user, count in (("ada", 3), ("bob", 2), ("cem", 4)):
        carry_out(app, *runs(count), owner=replace(ADA, user_id=user))
    asked = CompressionPage("", UNUSED, USES, memories.now() + timedelta(days=40))
    with app.tenant(TENANT) as tx:
        assert compression.next_user(tx, asked) == "ada"
        assert compression.next_user(tx, replace(asked, user_id="ada")) == "cem"
        assert compression.next_user(tx, replace(asked, user_id="cem")) is None


def test_what_was_put_away_is_drawn_together_without_coming_back(app: Database) -> None:
    mine = runs(4)
    carry_out(app, *mine)
    archive_all(app)
    assert compressed(app, 1, archived=True)["looked_at"] == 0
    assert compressed(app, 100, archived=True)["added"] == 1
    assert active(app) == []
    with app.tenant(TENANT) as tx:
        (core,) = tx.exec_driver_sql("SELECT * FROM memories WHERE level = 1").all()
        assert len(memories.evidence(tx, [core.id])[core.id]) == 4
    assert core.status == "archived"
    assert parts_of(app, core.id) == {add.id for add in mine}
    assert compressed(app, 100, archived=True) == {"looked_at": 1}


def test_what_an_active_memory_says_is_not_said_again_for_archived_ones(app: Database) -> None:
    mine = runs(1) * 3
    carry_out(app, *(replace(a, id=uuid4()) for a in mine[:1]))
    archive_all(app)
    for _ in range(2):
        carry_out(app, *(replace(a, id=uuid4()) for a in mine[:1]))
        archive_all(app)
    carry_out(app, *runs(1))
    assert compressed(app, 100, archived=True) == {"looked_at": 3}


def archive_all(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.exec_driver_sql("UPDATE memories SET status = 'archived', fade_at = NULL")


class Asking:
    """A model's client that answers as a test says."""

    model = "fake"

    def __init__(self, answer: Callable[[Sequence[str]], Json] | None) -> None:
        self.answer, self.asked = answer, 0

    def ask(self, prompt: str, system: str, asked: str, shape: Any, on_call: object) -> Any:
        self.asked += 1
        if self.answer is None:
            raise Never("It missed the shape twice.")
        lines = [line.partition(") ")[2] for line in asked.splitlines() if line[:1].isdigit()]
        return shape.model_validate(self.answer(lines))


def in_words(words: str) -> Callable[[Sequence[str]], Json]:
    return lambda said: {"cores": [{"content": words, "parts": list(range(1, len(said) + 1))}]}


GOOD = "Ada ran in the morning along the river: 3 km with Bob, 4 km with Carla, 5 km with Ines."


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        (in_words(GOOD), True),
        (in_words(GOOD.replace("4 km", "some way")), False),
        (in_words(GOOD.replace("Ines", "Irma")), False),
        (in_words(GOOD + " Pete came too."), False),
        (lambda _: {"cores": [{"content": GOOD, "parts": [1, 2]}]}, False),
        (lambda _: {"cores": [{"content": GOOD, "parts": [1, 2, 3, 9]}]}, True),
        (None, False),
    ],
    ids=["right", "a number is lost", "a name is changed", "a name is new", "one is left out", "no such one", "shape"],
)
def test_a_models_words_are_taken_where_they_keep_what_counts(app: Database, answer: Any, taken: bool) -> None:
    carry_out(app, *runs(3))
    client = Asking(answer)
    asked = CompressionPage("ada", UNUSED, USES, memories.now() + timedelta(days=100))
    found = compression.plan(app, TENANT, EMBEDDER, asked, compression.by_model(client, lambda _: None))  # type: ignore[arg-type]
    with app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
    (core,) = active(app)
    assert (core.content == GOOD) is taken
    assert client.asked == 1


def test_chinese_is_never_left_to_a_models_words(app: Database) -> None:
    said = [f"小明周三在河边跑了{n}公里。" for n in (5, 6, 7)]
    carry_out(app, *(replace(a_memory(one), vector=EMBEDDER.embed(["跑步"])[0]) for one in said))
    client = Asking(in_words("小明经常跑步。"))
    asked = CompressionPage("ada", UNUSED, USES, memories.now() + timedelta(days=100))
    found = compression.plan(app, TENANT, EMBEDDER, asked, compression.by_model(client, lambda _: None))  # type: ignore[arg-type]
    with app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
    assert [one.content for one in active(app)] == ["".join(said)]
    assert client.asked == 0


@dataclass
class Row:
    content: str
    vector: str
    occurred_at: datetime = NOW


texts = st.builds(
    lambda name, n, day: f"{name} paid {n} euros on {day}.",
    st.sampled_from(["Ada", "Bob", "Dr. Chen"]),
    st.integers(0, 10**6),
    st.sampled_from(["Monday", "3 May 2024", "2025-02-28"]),
)


@settings(deadline=None)
@given(st.lists(texts, min_size=2, max_size=40), st.integers(1, 3), st.randoms())
def test_all_that_counts_of_what_is_taken_stands_in_the_core(said: list[str], count: int, chance: Any) -> None:
    rows = [Row(one, f"[{chance.random()},{chance.random()}]") for one in said]
    cores: list[Core] = compression.extractive(rows, range(len(rows)), count)
    taken = [place for core in cores for place in core.parts]
    assert len(taken) == len(set(taken))
    assert len(cores) <= compression.CORES
    for core in cores:
        assert frozenset[str]().union(*(condense.marks(said[p]) for p in core.parts)) == condense.marks(core.content)
