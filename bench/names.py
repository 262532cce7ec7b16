"""Who is meant by which name: people of talks who appear under several names.

    python -m bench.names [--half dev] [--show]
    python -m bench.names --ask [--half dev] [--only en_a] [--by-hand]

The talks of `names_data` list the people whom their user mentions, under all names and roles that they are given, most
of them in passing. Counted are pairs of forms of one person: of those joined, how many are of one person (precision),
of those of one person, how many are joined (recall); without a model, by the words of the user's messages alone.

`--ask` publishes each talk to a stack and asks its questions, most of which name somebody otherwise than the message
that answers does: in which place of a search it, or a memory that cites it, stands. The pairs are then those of the
stack's own list of people, by a model if one is configured. `--by-hand` asks once more after somebody has merged all
names.
Authors who had not seen the code wrote both halves; `dev` is for mending.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from bench import arguments
from bench.stand import Stand, stack
from core.entities import resolution
from core.entities.resolution import Introduction
from core.language import introductions

FOLDER = Path(__file__).with_name("names_data")
HALVES = ("dev", "held")
SECONDS_A_TURN: Final = 40
DEPTH: Final = 20

Json = dict[str, Any]
Bearer = Callable[[str], object]
"""Returns whom a form means; None: nobody."""


def bearer_by_words(talk: Json) -> Bearer:
    """Return whom forms mean by what the user's messages say."""
    introduced = [
        Introduction(link, datetime.fromisoformat(session["date"]))
        for session in talk["sessions"]
        for message in session["messages"]
        if message["role"] == "user"
        for link in introductions.links(message["text"])
    ]
    directory = resolution.resolve(introduced)
    return lambda name: directory.find(introductions.form_of(name))


def bearer_by_stack(stand: Stand, user_id: str) -> Bearer:
    """Return whom forms mean by the stack's list of people."""

    def bearer(name: str) -> object:
        try:
            page = stand.call("GET", f"/v1/entities/about?{urlencode({'user_id': user_id, 'name': name, 'limit': 1})}")
        except httpx.HTTPStatusError:
            return None
        return json.dumps(page["entity"], sort_keys=True)

    return bearer


def joined(talk: Json, bearer: Bearer) -> Iterator[tuple[bool, bool, str, str]]:
    """Yield for each two forms whether they are of one person, and whether they are joined, without forms of two."""
    people = talk["people"]
    owner = {name: person["id"] for person in people for name in person["names"]}
    clear = [name for name in owner if sum(name in person["names"] for person in people) == 1]
    meant = {name: bearer(name) for name in clear}
    for name, other in combinations(clear, 2):
        same = introductions.form_of(name) == introductions.form_of(other)
        are_joined = same or (meant[name] is not None and meant[name] == meant[other])
        yield owner[name] == owner[other], are_joined, name, other


def row(name: str, pairs: Sequence[tuple[bool, bool, str, str]]) -> str:
    right, wrong, missed = (
        sum(pair[:2] == outcome for pair in pairs) for outcome in ((True, True), (False, True), (True, False))
    )
    shares = [right / max(right + other, 1) for other in (wrong, missed)]
    return f"| {name} | {right} | {wrong} | {missed} | {shares[0]:.3f} | {shares[1]:.3f} |"


def publish(stand: Stand, name: str, talk: Json) -> None:
    for number, session in enumerate(talk["sessions"]):
        scope = {"session_id": f"{name}-{number}", "user_id": name}
        began = datetime.fromisoformat(session["date"])
        events = [
            _event(
                "message.added",
                began + timedelta(seconds=SECONDS_A_TURN * at),
                {
                    **scope,
                    "role": message["role"],
                    "content": message["text"],
                    "message_id": message["id"],
                    **({"speaker": talk["user"]} if message["role"] == "user" else {}),
                },
            )
            for at, message in enumerate(session["messages"])
        ]
        ended = began + timedelta(seconds=SECONDS_A_TURN * len(events))
        events.append(_event("session.ended", ended, {**scope, "message_count": len(events)}))
        stand.settle(stand.call("POST", "/v1/events", events)["settle_token"], flush=True)


def _event(event_type: str, at: datetime, payload: Json) -> Json:
    return {"event_type": event_type, "source": "names", "time": at.isoformat(), "payload": payload}


def places(stand: Stand, name: str, talk: Json) -> list[int]:
    """Return in which place of a search the answer of each question stands; beyond `DEPTH`: not there."""
    result = []
    for question in talk["questions"]:
        body = {"user_id": name, "query": question["q"], "limit": DEPTH}
        ranked = stand.call("POST", "/v1/search", body)["results"]
        cited = [{source["message_id"] for source in result["sources"]} for result in ranked]
        result.append(next((at for at, ids in enumerate(cited, 1) if question["message"] in ids), DEPTH + 1))
    return result


def summary(name: str, ranks: Sequence[int]) -> str:
    within = " | ".join(f"{sum(rank <= most for rank in ranks) / len(ranks):.3f}" for most in (1, 5, 10))
    return f"| {name} | {len(ranks)} | {within} | {sum(1 / rank for rank in ranks) / len(ranks):.3f} |"


def ask(talks: dict[str, Json], *, by_hand: bool) -> list[str]:
    """Return the rows of pairs and of places, by a stack of its own."""
    with stack() as stand:
        for name, talk in talks.items():
            publish(stand, name, talk)
        pairs = [row(name, list(joined(talk, bearer_by_stack(stand, name)))) for name, talk in talks.items()]
        ranks = [rank for name, talk in talks.items() for rank in places(stand, name, talk)]
        rows = [*pairs, "", summary("as told", ranks)]
        if by_hand:
            for name, talk in talks.items():
                for person in talk["people"]:
                    if len({introductions.form_of(form) for form in person["names"]}) > 1:
                        stand.call("POST", "/v1/entities/merge", {"user_id": name, "names": person["names"]})
            ranks = [rank for name, talk in talks.items() for rank in places(stand, name, talk)]
            rows.append(summary("merged by hand", ranks))
        return rows


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, default="held")
    parser.add_argument("--show", action="store_true", help="list what is joined wrongly, and what is missed")
    parser.add_argument("--ask", action="store_true", help="publish the talks to a stack, and ask their questions")
    parser.add_argument("--by-hand", action="store_true", help="ask again after all names are merged")
    parser.add_argument("--only", nargs="*", default=[], help="names of talks")
    parsed = parser.parse_args()
    paths = sorted((FOLDER / parsed.half).glob("*.json"))
    talks = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    talks = {name: talk for name, talk in talks.items() if not parsed.only or name in parsed.only}
    print("| talk | joined rightly | wrongly | missed | precision | recall |", f"|{' --- |' * 6}", sep="\n")
    if parsed.ask:
        print(*ask(talks, by_hand=parsed.by_hand), sep="\n")
        return
    for name, talk in talks.items():
        pairs = list(joined(talk, bearer_by_words(talk)))
        print(row(name, pairs))
        for same, are_joined, name_, other in pairs if parsed.show else ():
            if same != are_joined:
                print(f"  {'missed' if same else 'wrong'}: {name_} = {other}")


if __name__ == "__main__":
    main()
