"""Questions about what people told over months: answered rightly, wrongly, or not at all.

    python -m bench.answers [--half dev] [--by statement] [--only h01] [--show] [--fit]

Each world of `answers_data` is published session by session to a stack of its own as the conversation of a user, and
settled. Its questions are then asked of `POST /v1/answer`, `POST /v1/search` and `POST /v1/context`:

- right: an accepted answer stands in what was answered
- outdated: only a value that was true before does
- wrong: neither does; for what was never said: anything was answered
- abstains: answered that it is not known; right for what was never said
- first: an accepted answer stands in the first result of the search
- context: one stands in the context, within 2,000 tokens
- unmarked: the context has an outdated value in a line without a mark, beside another line with the current one
- misled: the context has the current value in marked lines alone

People who had not seen the code wrote both halves. `dev` is for tuning: `--fit` prints what the
curve of `core.answering.certainty` is drawn through. With a model (IMPRINT_LLM_BASE_URL, …) `--by
model` asks that.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from bench import arguments
from bench.stand import Stand, stack
from core.answering import certainty
from core.answering import statements as answering_statements
from core.answering.answer import RESULTS
from core.config import Settings
from core.inference import configured_embedder
from core.search.candidates import Hit
from core.search.ordering import RankedHit
from core.search.question import Question, SearchResult
from core.types import Message

FOLDER = Path(__file__).with_name("answers_data")
HALVES = ("dev", "held")
SECONDS_A_TURN: Final = 40
TOKENS: Final = 2_000
ROW: Final = "| {:<10} | {:>9} | {:>5} | {:>8} | {:>5} | {:>8} | {:>5} | {:>7} | {:>8} | {:>6} |"
HEAD: Final = ("kind", "questions", "right", "outdated", "wrong", "abstains", "first", "context", "unmarked", "misled")
BINS: Final = 6
MARKS: Final = ("no longer true", "disputed", "may be outdated")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcomes of a question at each endpoint."""

    kind: str
    answered: str
    first: bool
    context: bool
    unmarked: bool
    misled: bool
    line: str


def worlds(half: str, only: Sequence[str]) -> list[Json]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [world for line in lines for world in [json.loads(line)] if not only or world["id"] in only]


def publish(stand: Stand, world: Json) -> None:
    for number, session in enumerate(world["sessions"]):
        token = stand.call("POST", "/v1/events", _events(world, number, session))["settle_token"]
        stand.settle(token, flush=True)


def _events(world: Json, number: int, session: Json) -> list[Json]:
    began = datetime.fromisoformat(f"{session['day']}T09:00:00+00:00")
    scope = {"session_id": f"{world['id']}-{number}", "user_id": world["id"]}
    events = []
    for at, turn in enumerate(session["turns"]):
        speaker = {"speaker": world["user"]} if turn["role"] == "user" else {}
        payload = {**scope, **speaker, "role": turn["role"], "content": turn["text"], "message_id": str(at)}
        time = (began + timedelta(seconds=SECONDS_A_TURN * at)).isoformat()
        events.append({"event_type": "message.added", "source": "answers", "time": time, "payload": payload})
    ended = {**scope, "message_count": len(session["turns"])}
    time = (began + timedelta(seconds=SECONDS_A_TURN * len(events))).isoformat()
    return [*events, {"event_type": "session.ended", "source": "answers", "time": time, "payload": ended}]


def ask(stand: Stand, world: Json, question: Json, by: str | None) -> Outcome:
    owner = {"user_id": world["id"]}
    body = {**owner, "question": question["q"], **({"by": by} if by else {})}
    given = stand.call("POST", "/v1/answer", body)
    results = stand.call("POST", "/v1/search", {**owner, "query": question["q"], "limit": 1})["results"]
    context = stand.call(
        "POST", "/v1/context", {**owner, "query": question["q"], "max_tokens": TOKENS, "format": "text"}
    )["text"]
    accepted, outdated = question["answers"] or [], question["outdated"]
    plain = [line for line in context.splitlines() if not any(mark in line for mark in MARKS)]
    unmarked = any(holds(line, outdated) and not holds(line, accepted) for line in plain)
    return Outcome(
        question["kind"],
        outcome_of(given["answer"], accepted, outdated),
        bool(results) and holds(results[0]["content"], accepted),
        holds(context, accepted),
        unmarked and holds(context, accepted),
        holds(context, accepted) and not any(holds(line, accepted) for line in plain),
        f"{question['q']} → {given['answer']} ({given['certainty']}); {accepted or 'never said'}",
    )


