"""Memories of plain conversation, against labels of each sentence: precision, recall, and what is stale.

    python -m bench.talks [--talks en-a zh-a] [--folder bench/unseen/talks] [--show]

Each talk is published session by session to a stack of its own, without a model, and settled. A memory in force
(derived ones apart: episodes, patterns, compressions) is right if it says a fact that the sentences state and that
still holds at the end, or says of a fact that has ended that it has. It is stale if it says a fact that was later
changed or taken back: the opposite of what was last said. Recall counts the facts labelled `core` that hold.

Who wrote and labelled a talk had not seen the rules. The rules were mended on each of them after it had been met for
the first time; docs/extraction.md says how they did then. Those of `bench/unseen/talks` are ordinary: half of the
sentences hold nothing for later, and a fifth of the facts end.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench import arguments
from bench.stand import Stand, stack
from core.language.en import third_person
from core.types import Message

FOLDER = Path(__file__).parent / "talks_data"
UNSEEN = FOLDER.parent / "unseen" / "talks"
HELD_OUT = frozenset({"en-i", "en-l", "zh-i", "zh-l"})
"""Conversations on which nothing is trained and no rule is mended: what is measured on them is a first meeting."""
DERIVED = frozenset({"episode"})
SECONDS_A_TURN = 40
Json = dict[str, Any]


@dataclass(slots=True)
class Score:
    """Memories and facts of one talk, sorted by what they turned out to be."""

    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        memories = len(self.right) + len(self.wrong) + len(self.stale)
        return len(self.right) / memories if memories else 1.0

    @property
    def recall(self) -> float:
        return len(self.found) / max(1, len(self.found) + len(self.missed))


def talks(folder: Path = FOLDER) -> list[str]:
    """The names of all conversations."""
    return sorted(path.stem for path in folder.glob("*.json"))


def talk_of(name: str, folder: Path = FOLDER) -> Json:
    talk: Json = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return talk


def talks_in(folder: Path) -> Iterator[Json]:
    """Yield the talks of a folder."""
    return (talk_of(name, folder) for name in talks(folder))


def messages_of(talk: Json, session: Json) -> list[Message]:
    """Return the messages of a session of a talk, as an extraction reads them."""
    began = datetime.fromisoformat(session["date"])
    return [
        Message(
            session["id"],
            str(turn["n"]),
            position,
            str(turn["n"]),
            talk["user"],
            turn["role"],
            turn["content"],
            began + timedelta(seconds=SECONDS_A_TURN * position),
            talk["speaker"] if turn["role"] == "user" else None,
        )
        for position, turn in enumerate(session["turns"], 1)
    ]


def score(talk: Json, memories: list[str]) -> Score:
    """Sort the statements in force, and the facts, by the labels of the talk."""
    result = Score()
    read = {memory: in_third_person(memory, talk) for memory in memories}
    for memory in memories:
        getattr(result, _verdict(talk, read[memory])).append(memory)
    for fact in talk["facts"]:
        if fact["holds"] and fact["core"]:
            kept = any(says(memory, fact) for memory in read.values())
            (result.found if kept else result.missed).append(f"{fact['id']} {fact['says']}")
    return result


def in_third_person(memory: str, talk: Json) -> str:
    """A memory, and where it quotes the speaker in English also the same of them: the labels speak in both ways."""
    if talk["language"] != "English" or "“" not in memory:
        return memory
    return f"{memory} {third_person.third_person(memory, talk['speaker'])}"


def says(memory: str, fact: Json) -> bool:
    """Whether a statement says the fact: one alternative of each group is in it, and nothing that spoils it."""
    return named(memory, fact) and not any(word.lower() in memory.lower() for word in fact["never"])


def named(memory: str, fact: Json) -> bool:
    return all(any(word.lower() in memory.lower() for word in group) for group in fact["needs"])


def _verdict(talk: Json, memory: str) -> str:
    if any(says(memory, fact) for fact in talk["facts"] if not fact["holds"] and fact["core"]):
        return "stale"
    holds = any(says(memory, fact) for fact in talk["facts"] if fact["holds"])
    ended = any(named(memory, fact) for fact in talk["facts"] if not fact["holds"])
    return "right" if holds or ended else "wrong"


def remembered(stand: Stand, talk: Json, within_s: float = math.inf) -> list[str]:
    """Publish a talk as an agent would, and return the contents of the memories in force at its end.

    A session that has not settled within `within_s` ends the bench.
    """
    for session in talk["sessions"]:
        answer, end = stand.call("POST", "/v1/events", _events(talk, session)), time.monotonic() + within_s
        while not stand.call("GET", f"/v1/settle?token={answer['settle_token']}&timeout=20&flush=true")["settled"]:
            if time.monotonic() > end:
                raise SystemExit(f"{talk['id']}-{session['id']} has not settled; `imprint dead list` may say why.")
    return [m["content"] for m in _active(stand, talk["user"]) if m["category"] not in DERIVED and not m.get("level")]


def _events(talk: Json, session: Json) -> list[Json]:
    began = datetime.fromisoformat(session["date"])
    scope = {"session_id": f"{talk['id']}-{session['id']}", "user_id": talk["user"]}
    events = []
    for number, turn in enumerate(session["turns"]):
        speaker = {"speaker": talk["speaker"]} if turn["role"] == "user" else {}
        payload = {**scope, **speaker, "role": turn["role"], "content": turn["content"], "message_id": str(turn["n"])}
        at = (began + timedelta(seconds=SECONDS_A_TURN * number)).isoformat()
        events.append({"event_type": "message.added", "source": "talks", "time": at, "payload": payload})
    end = (began + timedelta(seconds=SECONDS_A_TURN * len(session["turns"]))).isoformat()
    ended = {**scope, "message_count": len(session["turns"])}
    return [*events, {"event_type": "session.ended", "source": "talks", "time": end, "payload": ended}]


def _active(stand: Stand, user: str) -> list[Json]:
    memories: list[Json] = []
    page: Json = {"next": ""}
    while page["next"] is not None:
        after = f"&after={page['next']}" if page["next"] else ""
        page = stand.call("GET", f"/v1/memories?user_id={user}&status=active&limit=100{after}")
        memories += page["items"]
    return memories


def run(names: list[str], folder: Path = FOLDER) -> dict[str, Score]:
    with stack() as stand:
        return {name: score(talk, remembered(stand, talk)) for name in names for talk in [talk_of(name, folder)]}


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--talks", nargs="+", help="default: all of the folder")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--show", action="store_true", help="list what is wrong, stale and missed")
    options = parser.parse_args()
    names = options.talks or talks(options.folder)
    for name, scored in run(names, options.folder).items():
        memories = len(scored.right) + len(scored.wrong) + len(scored.stale)
        print(
            f"{name}: precision {scored.precision:.3f} of {memories}, recall {scored.recall:.3f} of "
            f"{len(scored.found) + len(scored.missed)}, stale {len(scored.stale)}"
        )
        if options.show:
            for kind in ("stale", "wrong", "missed"):
                print(f"  {kind}:", *getattr(scored, kind), sep="\n    ")


if __name__ == "__main__":
    main()
