"""Talks and questions of the side-by-side bench: those of LoCoMo, the two texts of a turn, and how finds count."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Final

from core.types import Json

KS: Final = (5, 10, 20)
SECONDS_BETWEEN_TURNS: Final = 30
TEXTS: Final = {"own": "own text", "near": "with neighbours"}


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: its turns as a peer is given them, without their `text`, and what is asked about it."""

    name: str
    turns: Sequence[Json]
    questions: Sequence[Question]


def talks(path: Path, count: int, questions: int) -> list[Talk]:
    """The first conversations of a LoCoMo file, of each the first questions that name their evidence (0: all)."""
    return [_talk(sample, questions) for sample in json.loads(path.read_text())[: count or None]]


def _talk(sample: Json, questions: int) -> Talk:
    talk, turns = sample["conversation"], []
    for name in sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
        start = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for position, turn in enumerate(talk[name]):
            caption = turn.get("blip_caption")
            turns.append(
                {
                    "id": turn["dia_id"],
                    "session": name,
                    "speaker": turn["speaker"],
                    "role": "user" if turn["speaker"] == talk["speaker_a"] else "assistant",
                    "content": turn["text"] + (f" [shares a picture: {caption}]" if caption else ""),
                    "time": (start + timedelta(seconds=SECONDS_BETWEEN_TURNS * position)).isoformat(),
                }
            )
    labelled = [Question(qa["question"], evidence(qa.get("evidence", []))) for qa in sample["qa"]]
    return Talk(
        sample["sample_id"], turns, [question for question in labelled if question.evidence][: questions or None]
    )


def evidence(cited: Sequence[str]) -> frozenset[str]:
    """The turns that a question's labels name, in whatever spelling."""
    matches = (re.findall(r"D:?(\d+):(\d+)", label) for label in cited)
    return frozenset(f"D{int(session)}:{int(turn)}" for pairs in matches for session, turn in pairs)


def texts(turns: Sequence[Json], way: str) -> list[str]:
    """Text of each turn that a peer keeps: "speaker: words", alone or between its neighbours in the session."""
    own = [f"{turn['speaker']}: {turn['content']}" for turn in turns]
    if way == "own":
        return own
    return [
        "\n".join(
            own[at] for at in range(max(position - 1, 0), min(position + 2, len(own))) if _together(turns, at, position)
        )
        for position in range(len(own))
    ]


def _together(turns: Sequence[Json], first: int, second: int) -> bool:
    return bool(turns[first]["session"] == turns[second]["session"])


def counted(answers: Sequence[tuple[frozenset[str], Sequence[str]]]) -> dict[str, float]:
    """Over pairs of evidence and ids found: `rec@k`, the mean share of the evidence among the first k distinct ids,
    and `any@10`, how often at least one is there.
    """  # fmt: skip
    firsts = [(expected, list(dict.fromkeys(results))) for expected, results in answers]
    hits = {k: [len(expected & set(results[:k])) / len(expected) for expected, results in firsts] for k in KS}
    return {f"rec@{k}": fmean(hits[k]) for k in KS} | {"any@10": fmean(hit > 0 for hit in hits[10])}
