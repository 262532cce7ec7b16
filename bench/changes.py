"""Effects of a new message on what was said before, through the pipeline of production, without a model.

    python -m bench.changes FILE [--show]

Each line of the file is a case (`changes_data`): `earlier` statements with their days, a later `message`, and its
`effects` on them. Each statement is a message of a conversation of its own; the message comes last. A statement is over
if nothing of what is stored of it alone is in force. Statements of which nothing is stored do not count. Reported: of
those that were ended, how many are over by the labels; of those that are over, how many were ended; and how many
statements that hold were ended where the message changes nothing at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bench import arguments, pipeline
from bench.pipeline import TENANT, Pipeline
from bench.reader_data import OVER

Json = dict[str, Any]
LEARNING = frozenset({"consolidate_on_session_end", "resolve_conflicts"})
"""Default rules that learn from conversations."""


@dataclass(slots=True)
class Score:
    """Counts over statements, and a line for each that is wrong."""

    stored: int = 0
    over: int = 0
    ended: int = 0
    right: int = 0
    in_vain: int = 0
    unchanged: int = 0
    lines: list[str] = field(default_factory=list)


def run(cases: Sequence[Json]) -> Score:
    """Play the cases."""
    score = Score()
    with pipeline.started(LEARNING) as running:
        for case in cases:
            before = tell(running, case)
            say(running, case, len(case["earlier"]), case["message"], case["said"])
            count(case, before, in_force(running, case), score)
    return score


def tell(running: Pipeline, case: Json) -> set[int]:
    """Say the earlier statements; return those of which something is stored."""
    for at, earlier in enumerate(case["earlier"]):
        say(running, case, at, earlier["text"], earlier["said"])
    return in_force(running, case)


def say(running: Pipeline, case: Json, at: int, content: str, day: str) -> None:
    """Publish a message, and end its conversation."""
    time, session = f"{day}T09:00:00Z", f"{case['id']}-{at}"
    message = {"session_id": session, "user_id": case["id"], "role": "user", "content": content, "message_id": "m"}
    ended = {"session_id": session, "message_count": 3}
    for event_type, payload in (("message.added", message), ("session.ended", ended)):
        running.publish([{"event_type": event_type, "source": "bench", "time": time, "payload": payload}])


def in_force(running: Pipeline, case: Json) -> set[int]:
    """Return the numbers of the statements of which something is stored that rests on them alone and is in force."""
    query = text("""
        SELECT min(e.session_id) AS session_id FROM memories m JOIN evidence e ON e.memory_id = m.id
        WHERE m.user_id = :user AND m.status = 'active' AND m.category <> 'episode'
        GROUP BY m.id HAVING count(DISTINCT e.session_id) = 1
    """)
    with running.app.tenant(TENANT) as tx:
        return {int(session.rpartition("-")[2]) for session in tx.execute(query, {"user": case["id"]}).scalars()}


def count(case: Json, before: set[int], after: set[int], score: Score) -> None:
    """Add what became of the statements of a case."""
    over = {effect["on"] for effect in case["effects"] if effect["kind"] in OVER} & before
    ended = before - after - {effect["on"] for effect in case["effects"] if effect["kind"] in {"same", "more"}}
    score.stored += len(before)
    score.over += len(over)
    score.ended += len(ended)
    score.right += len(ended & over)
    if not case["effects"]:
        score.unchanged += len(before)
        score.in_vain += len(ended)
    for at in sorted(ended ^ over):
        what = "ended in vain" if at in ended else "still in force"
        score.lines.append(f"{case['id']} {what}: {case['earlier'][at]['text']} | {case['message']}")


def show(score: Score, *, failures: bool) -> None:
    print(f"statements stored: {score.stored}")
    print(f"ended: {score.ended}, of which over: {score.right / max(1, score.ended):.2f}")
    print(f"over: {score.over}, of which ended: {score.right / max(1, score.over):.2f}")
    print(f"ended where nothing changes: {score.in_vain} of {score.unchanged}")
    for line in score.lines if failures else ():
        print(f"  {line}")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    parsed = parser.parse_args()
    cases = [json.loads(line) for line in parsed.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    show(run(cases), failures=parsed.show)


if __name__ == "__main__":
    main()
