"""Memories of messages from work: stacks, conventions, orders and procedures among one-off commands.

    python -m bench.work [--half dev|held] [--language en|zh] [--show]

120 messages in each half, about half of them with nothing to remember; who wrote and labelled them had not seen the
rules. Each is published as the only message of a user of its own to a stack without a model, and settled. A memory is
right if it holds words of a fact that its message is labelled with. A fact is found if the memories of its message
together hold all of its words; its category is right if one of those with its words has it. Rules are mended on `dev`
alone; `held` is a first meeting. `train.jsonl` holds single sentences by another author, for `bench.durability`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import arguments
from bench.atomic import DERIVED, Counts, Json, publish
from bench.stand import Stand, stack

FOLDER = Path(__file__).parent / "work_data"
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def items(half: str, language: str | None) -> list[Json]:
    cases: list[Json] = json.loads((FOLDER / f"{half}.json").read_text(encoding="utf-8"))
    return [{"speaker": "Ada", **case} for case in cases if language in {None, case["lang"]}]


def memories(stand: Stand, item: Json) -> list[Json]:
    """Return the active memories of the user of a message, without derived ones."""
    rows = stand.call("GET", f"/v1/memories?user_id={item['id']}&status=active&limit=100")["items"]
    return [row for row in rows if row["category"] not in DERIVED and not row.get("level")]


def score(item: Json, kept: Sequence[Json], counts: Counts) -> Iterator[str]:
    """Count what was remembered of a message; yield what is wrong with it."""
    for fact in item["keep"]:
        whole = " ".join(memory["content"] for memory in kept)
        counts["recall"].append(all(_holds(whole, word) for word in fact["words"]))
        if counts["recall"][-1]:
            categories = {
                memory["category"] for memory in kept if any(_holds(memory["content"], word) for word in fact["words"])
            }
            counts["category"].append(fact["category"] in categories)
        else:
            yield f"missed: {fact['fact']}"
    for memory in kept:
        right = any(_holds(memory["content"], word) for fact in item["keep"] for word in fact["words"])
        counts["precision"].append(right)
        if not right:
            yield f"wrong: {memory['content']}"
    if not item["keep"]:
        counts["nothing of nothing"].append(not kept)


def _holds(text: str, word: str) -> bool:
    return word.lower() in text.lower()


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--half", choices=["dev", "held"], default="dev")
    parser.add_argument("--language", choices=["en", "zh"])
    parser.add_argument("--show", action="store_true", help="list what is wrong")
    options = parser.parse_args()
    counts: dict[str, Counts] = defaultdict(Counts)
    with stack() as stand:
        cases = items(options.half, options.language)
        publish(stand, [(item, item["text"], BEGAN) for item in cases])
        for item in cases:
            faults = list(score(item, memories(stand, item), counts[item["lang"]]))
            if options.show and faults:
                print(f"{item['id']} {item['text']}", *faults, sep="\n    ")
    for language, seen in counts.items():
        print(f"{language}: {seen.line()}")


if __name__ == "__main__":
    main()
