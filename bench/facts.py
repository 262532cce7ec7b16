"""Order of facts once a later one contradicts an earlier one: FactConsolidation of MemoryAgentBench, without a model.

    python -m bench.facts --data ../shared/data/factconsolidation_dev.json [--only sh_6k] [--show]

The numbered facts of a stream are published in their order as messages of one user, a minute apart, a hundred to a
session. Each question is then asked at the doors:

- first: the first result of `POST /v1/search` holds the newest fact (an answer stands in it)
- among ten: any of the first ten does
- retired above: a retired fact of the same slot is ranked above the first result that holds the newest one. A fact is
  retired if a later one opens with the same words and ends otherwise; known by the text of the stream alone
- context: the newest fact stands in the context of `POST /v1/context`; and no retired one before it

The sets are MIT-licensed (Hu et al. 2025, arXiv 2507.05257).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from bench import arguments
from bench.stand import Stand, stack

Json = dict[str, Any]
BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)
SESSION = 100
BATCH = 500
RESULTS = 10
FACT = re.compile(r"^\d+\. (.+)$", re.MULTILINE)


@dataclass(slots=True)
class Stream:
    """A stream of facts, in their order, and its questions with the answers that hold at its end."""

    name: str
    facts: list[str]
    questions: list[tuple[str, list[str]]]

    def retired(self, newest: str) -> list[str]:
        """Return the facts before `newest` that it contradicts: of the same words but for the end."""
        frame = frame_of(newest)
        return [fact for fact in self.facts if fact != newest and frame_of(fact) == frame]


@dataclass(slots=True)
class Score:
    """Observations on the questions of a stream, one for each."""

    first: list[bool] = field(default_factory=list)
    ten: list[bool] = field(default_factory=list)
    above: list[bool] = field(default_factory=list)
    context: list[bool] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


# The relations of the set, longest first: what stands behind one of them is the value.
VERBS = (
    r" is located in the (?:city|country|continent) of "
    r"| (?:was|is) (?:born|created|founded) in the (?:city|country) of "
    r"| (?:is|was) (?:associated|affiliated) with the (?:sport|religion) of | plays the position of "
    r"| (?:died|worked) in the city of | works in the field of | (?:speaks|was written in) the language of "
    r"| is famous for | is a citizen of | is married to | is employed by "
    r"| was (?:performed|founded|developed|created) by |'s child is | is "
)
FRAME = re.compile(f"^(.+?(?:{VERBS}))")


def frame_of(fact: str) -> str:
    """Return a fact without its value."""
    match = FRAME.match(fact)
    return match.group(1) if match else fact


def streams(file: Path, only: Sequence[str]) -> Iterator[Stream]:
    for record in json.loads(file.read_text(encoding="utf-8")):
        name = record["source"].removeprefix("factconsolidation_")
        if not only or name in only:
            questions = list(zip(record["questions"], record["answers"], strict=True))
            yield Stream(name, FACT.findall(record["context"]), questions)


def publish(stand: Stand, stream: Stream) -> None:
    token = ""
    for start in range(0, len(stream.facts), BATCH):
        events = [_event(stream, number) for number in range(start, min(start + BATCH, len(stream.facts)))]
        token = stand.call("POST", "/v1/events", events)["settle_token"]
    stand.settle(token, flush=True)


def _event(stream: Stream, number: int) -> Json:
    payload = {
        "user_id": stream.name,
        "session_id": f"{stream.name}-{number // SESSION}",
        "message_id": str(number),
        "role": "user",
        "content": stream.facts[number],
    }
    at = (BEGAN + timedelta(minutes=number)).isoformat()
    return {"event_type": "message.added", "source": "facts", "time": at, "payload": payload}


def score(stand: Stand, stream: Stream) -> Score:
    scored = Score()
    for question, answers in stream.questions:
        request = {"user_id": stream.name, "query": question, "limit": RESULTS}
        texts = [text_of(result) for result in stand.call("POST", "/v1/search", request)["results"]]
        holding = [position for position, text in enumerate(texts) if holds(text, answers)]
        scored.first.append(holding[:1] == [0])
        scored.ten.append(bool(holding))
        scored.above.append(_retired_above(stream, texts, holding))
        context = stand.call("POST", "/v1/context", {"user_id": stream.name, "query": question, "max_tokens": 2000})
        scored.context.append(
            _in_context(stream, "\n".join(section["text"] for section in context["sections"]), answers)
        )
        if holding[:1] != [0]:
            scored.missed.append(f"{question} {answers} ← {texts[:2]} at {holding[:1]}")
    return scored


def text_of(result: Json) -> str:
    return str(result.get("content") or result.get("text") or "")


def holds(text: str, answers: Sequence[str]) -> bool:
    return any(answer.lower() in text.lower() for answer in answers)


def _retired_above(stream: Stream, texts: Sequence[str], holding: Sequence[int]) -> bool:
    if not holding or holding[0] == 0:
        return False
    newest = next((fact for fact in reversed(stream.facts) if fact in texts[holding[0]]), texts[holding[0]])
    return any(old in text for old in stream.retired(newest) for text in texts[: holding[0]])


def _in_context(stream: Stream, context: str, answers: Sequence[str]) -> bool:
    places = [context.find(fact) for fact in stream.facts if holds(fact, answers) and fact in context]
    if not places:
        return False
    newest = next(fact for fact in reversed(stream.facts) if holds(fact, answers) and fact in context)
    before = context[: context.find(newest)]
    return not any(old in before for old in stream.retired(newest))


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/factconsolidation_dev.json"))
    parser.add_argument("--only", nargs="+", default=[], help="sh_6k, mh_6k, …")
    parser.add_argument("--show", action="store_true", help="list the questions whose first result is another")
    options = parser.parse_args()
    with stack() as stand:
        for stream in streams(options.data, options.only):
            publish(stand, stream)
            scored = score(stand, stream)
            parts = {"first": scored.first, "among ten": scored.ten, "retired above": scored.above}
            parts["context"] = scored.context
            print(f"{stream.name}: ", *(f"{name} {fmean(values):.2f}" for name, values in parts.items()), flush=True)
            if options.show:
                print(*scored.missed, sep="\n  ")


if __name__ == "__main__":
    main()
