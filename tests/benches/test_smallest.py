"""Every bench runs to its end at its smallest size: all by `make benches`, those that take seconds in the suite."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import bench

FOLDER: Final = Path(bench.__file__).parent


class Run(NamedTuple):
    """Options of a bench and the constants that decide its size. `{tmp}` stands for the folder of `small_data`."""

    options: str = ""
    constants: Mapping[str, Any] = {}
    lines: int = 1


QUICK: Final = {
    "checks": Run(),
    "commands": Run(),
    "compare": Run("--seconds 0.02", {"EVENTS": 20}),
    "cost": Run("2000", {"ROUNDS": 1}),
    "decide": Run("--seconds 0.02", {"EVENTS": 50, "ROUNDS": 1}),
    "dates": Run(),
    "names": Run("--half held --only de_a"),
    "default_rules": Run(),
    "event_types": Run(),
    "embed": Run("--texts 8 --only multilingual", {"QUESTIONS": 2}),
    "extract": Run("{tmp}/locomo.json"),
    "forget_cost": Run("--seconds 0.05", {"SAMPLE": 5}),
    "guard": Run("--locomo {tmp}/locomo.json --longmemeval {tmp}/longmemeval.json.gz"),
    "metrics": Run(),
    "questions": Run("--cases {tmp}/questions.jsonl"),
    "rooms": Run(),
    "runbooks": Run(),
    "local_models": Run("--check", lines=0),
    "scale_model": Run("--tiers"),
    "segment": Run("{tmp}/locomo.json", {"MIXED": 20, "STREAMS": 1}),
    "settings": Run(),
    "summary": Run("{tmp}/locomo.json"),
    "tokens": Run("--strings 5"),
}
"""Benches without servers."""

TRAINING: Final = {
    "corrections": Run("--pairs {tmp}/corrections.jsonl"),
    "durability": Run(),
    "ending": Run("--talks en-h"),
    "forget_recognition": Run("", {"ROUNDS": 1, "FOLDS": 2}),
    "reading": Run("--pairs {tmp}/read_pairs.jsonl --sentences {tmp}/plain.jsonl --talks {tmp}/matters.jsonl"),
    "judge": Run("--locomo {tmp}/locomo.json --longmemeval {tmp}/longmemeval.json.gz"),
    "references": Run("--cases {tmp}/references.jsonl --parts {tmp}/parts.jsonl"),
}
"""Benches that train or judge in this process."""

SERVED: Final = {
    "ablation": Run("--locomo {tmp}/locomo.json --talks 1 --recipes associative"),
    "alarms": Run("", {"EVENTS": 2_000, "LOOKS": 2, "WRITTEN": 200, "TURNS": 1}),
    "answers": Run("--only h01 --half held"),
    "accept": Run("", {"ROWS": 10, "ROUNDS": 1}),
    "atomic": Run("--language en"),
    "backtest": Run("", {"EVENTS": 2_000, "RULES": 2}),
    "busy": Run("--rate 20 --seconds 1 --warm 1 --locomo {tmp}/locomo.json", {"QUESTIONS": 2}),
    "changes": Run("{tmp}/changes.jsonl"),
    "clock": Run("", {"USERS": 500}),
    "console": Run("--rounds 2", {"WARM": 1}),
    "counting": Run("--memories 20 --rounds 2"),
    "context": Run("--known 50 --messages 20 --questions 3"),
    "curves": Run("--memories 100 --users 20", {"PROBES": 1, "EACH": 5}),
    "dedup": Run("--total 100 --new 10"),
    "dispatches": Run("--events 20 --processes 1", {"ROUNDS": 1}),
    "doorway": Run("", {"ROUNDS": 3}),
    "edit": Run("", {"EDITS": 5, "PROBE_SECONDS": 1.0}),
    "endings": Run("--file {tmp}/pairs.jsonl"),
    "erase": Run("", {"MESSAGES": 200, "OTHERS": 1, "FEW": 5, "PREVIEWS": 2}),
    "facts": Run("--data {tmp}/facts.json"),
    "fairness": Run("", {"ROUNDS": 2, "TIMES": 2, "PLANS": 1}),
    "first": Run("--large 200 --users 2", {"QUESTIONS": 2}),
    "floods": Run("--only 'search of 9 kB' --seconds 0.5", {"BEFORE": 2, "CALM_SECONDS": 2.0}),
    "flow": Run("", {"BATCH": 20, "MESSAGES": 2, "ROUNDS": 1}),
    "footprint": Run("--seconds 1"),
    "forget": Run("--sentences {tmp}/forget.jsonl"),
    "growth": Run("--rows 1000 --snapshot 0 --rate 10", {"CHUNK": 500, "ROUNDS": 4, "STEP": 100, "BURST": 2}),
    "hooks": Run("--known 20", {"ROUNDS": 2, "WARM": 1}),
    "imports": Run("--talks 3"),
    "languages": Run("--languages de --half first"),
    "matters": Run("{tmp}/matters.jsonl"),
    "peers": Run("--locomo {tmp}/locomo.json --questions 2 --only imprint,bm25"),
    "prefix": Run("--locomo {tmp}/locomo.json --turns 6 --talks 1"),
    "profile": Run("--rounds 1 --known 20"),
    "replica": Run("--users 2 --questions 4 --clients 2 --rounds 1", {"EACH": 100, "IDLE_SECONDS": 0.2}),
    "retention": Run("", {"MESSAGES": 200, "LENGTH": 5, "DUE": 20, "EVENTS": 100}),
    "route": Run("", {"EVENTS": 100, "BATCH": 20, "RULES": 2}),
    "scale": Run("--messages 8 --warm 4 --totals 1000 --owners --locomo {tmp}/locomo.json"),
    "search": Run("--rows 1000 --questions 5"),
    "searchable": Run("", {"ROUNDS": 2}),
    "stream": Run("", {"FOLLOWERS": 2, "EVENTS": 40, "BATCH": 10}),
    "sweep": Run("", {"MEMORIES": 500, "DUE": 20, "USERS": 5}),
    "talks": Run("--talks small", {"FOLDER": "{tmp}"}),
    "vectors": Run("--models multilingual --messages 8 --locomo {tmp}/locomo.json"),
    "work": Run("--half dev --language en"),
    "write": Run("--known 20 --candidates 30 --others 100"),
}
"""Benches that start servers of their own."""

ELSEWHERE: Final = {
    "kubernetes": "writes files of the chart: `make manifests`, and tests/house/test_kubernetes.py",
    "gatemem": "its data is not part of the project",
    "model_quality": "asks a real model: `make model`",
    "reader": "needs PyTorch",
    "recorded_model": "serves until it is stopped: `test_recorded_model`",
}

RUNS: Final = {**QUICK, **TRAINING, **SERVED}


THEMES: Final = {
    "work": (
        "I started to work as a nurse at the clinic in March.",
        "Ida works at the clinic as a doctor, too.",
    ),
    "pets": (
        "I adopted a cat last week, she is called Pepper.",
        "I am allergic to cats, so we should meet outside.",
    ),
    "town": ("I moved to Lisbon for my new job as a cook.", "The kitchen of my flat in Lisbon is tiny."),
    "sport": ("I ran the marathon in Oslo yesterday.", "I bought a blue bicycle to train for the tour."),
}
TURNS: Final = 24


def talk(number: int) -> dict[str, Any]:
    """Return a conversation in the form of LoCoMo, whose sessions are about two things each."""
    conversation: dict[str, Any] = {"speaker_a": "Nora", "speaker_b": "Emil"}
    observation: dict[str, Any] = {}
    for session, themes in enumerate((("work", "pets"), ("town", "sport")), 1):
        said = [THEMES[themes[at >= TURNS // 2]][at % 2] for at in range(TURNS)]
        turns = [
            {"speaker": ("Nora", "Emil")[at % 2], "dia_id": f"D{session}:{at}", "text": f"{words} Number {at}."}
            for at, words in enumerate(said)
        ]
        conversation |= {f"session_{session}_date_time": f"1:56 pm on {session} May, 2023", f"session_{session}": turns}
        noted = {turn["speaker"]: [[turn["text"], turn["dia_id"]]] for turn in turns[:2]}
        observation[f"session_{session}_observation"] = noted
    asked = {"question": "What is the name of the cat?", "answer": "Pepper", "evidence": ["D1:12"], "category": 4}
    dated = {"question": "When did Emil run?", "answer": "1 May 2023", "evidence": ["D2:12"], "category": 2}
    return {"sample_id": f"t{number}", "conversation": conversation, "observation": observation, "qa": [asked, dated]}


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the first cases of labelled files, and files in the form of other data sets."""
    folder = tmp_path_factory.mktemp("benches")
    firsts = {
        "changes": "changes_data/changes_f.jsonl",
        "corrections": "corrections_data/e.jsonl",
        "forget": "forget_data/sentences_dev.jsonl",
        "matters": "matters_data/matters_i.jsonl",
        "pairs": "endings_data/pairs_dev.jsonl",
        "parts": "endings_data/parts_dev.jsonl",
        "plain": "plain_data/plain_a.jsonl",
        "questions": "questions_data/questions_a.jsonl",
        "read_pairs": "pairs_data/pairs_p.jsonl",
        "references": "references_data/references_a.jsonl",
    }
    for name, source in firsts.items():
        lines = (FOLDER / source).read_text(encoding="utf-8").splitlines()[:2]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "locomo.json").write_text(json.dumps([talk(1), talk(2)]), encoding="utf-8")
    whole = json.loads((FOLDER / "talks_data" / "en-a.json").read_text(encoding="utf-8"))
    session = whole["sessions"][0]
    few = whole | {"sessions": [session | {"turns": session["turns"][:6]}]}
    (folder / "small.json").write_text(json.dumps(few), encoding="utf-8")
    facts = {"context": "0. Thomas Kyd is a citizen of Italy.\n1. Thomas Kyd is a citizen of France.\n"}
    facts |= {"source": "factconsolidation_sh_1k", "questions": ["Of what is Thomas Kyd a citizen?"]}
    (folder / "facts.json").write_text(json.dumps([facts | {"answers": [["France"]]}]), encoding="utf-8")
    said = {"role": "user", "content": "I live in Porto.", "has_answer": True}
    turns = [said, {"role": "assistant", "content": "Noted."}]
    asked = {"question_id": "1", "question_type": "knowledge-update", "question": "Where am I?", "answer": "Porto"}
    dated = {"question_date": "2023/10/08 (Sun) 15:29", "haystack_dates": ["2023/05/17 (Wed) 23:40"]}
    sessions = {"answer_session_ids": ["s1"], "haystack_session_ids": ["s1"], "haystack_sessions": [turns]}
    (folder / "longmemeval.json.gz").write_bytes(gzip.compress(json.dumps([asked | dated | sessions]).encode()))
    return folder


