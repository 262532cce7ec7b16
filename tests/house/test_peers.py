"""The side-by-side bench counts what was found as it says, asks every peer alike, and pins every package of theirs."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.peers import DRIVERS
from bench.peers_table import Row, goals, table
from bench.peers_talks import KS, counted, evidence, talks, texts

IDS = st.lists(st.sampled_from([f"D1:{n}" for n in range(40)]), max_size=60)
ECHO = """
import time
from wire import serve

class Echo:
    version = "9"

    def __init__(self, settings):
        self.name, self.wanted = settings["name"], False

    def ingest(self, user, turns):
        print("a library that prints")
        return {"turns": len(turns)}

    def search(self, user, question, limit):
        time.sleep(0.002)
        if question == "fault":
            raise ValueError(question)
        return [self.name, user, question, str(limit), str(self.wanted)]

    def size(self):
        return 7

    def live(self, wanted):
        self.wanted = wanted

serve(Echo)
"""
ROW = Row(
    "imprint",
    "Imprint",
    "own",
    "",
    {"rec@5": 0.5, "rec@10": 0.6, "rec@20": 0.7, "any@10": 0.8},
    {"findable": 100.0, "accepted": 900.0, "vectors": 50.0, "settled": 40.0},
    {f"{p}{n}": 10.0 for p in ("p50", "p95") for n in ("", " embedding", " 16", " 16 embedding")},
    2_000.0,
)
MEM0 = replace(ROW, name="mem0", title="mem0", version="1", ingest={"findable": 40.0, "embedding": 20.0})


def test_a_turn_found_twice_takes_one_place_and_what_is_not_found_counts_as_nothing() -> None:
    first = ["D1:1", "D1:1", "D1:2", "D1:3", "D1:4", "D1:5", "D1:6"]
    assert counted([(frozenset({"D1:5", "D9:9"}), first)]) == {
        "rec@5": 0.5,
        "rec@10": 0.5,
        "rec@20": 0.5,
        "any@10": 1.0,
    }
    assert counted([(frozenset({"D1:6"}), first)])["rec@5"] == 0
    assert counted([(frozenset({"D1:1"}), first), (frozenset({"D1:1"}), [])])["any@10"] == 0.5


@given(IDS, st.frozensets(st.sampled_from([f"D1:{n}" for n in range(40)]), min_size=1))
def test_more_places_never_find_less_and_what_all_find_is_whole(found: list[str], wanted: frozenset[str]) -> None:
    figures = counted([(wanted, found)])
    shares = [figures[f"rec@{k}"] for k in KS]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert figures["any@10"] == (figures["rec@10"] > 0)
    assert counted([(wanted, [*sorted(wanted)[:5], *found])])["rec@5"] == min(len(wanted), 5) / len(wanted)


def test_evidence_is_read_in_every_spelling_of_the_labels() -> None:
    assert evidence(["D1:3", "D:2:04; D11:5", "D30:05", "no turn"]) == {"D1:3", "D2:4", "D11:5", "D30:5"}
    assert evidence([]) == frozenset()


def test_neighbours_end_where_the_session_ends() -> None:
    turns = [
        {"session": s, "speaker": "Ada", "content": c} for s, c in (("1", "a"), ("1", "b"), ("1", "c"), ("2", "d"))
    ]
    assert texts(turns, "own") == ["Ada: a", "Ada: b", "Ada: c", "Ada: d"]
    near = ["Ada: a\nAda: b", "Ada: a\nAda: b\nAda: c", "Ada: b\nAda: c", "Ada: d"]
    assert texts(turns, "near") == near


def test_sessions_are_read_in_the_order_of_their_numbers_and_questions_without_evidence_are_left_out(
    tmp_path: Path,
) -> None:
    said = {"text": "Hi", "speaker": "Ada"}
    talk = {
        "speaker_a": "Ada",
        "session_10": [said | {"dia_id": "D10:1"}],
        "session_10_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [said | {"dia_id": "D2:1", "speaker": "Bo", "blip_caption": "a dog"}, said | {"dia_id": "D2:2"}],
        "session_2_date_time": "12:05 am on 1 May, 2023",
    }
    qa = [{"question": "None?"}, {"question": "One?", "evidence": ["D2:1"]}, {"question": "Two?", "evidence": ["D2:2"]}]
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([{"sample_id": "x", "conversation": talk, "qa": qa}] * 2))
    (read,) = talks(file, 1, 1)
    assert [turn["id"] for turn in read.turns] == ["D2:1", "D2:2", "D10:1"]
    assert [turn["role"] for turn in read.turns] == ["assistant", "user", "user"]
    assert read.turns[0]["content"] == "Hi [shares a picture: a dog]"
    assert read.turns[1]["time"] == "2023-05-01T00:05:30+00:00"
    assert [question.text for question in read.questions] == ["One?"]
    assert [len(one.questions) for one in talks(file, 0, 0)] == [2, 2]


def test_goals_are_measured_against_mem0_on_its_own_text_and_say_what_was_missed() -> None:
    slow = replace(MEM0, text="near", ingest={"findable": 1.0, "embedding": 1.0})
    ingest, search, crowd = goals([ROW, slow, MEM0])
    assert "5.00 ×" in ingest
    assert "2.50 ×" in ingest
    assert ", reached: 5" in ingest
    assert "1.00 ×" in search
    assert "**not reached**: 0.5" in search
    assert "**not reached**: 0.25" in crowd
    fast = replace(ROW, search=dict.fromkeys(ROW.search, 2.5), ingest=ROW.ingest | {"findable": 99.9})
    assert [", reached" in goal for goal in goals([fast, MEM0])] == [False, True, True]
    assert goals([ROW]) == goals([MEM0, slow]) == []


def test_the_table_has_a_cell_for_every_column_also_where_nothing_is_embedded() -> None:
    bare = replace(
        ROW,
        name="bm25",
        ingest={"findable": 1234.5},
        search={name: ms for name, ms in ROW.search.items() if "embedding" not in name},
    )
    lines = table([ROW, MEM0, bare]).splitlines()
    assert {line.count("|") for line in lines[:5]} == {11}
    assert "| 100, accepted 900, vectors 50, settled 40 |" in lines[2]
    assert "| 40 · 20 | 10.0 / 10.0 · 10.0 / 10.0 | 10.0 · 10.0 |" in lines[3]
    assert "| 1,234 | 10.0 / 10.0 | 10.0 |" in lines[4]


@pytest.mark.parametrize("clients", [1, 16])
def test_every_client_has_its_own_questions_and_answers_stand_in_their_order(
    root: Path, tmp_path: Path, clients: int
) -> None:
    questions = [f"q{n}" for n in range(40)]
    asked = [
        {"do": "ingest", "user": "u", "turns": [{}, {}]},
        {"do": "search", "user": "u", "questions": questions, "limit": 5, "clients": clients, "live": True},
        {"do": "size"},
    ]
    hello, ingest, search, size = map(json.loads, wired(root, tmp_path, asked).stdout.splitlines())
    assert (hello, ingest["turns"], size) == ({"version": "9"}, 2, {"bytes": 7})
    assert search["answers"] == [["echo", "u", question, "5", "True"] for question in questions]
    assert all(1 < ms < 10_000 for ms in search["ms"])


def test_a_peer_that_fails_ends_its_driver(root: Path, tmp_path: Path) -> None:
    asked = [{"do": "search", "user": "u", "questions": ["q", "fault"], "limit": 5, "clients": 2}]
    done = wired(root, tmp_path, asked)
    assert done.returncode == 1
    assert "ValueError: fault" in done.stderr
    assert len(done.stdout.splitlines()) == 1


def wired(root: Path, folder: Path, asked: list[dict[str, object]]) -> subprocess.CompletedProcess[str]:
    (folder / "drive_echo.py").write_text(ECHO)
    env = {**os.environ, "PYTHONPATH": str(root / "bench" / "peers")}
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    command = [sys.executable, str(folder / "drive_echo.py"), json.dumps({"name": "echo"})]
    return subprocess.run(command, input=lines, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_every_package_of_a_peer_is_pinned_exactly_and_none_is_twice(root: Path) -> None:
    files = sorted((root / "bench" / "peers").glob("*.txt"))
    assert [file.stem for file in files] == ["bm25", "langgraph", "mem0"]
    for file in files:
        lines = file.read_text().splitlines()
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line) for line in lines), file
        assert len({line.partition("==")[0].lower() for line in lines}) == len(lines)


def test_imprint_is_told_of_every_turn_and_of_the_end_of_every_session(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(root / "bench" / "peers"))
    imprint = importlib.import_module("drive_imprint")
    about = {"speaker": "Ada", "role": "user", "time": "2023-05-01T00:00:00Z", "text": "never sent"}
    turns = [about | {"id": f"D{s}:{n}", "session": f"s{s}", "content": "x" * n} for s in (1, 2) for n in range(1, 21)]
    events = imprint.events_of("u", turns)
    assert [event["payload"].get("message_id", event["event_type"]) for event in events] == [
        *(f"D1:{n}" for n in range(1, 21)),
        "session.ended",
        *(f"D2:{n}" for n in range(1, 21)),
        "session.ended",
    ]
    assert {event["payload"]["session_id"] for event in events} == {"u/s1", "u/s2"}
    assert events[20]["payload"]["message_count"] == 20
    assert "never sent" not in json.dumps(events)
    probed = [turn["id"] for turn in imprint.probes(turns)]
    assert probed == [f"D{s}:{n}" for s in (1, 2) for n in (5, 10, 15, 20)]


@pytest.mark.parametrize("name", ["langgraph", "mem0"])
def test_a_peers_environment_has_what_the_embedder_imports(name: str) -> None:
    """Its driver imports the embedder, so that all contestants have the same vectors."""
    report = (
        "import sys, importlib.metadata as m\n"
        "from core.inference.local_embedder import LocalEmbedder\n"
        "LocalEmbedder().embed(['one'])\n"
        "owners = m.packages_distributions()\n"
        "print(*{owner for module in sys.modules for owner in owners.get(module.split('.')[0], ())})"
    )
    read = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    pins = (DRIVERS / f"{name}.txt").read_text(encoding="utf-8")
    pinned = {_normal(line.partition("==")[0]) for line in pins.splitlines()}
    assert {_normal(owner) for owner in read.stdout.split()} - {"imprint-service", "setuptools"} <= pinned


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()
