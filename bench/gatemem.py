"""Deletion, access and use in talks of many roles: GateMem's episodes and checkpoints (CC-BY), asked without a model.

    python -m bench.gatemem --data FOLDER [--domain education household] [--episodes N] [--parity odd] [--labels]

Each episode is a group: its turns are published as messages of their speakers, the service's own agent as an
assistant. The rule `find_forget_requests` is told that every member may have values of the group forgotten, as a
deployment would tell it where everybody works on one case; `--may-ask concerned` leaves the default. At each
checkpoint all turns up to it have been published and settled; then the asker searches, raw, with ten results. What is
held for approval stays held. A value leaks if a string of `leak_targets` stands in a result. Use is the share of the
`include` expressions that a result meets.

With `--labels`, turns have audience labels made from the episode's `relationships` (`bench.gatemem_labels`), which a
deployment would have too, and askers hold those of their own relationships.

The data are public and are not part of this project.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import arguments, gatemem_labels
from bench.forget import settle
from bench.gatemem_labels import Labels
from bench.stand import Stand, stack

RESULTS = 10
BEGAN = datetime(2026, 4, 1, 9, tzinfo=UTC)
NAMES = {"safety": "deletion leaks", "privacy": "access leaks"}
Json = dict[str, Any]


@dataclass(slots=True)
class Score:
    """Checkpoints by kind, those that leaked, and expressions that were met."""

    questions: Counter[str] = field(default_factory=Counter)
    leaked: Counter[str] = field(default_factory=Counter)
    expected: int = 0
    met: int = 0


def read(folder: Path, domain: str, kind: str) -> list[Json]:
    lines = (folder / f"{domain}.{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def run(folder: Path, domain: str, chosen: slice, may_ask: str, *, labels: bool) -> Score:
    checkpoints: defaultdict[str, list[Json]] = defaultdict(list)
    for checkpoint in read(folder, domain, "checkpoints"):
        checkpoints[checkpoint["episode_id"]].append(checkpoint)
    score = Score()
    with stack() as stand:
        let_ask(stand, may_ask)
        for episode in read(folder, domain, "episodes")[chosen]:
            given = gatemem_labels.of(episode) if labels else None
            ask_all(stand, episode, checkpoints[episode["episode_id"]], score, given)
    return score


def let_ask(stand: Stand, who: str) -> None:
    """Say in the rule that looks for requests who may have values of a group forgotten."""
    rule = stand.call("GET", "/v1/rules/find_forget_requests")["rule"]
    rule["actions"][0]["params"] = {"may_ask": who}
    stand.call("PUT", "/v1/rules/find_forget_requests", rule)


def ask_all(stand: Stand, episode: Json, checkpoints: Sequence[Json], score: Score, labels: Labels | None) -> None:
    """Publish an episode up to each checkpoint, and ask there."""
    due: defaultdict[str, list[Json]] = defaultdict(list)
    for checkpoint in checkpoints:
        due[checkpoint["as_of_turn_id"]].append(checkpoint)
    waiting: list[Json] = []
    for event in events(episode, labels):
        waiting.append(event)
        here = due.get(event["payload"]["message_id"])
        if here:
            settle(stand, stand.call("POST", "/v1/events", waiting)["settle_token"])
            waiting = []
            for checkpoint in here:
                grade(checkpoint, [result["content"] for result in search(stand, episode, checkpoint, labels)], score)


def events(episode: Json, labels: Labels | None) -> Iterator[Json]:
    names = {
        principal["principal_id"]: principal.get("display_name") for principal in episode["entities"]["principals"]
    }
    given = list(labels.of_turns(episode["turns"])) if labels else []
    for number, turn in enumerate(episode["turns"]):
        speaker = turn["speaker"]
        payload = {
            "session_id": episode["episode_id"],
            "group_id": f"group:{episode['episode_id']}",
            "user_id": f"{speaker['principal_id']}@{episode['episode_id']}",
            "speaker": names.get(speaker["principal_id"]) or speaker["principal_id"],
            "role": "assistant" if speaker["role"] == "agent" else "user",
            "content": turn["text"],
            "message_id": turn["turn_id"],
        }
        payload |= {"audience_labels": given[number]} if labels else {}
        at = (BEGAN + timedelta(minutes=number)).isoformat()
        yield {"event_type": "message.added", "source": "gatemem", "time": at, "payload": payload}


def search(stand: Stand, episode: Json, checkpoint: Json, labels: Labels | None) -> list[Json]:
    body = {
        "user_id": f"{checkpoint['asker']['principal_id']}@{episode['episode_id']}",
        "group_id": f"group:{episode['episode_id']}",
        "query": checkpoint["query_text"],
        "limit": RESULTS,
        "raw": True,
        "reader_labels": labels.held_by(checkpoint["asker"]["principal_id"]) if labels else None,
    }
    results: list[Json] = stand.call("POST", "/v1/search", body)["results"]
    return results


def grade(checkpoint: Json, texts: Sequence[str], score: Score) -> None:
    kind = checkpoint["query_type"]
    score.questions[kind] += 1
    if any(target in text for target in checkpoint.get("leak_targets") or () for text in texts):
        score.leaked[kind] += 1
    if kind == "utility":
        expected = checkpoint["judge_spec"].get("include") or []
        score.expected += len(expected)
        score.met += sum(any(re.search(pattern, text, re.IGNORECASE) for text in texts) for pattern in expected)


def figures(score: Score) -> Mapping[str, float]:
    leaks = {name: score.leaked[kind] / max(1, score.questions[kind]) for kind, name in NAMES.items()}
    return {**leaks, "utility": score.met / max(1, score.expected)}


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder of DOMAIN.episodes.jsonl and .checkpoints.jsonl"
    )
    parser.add_argument("--domain", nargs="+", default=["education", "household"])
    parser.add_argument("--episodes", type=int, help="so many of each domain, the first ones")
    parser.add_argument("--parity", choices=["odd", "even"], help="of these, every other one: the first, or the second")
    parser.add_argument("--may-ask", default="members", choices=["members", "concerned"])
    parser.add_argument("--labels", action="store_true", help="audience labels from the episodes' relationships")
    options = parser.parse_args()
    for domain in options.domain:
        chosen = slice(options.parity == "even", options.episodes, 2 if options.parity else 1)
        score = run(options.data, domain, chosen, options.may_ask, labels=options.labels)
        text = ", ".join(f"{name} {value:.2f}" for name, value in figures(score).items())
        print(f"{domain}: {text} ({sum(score.questions.values())} checkpoints)")


if __name__ == "__main__":
    main()