def sized(name: str, small_data: Path) -> list[str]:
    """Return the command line of a bench's options, and check that its constants are there."""
    module = importlib.import_module(f"bench.{name}")
    assert not [constant for constant in RUNS[name].constants if not hasattr(module, constant)]
    return [f"bench.{name}", *shlex.split(RUNS[name].options.replace("{tmp}", str(small_data)))]


@pytest.mark.parametrize("name", QUICK)
def test_a_bench_without_servers_runs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], small_data: Path
) -> None:
    monkeypatch.setattr("sys.argv", sized(name, small_data))
    module = importlib.import_module(f"bench.{name}")
    for constant, value in RUNS[name].constants.items():
        monkeypatch.setattr(module, constant, value)
    module.main()
    assert len(capsys.readouterr().out.splitlines()) >= RUNS[name].lines


@pytest.mark.benches
@pytest.mark.parametrize("name", [*TRAINING, *SERVED])
def test_a_bench_with_servers_or_training_runs(name: str, small_data: Path) -> None:
    program = [
        f"import pathlib, sys, bench.{name} as module",
        f"sys.argv = {sized(name, small_data)}",
        *(
            f"module.{constant} = {f'pathlib.Path({str(small_data)!r})' if value == '{tmp}' else repr(value)}"
            for constant, value in RUNS[name].constants.items()
        ),
        "module.main()",
    ]
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2_000:] + ran.stderr[-2_000:]
    assert re.search(r"\d", ran.stdout), "no figure"


def test_every_bench_is_run() -> None:
    started = {file.stem for file in FOLDER.glob("*.py") if "def main(" in file.read_text(encoding="utf-8")}
    assert started - {"__main__"} == RUNS.keys() | ELSEWHERE.keys()
