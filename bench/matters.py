"""Sentences that are kept of conversations, through the pipeline of production, without a model.

    python -m bench.matters FILE [--show]

Each line of the file is a conversation (`matters_data`): its turns, and of each sentence of the user whether it should
be kept. It is published, ended, and settled. A sentence is kept if an active memory cites it: the quotation is within
the sentence, or the sentence within the quotation. Reported by language: of the sentences kept, how many should be
(precision); of those that should be, how many are (recall).
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bench import arguments, pipeline
from bench.changes import LEARNING
from bench.pipeline import TENANT, Pipeline

Json = dict[str, Any]
TIME = "2026-11-02T09:00:00Z"


@dataclass(slots=True)
class Score:
    """Counts of sentences of one language, and a line for each that is wrong."""

    expected: int = 0
    kept: int = 0
    right: int = 0
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.kept), self.right / max(1, self.expected)
        return f"precision {precision:.2f} of {self.kept}, recall {recall:.2f} of {self.expected}"


def quotations(running: Pipeline, case: Json) -> list[tuple[int, str]]:
    """Publish a conversation; return what active memories cite of it: the turn and the words."""
    session = f"session-{case['id']}"
    for at, turn in enumerate(case["turns"]):
        payload = {"session_id": session, "user_id": case["id"], "role": turn["role"], "message_id": f"m{at}"}
        payload |= {"content": content(turn, case["lang"])}
        payload |= {"speaker": case["speaker"]} if turn["role"] == "user" else {}
        running.publish([{"event_type": "message.added", "source": "bench", "time": TIME, "payload": payload}])
    ended = {"session_id": session, "message_count": len(case["turns"])}
    running.publish([{"event_type": "session.ended", "source": "bench", "time": TIME, "payload": ended}])
    query = text("""
        SELECT e.message_id, e.quote FROM memories m JOIN evidence e ON e.memory_id = m.id
        WHERE m.user_id = :user AND m.status = 'active' AND m.category <> 'episode' AND e.quote <> ''
    """)
    with running.app.tenant(TENANT) as tx:
        return [(int(row.message_id[1:]), row.quote) for row in tx.execute(query, {"user": case["id"]})]


def content(turn: Json, language: str) -> str:
    if "sentences" not in turn:
        return str(turn["text"])
    return ("" if language in {"zh", "ja"} else " ").join(sentence["text"] for sentence in turn["sentences"])


def count(case: Json, cited: list[tuple[int, str]], score: Score) -> None:
    """Add what became of the sentences of a conversation."""
    for at, turn in enumerate(case["turns"]):
        quotes = [quote for number, quote in cited if number == at]
        for sentence in turn.get("sentences", ()):
            text = sentence["text"]
            kept = any(text in quote or quote in text for quote in quotes)
            score.expected += sentence["keep"]
            score.kept += kept
            score.right += kept and sentence["keep"]
            if kept != sentence["keep"]:
                score.lines.append(f"{case['id']} {'kept in vain' if kept else 'not kept'}: {text}")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    parsed = parser.parse_args()
    scores: dict[str, Score] = defaultdict(Score)
    with pipeline.started(LEARNING) as running:
        for line in parsed.file.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            count(case, quotations(running, case), scores[case["lang"]])
    for language, score in sorted(scores.items()):
        print(f"{language}: {score}")
        for line in score.lines if parsed.show else ():
            print(f"  {line}")


if __name__ == "__main__":
    main()
