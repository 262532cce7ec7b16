"""The example of the manual: an agent that is told something in one conversation and knows it in the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bench.stand import Stand, stack
from tests.servers import Handler, serving

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "agent_loop.py"


@dataclass
class Model:
    """An OpenAI-compatible server that answers with the number of its question."""

    url: str = ""
    shown: list[list[dict[str, Any]]] = field(default_factory=list)


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    found = Model()

    class Answers(Handler):
        def do_POST(self) -> None:
            asked = self.body()
            found.shown.append(asked["messages"])
            said = {"role": "assistant", "content": f"Answer {len(found.shown)}."}
            body = json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": asked["model"],
                    "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
                }
            ).encode()
            self.answer(200, body)

    with serving(Answers) as url:
        found.url = f"{url}/v1"
        yield found


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(embedding="hash") as running:
        yield running


def chat(stand: Stand, model: Model, *lines: str) -> list[str]:
    """A conversation through the example; what the agent said."""
    told = {"IMPRINT_URL": stand.url, "IMPRINT_API_KEY": stand.key}
    asked = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "MODEL": "gpt-4o"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "ada"],
        input="\n".join(lines) + "\n",
        env=os.environ | told | asked,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()


def settled(stand: Stand) -> None:
    """Everything that followed from what was said so far has ended."""
    marker = {"event_type": "test.marker", "source": "journey", "payload": {}}
    stand.settle(stand.call("POST", "/v1/events", marker)["settle_token"], flush=True)


def test_what_is_said_in_one_conversation_is_known_in_the_next(stand: Stand, model: Model) -> None:
    said = chat(stand, model, "I am allergic to peanuts.", "From now on, always answer in French.", "Thank you.")
    assert said == ["Answer 1.", "Answer 2.", "Answer 3."]
    assert [m["role"] for m in model.shown[2]] == ["user", "assistant", "user", "assistant", "user"]
    assert model.shown[2][-1]["content"] == "Thank you."
    settled(stand)
    chat(stand, model, "What must you not cook for me?")
    first, *_, last = model.shown[3]
    assert first["role"] == "system"
    assert "peanuts" in first["content"]
    assert "French" in first["content"].split("# About the User")[0], "standing instructions come first"
    assert last == {"role": "user", "content": "What must you not cook for me?"}