def outcome_of(answer: str | None, accepted: Sequence[str], outdated: Sequence[str]) -> str:
    """Return whether an answer is right, outdated or wrong, or abstains."""
    if answer is None:
        return "abstains"
    if holds(answer, accepted):
        return "right"
    return "outdated" if holds(answer, outdated) else "wrong"


def holds(text: str, values: Sequence[str]) -> bool:
    """Return whether one of the values stands in a text, whatever its case and full stops."""
    plain = _plain(text)
    return any(_plain(value) in plain for value in values)


def _plain(text: str) -> str:
    return re.sub(r"[.\s]+", " ", text.casefold()).strip()


def _cases(stand: Stand, world: Json) -> Iterator[tuple[Json, Json, list[Json]]]:
    for question in world["questions"]:
        body = {"user_id": world["id"], "query": question["q"], "limit": RESULTS}
        yield world, question, stand.call("POST", "/v1/search", body)["results"]


def fitted(cases: Sequence[tuple[Json, Json, list[Json]]]) -> str:
    """Return the share of chosen statements that are right by their cosine, which the curve of certainties follows.

    Each question comes with its world and the results of its search.
    """
    embedder = configured_embedder.embedder(Settings())
    nearest, labels = list[float](), list[bool]()
    for world, question, results in cases:
        statements = answering_statements.of_results([_result(result, world) for result in results])
        nearness = certainty.cosines(embedder, Question(question["q"], None), statements)
        best = int(certainty.preference(nearness, statements).argmax())
        nearest.append(nearness[best])
        labels.append(holds(statements[best].text, question["answers"] or []))
    edges = np.quantile(nearest, np.linspace(0, 1, BINS + 1))
    of_bin = np.clip(np.searchsorted(edges, nearest, side="right") - 1, 0, BINS - 1)
    shares = [f"{edges[at]:.2f}: {np.mean(np.array(labels)[of_bin == at]):.2f}" for at in range(BINS)]
    return f"{sum(labels)} of {len(labels)} right; by the cosine from: {', '.join(shares)}"


def _result(result: Json, world: Json) -> SearchResult:
    """Return a result of the API as the core has it."""
    hit = Hit(result["id"], result["type"], 0.0, result["scores"]["vector"], retired=bool(result.get("superseded")))
    ranked = RankedHit(hit, result["score"], {}, {})
    at = datetime.fromisoformat(result["occurred_at"])
    if result["type"] == "memory":
        memory = SimpleNamespace(content=result["content"], said_at=at, occurred_at=at)
        return SearchResult(ranked, [], memory=memory)
    message = Message(
        "", result["id"], 1, "", world["id"], result["role"], result["content"], at, speaker=result["speaker"]
    )
    return SearchResult(ranked, [], message=message)


def rows(outcomes: Sequence[Outcome]) -> list[str]:
    kinds = sorted({outcome.kind for outcome in outcomes})
    return [_row(kind, [outcome for outcome in outcomes if outcome.kind == kind]) for kind in kinds] + [
        _row("all", outcomes)
    ]


def _row(kind: str, outcomes: Sequence[Outcome]) -> str:
    answered = Counter(outcome.answered for outcome in outcomes)
    counts = [answered[name] for name in ("right", "outdated", "wrong", "abstains")]
    doors = [sum(getattr(outcome, name) for outcome in outcomes) for name in ("first", "context", "unmarked", "misled")]
    return ROW.format(kind, len(outcomes), *counts, *doors)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, default="held")
    parser.add_argument("--by", choices=("model", "statement"), help="who answers; default: a model if there is one")
    parser.add_argument("--only", nargs="*", default=[], help="worlds by id")
    parser.add_argument("--fit", action="store_true", help="print the share that is right by cosine")
    parser.add_argument("--show", action="store_true", help="list what is not right")
    parsed = parser.parse_args()
    outcomes = list[Outcome]()
    with stack() as stand:
        for world in worlds(parsed.half, parsed.only):
            publish(stand, world)
        if parsed.fit:
            print(fitted([case for world in worlds(parsed.half, parsed.only) for case in _cases(stand, world)]))
            return
        for world in worlds(parsed.half, parsed.only):
            outcomes += [ask(stand, world, question, parsed.by) for question in world["questions"]]
    print(ROW.format(*HEAD))
    print(ROW.format(*("---" for _ in HEAD)))
    print("\n".join(rows(outcomes)))
    for outcome in outcomes if parsed.show else ():
        if (outcome.answered == "abstains") != (outcome.kind == "never_said") and outcome.answered != "right":
            print(f"{outcome.kind} {outcome.answered}: {outcome.line}")


if __name__ == "__main__":
    main()
