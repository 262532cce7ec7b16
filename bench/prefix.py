"""How much of each context a model's prompt cache can use again, over sessions of 50 turns.

    python -m bench.prefix [--locomo ../shared/data/locomo_dev.json] [--turns 50] [--limit 8000] [--talks 3]

To reach: 0.80 of all tokens. Over a running stack, as an agent does: a conversation of months is published and
extracted by the default rules, its last 100 messages become one session. For each message of one side a context is
built, then the other side answers. Every five turns what was said is extracted, so that memories and the profile change
while they are shown. What can be used again is what a context has in common, from its first character on, with the one
before. The floor is put together as usual: what a search finds for the question above the newest messages that fit, of
as many tokens as the context beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench import arguments
from bench.extract import sessions
from bench.stand import Stand, show, stack
from core.inference.token_counting import counter
from core.types import Json, Message

LEARNS: Final = 5
"""Turns after which what was said is extracted."""

COUNT: Final = counter(None).count


@dataclass
class Reuse:
    """Tokens of contexts one after the other, and those at their beginning that the one before had, too."""

    before: str | None = None
    total: int = 0
    again: int = 0

    def add(self, prompt: str) -> None:
        """One more context; the first of a session has none to be compared with."""
        if self.before is not None:
            same, all_of = COUNT(_common(self.before, prompt)), COUNT(prompt)
            self.total += all_of
            self.again += min(same, all_of)
        self.before = prompt


def run(conversations: Path, turns: int, limit: int, talks: int) -> dict[str, float]:
    ours, floor = Reuse(), Reuse()
    with stack() as stand:
        for number, sample in enumerate(json.loads(conversations.read_text())[:talks]):
            ours.before = floor.before = None
            _tell(stand, f"user{number}", sample, turns, limit, ours, floor)
    return {
        "conversations": float(talks),
        "tokens of all contexts": float(ours.total),
        "floor: found for each question above the newest": floor.again / floor.total,
        "share used again (to reach: 0.80)": ours.again / ours.total,
    }


def _tell(stand: Stand, user: str, sample: Json, turns: int, limit: int, ours: Reuse, floor: Reuse) -> None:
    messages = [message for session in sessions(sample) for message in session]
    now = messages[-2 * turns :]
    token = ""
    for start in range(0, len(messages) - len(now), 500):
        token = _publish(stand, user, "months", messages[start : start + 500][: len(messages) - len(now) - start])
    stand.settle(token, flush=True)
    for turn, position in enumerate(range(0, len(now), 2), 1):
        token = _publish(stand, user, "now", now[position : position + 1])
        request = {"user_id": user, "session_id": f"{user}-now", "max_tokens": limit}
        context = stand.call("POST", "/v1/context", request)
        ours.add("\n".join(_flat(context["messages"])))
        floor.add(_usual(stand, user, now[: position + 1], context["total_tokens"]))
        token = _publish(stand, user, "now", now[position + 1 : position + 2])
        if turn % LEARNS == 0 and token:
            stand.call("GET", f"/v1/settle?token={token}&flush=true&timeout=20")


def _publish(stand: Stand, user: str, session: str, messages: Sequence[Message]) -> str:
    """Whoever speaks first in the conversation is the user; the other one answers as the assistant."""
    batch = [
        {
            "event_type": "message.added",
            "source": "bench",
            "time": message.occurred_at.isoformat(),
            "payload": {
                "session_id": f"{user}-{session}",
                "user_id": user,
                "role": message.role,
                "speaker": message.speaker,
                "content": message.content or "…",
            },
        }
        for message in messages
    ]
    return str(stand.call("POST", "/v1/events", batch)["settle_token"]) if batch else ""


def _usual(stand: Stand, user: str, messages: Sequence[Message], tokens: int) -> str:
    """Memories found for the last words, and the newest messages, as many as there is room for."""
    answer = stand.call("POST", "/v1/search", {"user_id": user, "query": messages[-1].content, "include": ["memories"]})
    above = "\n".join(result["content"] for result in answer["results"])
    room, lines = tokens - COUNT(above), []
    for message in reversed(messages):
        room -= COUNT(message.content)
        if room < 0:
            break
        lines.append(f"{message.role}: {message.content}")
    return "\n".join([above, *reversed(lines)])


def _common(first: str, second: str) -> str:
    """The beginning that two texts share."""
    return first[: next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))]


def _flat(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        yield f"{message['role']}: {message['content']}"


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--limit", type=int, default=8_000)
    parser.add_argument("--talks", type=int, default=3)
    options = parser.parse_args()
    show(__doc__, run(options.locomo, options.turns, options.limit, options.talks))


if __name__ == "__main__":
    main()
