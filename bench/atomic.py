"""Whether several facts in one message become separate statements, and one of them can change alone.

    python -m bench.atomic [--half dev|held|dev2|held2] [--language en|zh] [--show]

Messages written and labelled by somebody who had not seen the rules: two to four facts each, or none. Each is
published as the only message of a user of its own to a stack without a model. A memory is right if it holds the key
words of a fact; it is atomic if it holds those of no other fact of its message. Half of the messages have a later one
that changes one fact: then the memory of that fact is retired and the others stay, and a question about it, in the
language of the message and in the other one, finds the new value first. `dev2` and `held2` hold Chinese messages by
another author, a third of which say nothing to remember. Rules are mended on `dev` and `dev2` alone; the others are a
first meeting.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import arguments
from bench.stand import Stand, stack

Json = dict[str, Any]
FOLDER = Path(__file__).parent / "atomic_data"
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
DERIVED = frozenset({"episode"})


class Counts(dict[str, list[bool]]):
    """Yes and no by what was asked."""

    def __missing__(self, name: str) -> list[bool]:
        self[name] = []
        return self[name]

    def line(self) -> str:
        return ", ".join(f"{name} {sum(seen) / len(seen):.3f} of {len(seen)}" for name, seen in self.items() if seen)


def items(half: str, language: str | None) -> list[Json]:
    name = f"zh-{half}" if half.endswith("2") else half
    cases: list[Json] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return [{"later": None, "ask": None, **case} for case in cases if language in {None, case["language"]}]


def publish(stand: Stand, messages: Sequence[tuple[Json, str, datetime]]) -> None:
    """Publish one message for each of the given users, and wait until all is remembered."""
    events: list[Json] = []
    for item, text, at in messages:
        scope = {"session_id": f"{item['id']}-{at:%H%M}", "user_id": item["id"]}
        payload = {**scope, "speaker": item["speaker"], "role": "user", "content": text}
        events.append({"event_type": "message.added", "source": "atomic", "time": at.isoformat(), "payload": payload})
        ended = {**scope, "message_count": 1}
        later = (at + timedelta(minutes=1)).isoformat()
        events.append({"event_type": "session.ended", "source": "atomic", "time": later, "payload": ended})
    token = stand.call("POST", "/v1/events", events)["settle_token"]
    stand.settle(token, flush=True)


def memories(stand: Stand, item: Json) -> list[str]:
    rows = stand.call("GET", f"/v1/memories?user_id={item['id']}&status=active&limit=100")["items"]
    return [row["content"] for row in rows if row["category"] not in DERIVED and not row.get("level")]


def says(memory: str, statement: Json) -> bool:
    return all(word.lower() in memory.lower() for word in statement["must"])


def is_atomic(memory: str, statement: Json) -> bool:
    return not any(word.lower() in memory.lower() for word in statement["must_not"])


def score(item: Json, kept: Sequence[str], counts: Counts) -> Iterator[str]:
    """Count what was remembered of a message; yield what is wrong with it."""
    for statement in item["statements"]:
        holding = [memory for memory in kept if says(memory, statement)]
        counts["recall"].append(bool(holding))
        if not holding:
            yield f"missed: {statement['says']}"
        else:
            counts["atomic"].append(any(is_atomic(memory, statement) for memory in holding))
    for memory in kept:
        counts["precision"].append(any(says(memory, statement) for statement in item["statements"]))
        if not counts["precision"][-1]:
            yield f"wrong: {memory}"
    if not item["statements"]:
        counts["nothing of nothing"].append(not kept)


def changed(stand: Stand, item: Json, kept: Sequence[str], counts: Counts) -> Iterator[str]:
    """Count what became of a message's facts after one was changed, and what a question about it finds."""
    statements = item["statements"]
    for key in item["later"]["keeps"]:
        before = any(says(memory, statements[key]) for memory in item["kept"])
        if before:
            counts["others stay"].append(any(says(memory, statements[key]) for memory in kept))
            if not counts["others stay"][-1]:
                yield f"retired too: {statements[key]['says']}"
    retired = statements[item["later"]["retires"]]
    if any(says(memory, retired) for memory in item["kept"]):
        counts["retired"].append(not any(says(memory, retired) for memory in kept))
        if not counts["retired"][-1]:
            yield f"still holds: {retired['says']} after {item['later']['text']}"
    for name, question in (("asked", item["ask"]["question"]), ("asked in the other", item["ask"]["other_language"])):
        results = stand.call("POST", "/v1/search", {"user_id": item["id"], "query": question, "limit": 5})["results"]
        first = str(results[0].get("content") or "") if results else ""
        counts[name].append(any(answer.lower() in first.lower() for answer in item["ask"]["answer"]))
        if not counts[name][-1]:
            yield f"{name}: {question} → {first}"


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--half", choices=["dev", "held", "dev2", "held2"], default="dev")
    parser.add_argument("--language", choices=["en", "zh"])
    parser.add_argument("--show", action="store_true", help="list what is wrong")
    options = parser.parse_args()
    counts: dict[str, Counts] = defaultdict(Counts)
    with stack() as stand:
        cases = items(options.half, options.language)
        publish(stand, [(item, item["text"], BEGAN) for item in cases])
        for item in cases:
            item["kept"] = memories(stand, item)
            faults = list(score(item, item["kept"], counts[item["language"]]))
            if options.show and faults:
                print(f"{item['id']} {item['text']}", *faults, sep="\n    ")
        later = [item for item in cases if item["later"]]
        publish(stand, [(item, item["later"]["text"], BEGAN + timedelta(days=30, minutes=7)) for item in later])
        for item in later:
            faults = list(changed(stand, item, memories(stand, item), counts[item["language"]]))
            if options.show and faults:
                print(f"{item['id']} {item['later']['text']}", *faults, sep="\n    ")
    for language, seen in counts.items():
        print(f"{language}: {seen.line()}")


if __name__ == "__main__":
    main()
