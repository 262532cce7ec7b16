"""An agent that remembers, in one page: Imprint says what it should see, a model answers, both sides are told.

    pip install httpx openai
    export IMPRINT_URL=http://127.0.0.1:8070 IMPRINT_API_KEY=imp.… OPENAI_API_KEY=… [OPENAI_BASE_URL=…]
    python agent_loop.py ada

Each line typed is a turn; an empty one, or the end of input, ends the session.
"""

from __future__ import annotations

import os
import sys
import uuid
from typing import Any

import httpx
import openai

MODEL = os.environ.get("MODEL", "gpt-5-mini")
TOKENS = 4_000


def main() -> None:
    user, session = sys.argv[1], f"chat-{uuid.uuid4()}"
    memory = httpx.Client(
        base_url=os.environ["IMPRINT_URL"],
        headers={"Authorization": f"Bearer {os.environ['IMPRINT_API_KEY']}"},
        timeout=30,
    )
    model = openai.OpenAI()

    def tell(event_type: str, **payload: Any) -> None:
        """Say what happened. The id makes it safe to send again when the answer got lost."""
        event = {"id": str(uuid.uuid4()), "event_type": event_type, "source": "agent-loop"}
        event["payload"] = {"session_id": session, "user_id": user, **payload}
        memory.post("/v1/events", json=event).raise_for_status()

    for line in sys.stdin:
        question = line.strip()
        if not question:
            break
        tell("message.added", role="user", content=question)
        # The context ends with the question: it is the last message of the session.
        wanted = {"user_id": user, "session_id": session, "max_tokens": TOKENS, "adaptive": True}
        context = memory.post("/v1/context", json=wanted).raise_for_status().json()
        reply = model.chat.completions.create(model=MODEL, messages=context["messages"])
        answer = reply.choices[0].message.content or ""
        print(answer, flush=True)
        tell("message.added", role="assistant", content=answer)
    # The end of the session is when the default rules extract what was said.
    tell("session.ended")


if __name__ == "__main__":
    main()
