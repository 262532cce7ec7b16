"""The gate: our own conversations are told, and what is found must not fall behind the rows that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.search import ranking
from tests.retrieval import replay, rewrite, rows, talks, vectors
from tests.retrieval.replay import Told

SMALL = """
user: Ann
other: Ben
asked: 2026-05-01 12:00

## s1 2026-04-01 09:00
1 Ann: I have bought a cello from a man in Utrecht.
2 Ben: How wonderful! Do you play already?

## Questions
| kind | answer in | question |
| --- | --- | --- |
| single | s1.1 | What did Ann buy? |
"""

WORDS_ALONE: Final = 0.75

BREAKS: Mapping[str, Mapping[str, float]] = {
    "no vectors": {"COSINE": 0.0, "COSINE_AROUND": 0.0},
    "no likeness of what stands around": {"COSINE_AROUND": 0.0},
    "whoever tells much": {"TOLD": 0.0},
    "no times": {"SPAN": 0.0},
}


@pytest.fixture(scope="module")
def served(upgraded: Settings) -> Iterator[Told]:
    """All conversations, told once."""
    with replay.told(upgraded, vectors.Recorded(vectors.load(vectors.FILE)), talks.talks()) as told:
        yield told


@pytest.fixture(scope="module")
def found(served: Told) -> list[rows.Row]:
    """Where the answers stand."""
    return served.rows()


@pytest.fixture(scope="module")
def kept() -> list[rows.Row]:
    return rows.read(rows.FILE.read_text(encoding="utf-8"))


def test_what_is_found_does_not_fall_behind_the_rows_that_are_kept(found: list[rows.Row], kept: list[rows.Row]) -> None:
    fallen = rows.drops(kept, found)
    assert not fallen, "\n".join([*fallen, f"If that is meant: `{rows.COMMAND}`."])


@pytest.mark.parametrize("broken", BREAKS)
def test_a_ranking_that_lost_a_part_is_refused(
    served: Told, found: list[rows.Row], broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in BREAKS[broken].items():
        monkeypatch.setattr(ranking, name, value)
    assert rows.drops(found, served.rows())


def test_words_find_by_themselves(served: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    # Meaning alone answers these questions as well as both together, so that the rows would not miss the words.
    assert rows.totals(served.rows("keyword"))["rec@10"] >= WORDS_ALONE
    monkeypatch.setattr(ranking, "LEXICAL", 0.0)
    assert rows.totals(served.rows("keyword"))["rec@10"] < WORDS_ALONE


def test_asked_again_it_finds_the_same_at_the_same_ranks(served: Told, found: list[rows.Row]) -> None:
    assert served.rows() == found


def test_told_anew_and_without_the_longest_talk_it_finds_the_same_in_the_others(
    upgraded: Settings, served: Told, found: list[rows.Row]
) -> None:
    longest = max(served.talks, key=lambda talk: len(talk.turns))
    others = [talk for talk in served.talks if talk is not longest]
    with replay.told(upgraded, vectors.Recorded(vectors.load(vectors.FILE)), others) as again:
        assert again.rows() == [row for row in found if row.talk != longest.name]


def test_a_text_without_a_vector_ends_the_replay_with_the_way_out(upgraded: Settings) -> None:
    short = talks.read("short", SMALL)
    known = {
        vectors.key("Ben: How wonderful! Do you play already?", "text"): vectors.load(vectors.FILE)[
            min(vectors.load(vectors.FILE))
        ]
    }
    told = replay.told(upgraded, vectors.Recorded(known), [short])
    with pytest.raises(AssertionError, match=r"cello.*rewrite"), told:
        pass


def test_the_command_writes_what_the_gate_then_reads(
    upgraded: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(talks, "FOLDER", tmp_path / "talks")
    talks.FOLDER.mkdir()
    (talks.FOLDER / "small.md").write_text(SMALL)
    monkeypatch.setattr(rows, "FILE", tmp_path / "rows.md")
    monkeypatch.setattr(vectors, "FILE", tmp_path / "vectors.npz")
    monkeypatch.setattr(rewrite, "LocalEmbedder", HashEmbedder)
    rewrite.main()
    assert "rec@10   0.000 → 1.000" in capsys.readouterr().out
    (row,) = rows.read(rows.FILE.read_text())
    assert row == rows.Row("small", "single", "What did Ann buy?", {"s1.1": 1})
    with replay.told(upgraded, vectors.Recorded(vectors.load(vectors.FILE)), talks.talks()) as told:
        assert told.rows() == [row]
