"""Requests to forget, against labels: recognised, erased everywhere, and nothing else lost.

    python -m bench.forget [--set dev dev2 held held2] [--only ID …] [--show]
    python -m bench.forget --sentences FILE [--show]

Each scenario is published to a stack of its own, without a model: first its talk, settled, then the request, settled.
What is held for approval is approved. A target counts as left if a search (for the string itself and for the words of
the request, raw, twenty results) finds it, or if it stands in a message, memory, unit or summary that the API lists.
A keep counts as lost if it stands in none of them. Requests by somebody who does not dispose of the matter have to be
refused: there the target must stay.

Who wrote and labelled the scenarios had not seen the rules. The rules were mended on `dev` and `dev2` alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import arguments, forget_sentences
from bench.stand import Stand, stack

SETS = ("dev", "dev2", "held", "held2")
FOLDER = Path(__file__).parent / "forget_data"
SECONDS_A_TURN = 40
RESULTS = 20
BEGAN = datetime(2026, 11, 2, 9, tzinfo=UTC)
Json = dict[str, Any]


@dataclass(slots=True)
class Score:
    """Counts over scenarios, and a line for each one that failed."""

    requests: int = 0
    recognised: int = 0
    statements: int = 0
    alarms: int = 0
    obeyed: int = 0
    targets: int = 0
    left: int = 0
    clean: int = 0
    refusals: int = 0
    refused: int = 0
    keeps: int = 0
    lost: int = 0
    failures: list[str] = field(default_factory=list)


def scenarios(name: str) -> list[Json]:
    loaded: list[Json] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def events(scenario: Json) -> list[Json]:
    """The talk of a scenario with its request at the end, as an agent would publish it."""
    turns = [*scenario["turns"], scenario["last"]]
    people = {turn["speaker"] for turn in turns if turn["role"] == "user"}
    user = next(turn["speaker"] for turn in turns if turn["role"] == "user")
    published = []
    for number, turn in enumerate(turns):
        user = turn["speaker"] if turn["role"] == "user" else user
        payload = {
            "session_id": f"session-{scenario['id']}",
            "user_id": user_id(scenario, user),
            "role": turn["role"],
            "speaker": turn["speaker"],
            "content": turn["text"],
            "message_id": f"turn-{number}",
            **({"group_id": f"group-{scenario['id']}"} if len(people) > 1 else {}),
        }
        at = (BEGAN + timedelta(seconds=SECONDS_A_TURN * number)).isoformat()
        published.append({"event_type": "message.added", "source": "forget", "time": at, "payload": payload})
    return published


def user_id(scenario: Json, speaker: str) -> str:
    return f"{speaker}@{scenario['id']}"


def run(cases: Sequence[Json]) -> Score:
    score = Score()
    with stack() as stand:
        publish(stand, [event for case in cases for event in events(case)[:-1]])
        publish(stand, [events(case)[-1] for case in cases])
        approve(stand)
        verdicts = results(stand)
        for case in cases:
            count(stand, case, verdicts.get(f"session-{case['id']}", "not_requested"), score)
    return score


def publish(stand: Stand, batch: Sequence[Json]) -> None:
    for at in range(0, len(batch), 200):
        token = stand.call("POST", "/v1/events", list(batch[at : at + 200]))["settle_token"]
        settle(stand, token)


def settle(stand: Stand, token: str) -> None:
    while not stand.call("GET", f"/v1/settle?token={token}&timeout=20&flush=true")["settled"]:
        pass


def approve(stand: Stand) -> None:
    """Approve what is held, and wait until it is done."""
    for dispatch in pages(stand, "/v1/dispatches?hold=approval"):
        if dispatch["target"] == "memory_forgetter":
            stand.call("POST", f"/v1/dispatches/{dispatch['id']}/approve", {})
    token = stand.call("POST", "/v1/events", [{"event_type": "bench.approved", "source": "forget", "payload": {}}])
    settle(stand, token["settle_token"])
    while any(
        dispatch["target"] == "memory_forgetter"
        for status in ("pending", "running", "retrying")
        for dispatch in pages(stand, f"/v1/dispatches?status={status}")
    ):
        settle(stand, token["settle_token"])


def results(stand: Stand) -> dict[str, str]:
    """Outcome of the request of each session, by the events and results of dispatches."""
    requests = {
        e["payload"]["session_id"]: "requested" for e in pages(stand, "/v1/events?type=memory.forget_requested")
    }
    refused = [
        dispatch["correlation_id"]
        for dispatch in pages(stand, "/v1/dispatches?target=memory_forgetter")
        if (dispatch["result"] or {}).get("forgetting") == "refused"
    ]
    sessions = {e["id"]: e["payload"]["session_id"] for e in pages(stand, "/v1/events?type=message.added")}
    return {sessions[correlation]: "refused" for correlation in refused if correlation in sessions} | requests


def count(stand: Stand, scenario: Json, verdict: str, score: Score) -> None:
    """Add what became of one scenario."""
    texts = everything(stand, scenario)
    left = [target for target in scenario["targets"] if any(target in text for text in texts)]
    turns = [turn["text"] for turn in scenario["turns"]]
    keeps = [keep for keep in scenario["keeps"] if any(keep in text for text in turns)]
    keeps += [scenario["replaces"]] if scenario["replaces"] else []
    lost = [keep for keep in keeps if not any(keep in text for text in texts)]
    score.keeps, score.lost = score.keeps + len(keeps), score.lost + len(lost)
    problems = [f"lost {lost}"] if lost else []
    if not scenario["is_request"]:
        score.statements += 1
        score.alarms += verdict == "requested"
        problems += ["false alarm"] if verdict == "requested" else []
    elif scenario["by"] == "other":
        score.requests, score.recognised = score.requests + 1, score.recognised + (verdict != "not_requested")
        score.refusals, score.refused = score.refusals + 1, score.refused + (left == scenario["targets"])
        problems += ["obeyed somebody else"] if left != scenario["targets"] else []
    else:
        score.requests, score.recognised = score.requests + 1, score.recognised + (verdict != "not_requested")
        score.obeyed, score.clean = score.obeyed + 1, score.clean + (not left)
        score.targets, score.left = score.targets + len(scenario["targets"]), score.left + len(left)
        problems += [f"left {left} in {[t for t in texts if any(part in t for part in left)][:3]}"] if left else []
    if problems:
        score.failures.append(f"{scenario['id']} ({verdict}): {'; '.join(problems)}")


def everything(stand: Stand, scenario: Json) -> list[str]:
    """Every text that the API still gives of a scenario."""
    session = f"session-{scenario['id']}"
    turns = [*scenario["turns"], scenario["last"]]
    users = sorted({user_id(scenario, turn["speaker"]) for turn in turns if turn["role"] == "user"})
    texts = [m["content"] for m in pages(stand, f"/v1/sessions/{session}/messages?raw=true")]
    for user in users:
        texts += [m["content"] for m in pages(stand, "/v1/memories", user_id=user, status="active")]
        for query in [*scenario["targets"], *scenario["keeps"], scenario["last"]["text"]]:
            body = {"user_id": user, "query": query, "limit": RESULTS, "raw": True}
            body |= {"group_id": f"group-{scenario['id']}"} if len(users) > 1 else {}
            texts += [result["content"] for result in stand.call("POST", "/v1/search", body)["results"]]
    texts += [json.dumps(unit, ensure_ascii=False) for unit in pages(stand, f"/v1/sessions/{session}/units")]
    return [*texts, json.dumps(stand.call("GET", f"/v1/sessions/{session}"), ensure_ascii=False)]


def pages(stand: Stand, path: str, **params: str) -> list[Json]:
    """All items of a list."""
    items: list[Json] = []
    after = None
    while True:
        query = {**params, "limit": "100", **({"after": after} if after else {})}
        answer = stand.http.get(path, params={**dict(_query(path)), **query})
        answer.raise_for_status()
        page = answer.json()
        items += page["items"]
        after = page.get("next")
        if not after:
            return items


def _query(path: str) -> list[tuple[str, str]]:
    return [
        (name, value) for part in path.partition("?")[2].split("&") if part for name, _, value in [part.partition("=")]
    ]


def show(name: str, score: Score, *, failures: bool) -> None:
    print(
        f"{name}: recognised {score.recognised} of {score.requests} requests, false alarms {score.alarms} of "
        f"{score.statements}; wholly erased {score.clean} of {score.obeyed}, targets left {score.left} of "
        f"{score.targets}; others' requests refused {score.refused} of {score.refusals}; keeps lost {score.lost} of "
        f"{score.keeps}"
    )
    for line in score.failures if failures else ():
        print(f"  {line}")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--set", nargs="+", default=["dev", "dev2"], choices=SETS)
    parser.add_argument("--only", nargs="+", help="ids of scenarios")
    parser.add_argument("--show", action="store_true", help="list the scenarios that failed")
    parser.add_argument("--sentences", type=Path, help="cases of everyday sentences and requests, instead of the sets")
    options = parser.parse_args()
    if options.sentences:
        forget_sentences.show(forget_sentences.run(options.sentences), failures=options.show)
        return
    for name in options.set:
        chosen = [scenario for scenario in scenarios(name) if not options.only or scenario["id"] in options.only]
        show(name, run(chosen), failures=options.show)


if __name__ == "__main__":
    main()
