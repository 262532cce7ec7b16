"""The gate's files say what they seem to say: conversations, rows and vectors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Never
from core.inference.embedders import HashEmbedder
from tests.retrieval import rows, talks, vectors
from tests.retrieval.rows import Row
from tests.retrieval.talks import Talk

TALK = """
user: Ann
other: Ben
asked: 2026-05-01 12:00

## s1 2026-04-01 09:00
1 Ann: Where is the
  cello?
2 Ben: In Utrecht.

## s2 2026-04-02 09:00
1 Ann: 3 men brought it.

## Questions
| kind | answer in | question |
| --- | --- | --- |
| multi | s1.2 s2.1 | Where was it, and who brought it? |
"""
RANKS = st.dictionaries(
    st.from_regex(r"s[1-9]\.[1-9]", fullmatch=True), st.none() | st.integers(1, rows.DEEPEST), min_size=1, max_size=4
)
QUESTIONS = st.from_regex(r"[A-Z谁][a-z在 ]{0,30}[a-z]\?", fullmatch=True)
ROWS = st.lists(
    st.builds(Row, st.sampled_from(["a", "b"]), st.sampled_from(["single", "word"]), QUESTIONS, RANKS), min_size=1
)
HUNDRED = [Row("a", "single", f"Question {n}?", {"s1.1": 1}) for n in range(100)]


@pytest.fixture(scope="module")
def kept() -> str:
    return rows.FILE.read_text(encoding="utf-8")


def without(count: int) -> list[Row]:
    """A hundred questions, of which so many have lost their answers."""
    return [replace(row, ranks={"s1.1": None}) if n < count else row for n, row in enumerate(HUNDRED)]


def test_a_conversation_is_read_as_it_is_written() -> None:
    talk = talks.read("talk", TALK)
    assert [(turn.id, turn.role, turn.content) for turn in talk.turns] == [
        ("s1.1", "user", "Where is the\ncello?"),
        ("s1.2", "assistant", "In Utrecht."),
        ("s2.1", "user", "3 men brought it."),
    ]
    assert [question.answer for question in talk.questions] == [["s1.2", "s2.1"]]


def test_it_is_published_as_messages_and_as_sessions_that_end() -> None:
    events = talks.events(talks.read("talk", TALK))
    assert [event["event_type"] for event in events] == [
        "message.added",
        "message.added",
        "session.ended",
        "message.added",
        "session.ended",
    ]
    assert events[1]["payload"]["message_id"] == "s1.2"
    assert events[1]["time"] == "2026-04-01T09:00:30+00:00"


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        ("2 Ben", "3 Ben", r"s1\.3 should be s1\.2"),
        ("2 Ben", "2 Bob", "nobody is called Bob"),
        ("2 Ben", "Ben", "'Ben: In Utrecht.' is no turn"),
        ("s1.2 s2.1 |", "s1.2 s2.7 |", r"no turns \['s2\.7'\]"),
        ("| multi | s1.2", "| multi s1.2", "is no question"),
    ],
)
def test_a_slip_in_a_conversation_is_told(right: str, wrong: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        talks.read("talk", TALK.replace(right, wrong))


def test_the_conversations_ask_for_all_kinds_and_for_answers_in_several_sessions() -> None:
    there = talks.talks()
    asked = [question for talk in there for question in talk.questions]
    assert sum(len(talk.turns) for talk in there) >= 200
    assert min(Counter(question.kind for question in asked).values()) >= 10
    assert sum(len({turn.split(".")[0] for turn in question.answer}) > 1 for question in asked) >= 15
    assert len({(talk.name, question.text) for talk in there for question in talk.questions}) == len(asked)


def test_the_rows_are_those_of_the_questions(kept: str) -> None:
    asked = [(talk.name, one.kind, one.text, [*one.answer]) for talk in talks.talks() for one in talk.questions]
    assert [(row.talk, row.kind, row.question, [*row.ranks]) for row in rows.read(kept)] == asked


def test_the_totals_of_the_file_are_those_of_its_rows(kept: str) -> None:
    assert rows.written(rows.read(kept)) == kept


def test_the_figures_are_such_that_a_better_and_a_worse_ranking_both_show(kept: str) -> None:
    assert 0.7 < rows.totals(rows.read(kept))["rec@10"] < 0.95


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS)
def test_rows_are_read_as_they_were_written(some: list[Row]) -> None:
    assert rows.read(rows.written(some)) == some


def test_a_total_counts_what_stands_so_far_in_front() -> None:
    found = [Row("a", "multi", "One?", {"s1.1": 5, "s1.2": 6}), Row("a", "multi", "Two?", {"s1.3": 11, "s1.4": None})]
    assert rows.totals(found) == {"rec@5": 0.25, "rec@10": 0.5, "any@10": 0.5, "all@10": 0.5}


def test_a_fall_of_two_in_a_hundred_is_let_through_and_of_three_is_not() -> None:
    assert rows.drops(HUNDRED, without(2)) == []
    fallen = rows.drops(HUNDRED, without(3))
    assert fallen[:4] == [f"{name}: 1.000 → 0.970" for name in ("rec@5", "rec@10", "any@10", "all@10")]
    assert fallen[4:] == [f"s1.1: 1 → s1.1: – | Question {n}?" for n in range(3)]


def test_a_rise_is_let_through() -> None:
    assert rows.drops(without(50), HUNDRED) == []


def test_other_questions_are_not_compared() -> None:
    with pytest.raises(AssertionError, match="rewrite"):
        rows.drops(HUNDRED, HUNDRED[:-1])


def test_what_is_recorded_is_handed_out_again_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    texts, recording = ["a tree", "一棵树", "a tree", ""], vectors.Recording(HashEmbedder())
    heard = recording.embed(texts)
    for name in ("one.npz", "two.npz"):
        vectors.save(recording.vectors, tmp_path / name)
    assert np.array_equal(vectors.Recorded(vectors.load(tmp_path / "one.npz")).embed(texts), heard)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_a_text_that_was_not_recorded_is_refused_with_the_way_out() -> None:
    recorded = vectors.Recorded({})
    with pytest.raises(Never, match=r"'a tree'\. Run `python -m tests\.retrieval\.rewrite`"):
        recorded.embed(["a tree"])
    assert recorded.missing == ["a tree"]


def test_the_recorded_vectors_are_of_length_one_and_of_every_question() -> None:
    recorded = vectors.load(vectors.FILE)
    lengths = np.linalg.norm(np.array([*recorded.values()]), axis=1)
    assert np.allclose(lengths, 1, atol=1e-3)
    there: list[Talk] = talks.talks()
    assert not {vectors.key(one.text, "question") for talk in there for one in talk.questions} - recorded.keys()
    assert vectors.FILE.stat().st_size < 600_000
