"""`imprint demo`: from an empty machine to an answer, on a temporary stack."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.client import AsJson, Client, Refused, show_json
from api.cli.commands.host import demo_view
from api.cli.commands.host.demo_view import DemoView
from api.cli.local_stack import stack
from api.demo import conversations
from api.demo.conversations import DemoConversation, DemoQuestion
from api.terminal import err
from core.config import ClientSettings, Settings
from core.types import Json

TOP = 5
"""Results asked for each question."""

SETTLE_LIMIT_S = 600
"""Longest wait for the memories of one conversation; with a slow model it may take minutes."""

BORROWED = ("IMPRINT_LLM_", "IMPRINT_EMBEDDING")
"""Settings that the demo takes from the environment: model and embedding, never a database or broker."""

EAGER = 0
"""Niceness of the demo's workers: nobody searches until they have ended."""

File = Annotated[Path | None, typer.Option(help="Your own conversation in LoCoMo format.")]
Conversation = Annotated[str | None, typer.Option(help="Conversation in that file; default: the first.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the data, to explore it with `imprint up`.")]


def demo(file: File = None, conversation: Conversation = None, keep: Keep = False, as_json: AsJson = False) -> None:
    """Start a temporary stack, publish a conversation, ask five questions, and clean up.

    Example: imprint demo --keep
    """
    talk = conversations.of_locomo(file, conversation) if file else conversations.shipped_conversation()
    with _home(keep=keep) as home:
        report = _on_own_stack(home, talk, demo_view.view(as_json=as_json))
    if report is None:
        raise typer.Exit(1)
    if as_json:
        show_json(report)
    if keep:
        demo_view.say_kept(home)


def _on_own_stack(home: Path, talk: DemoConversation, view: DemoView) -> Json | None:
    """Run the demo on a stack of its own; None if it did not finish (the reason has been printed)."""
    settings = _settings(home)
    done: list[Json] = []
    view.start(talk)
    code = stack(
        settings, quiet=True, on_ready=lambda: done.append(_play(Client(ClientSettings(home=home)), talk, view))
    )
    if code == 0 and not done:
        err.print("Interrupted; everything has ended.")
    return done[0] if code == 0 and done else None


def _play(client: Client, talk: DemoConversation, view: DemoView) -> Json:
    view.ready(client.url)
    counts, seconds = _remember(client, talk, view)
    view.show_result(counts, seconds, client.get("/v1/memories", user_id=talk.user_id, limit=500)["items"])
    answers = [_ask(client, talk, question) for question in talk.questions]
    for number, (question, answer) in enumerate(zip(talk.questions, answers, strict=True), 1):
        view.answer(number, talk, question, answer)
    view.end(talk, answers)
    client.close()
    return {
        "conversation": {"title": talk.title, "turns": len(talk.turns), "sessions": len(talk.sessions)},
        "seconds": seconds,
        "counts": counts,
        "questions": answers,
    }


def _remember(client: Client, talk: DemoConversation, view: DemoView) -> tuple[Json, float]:
    """Publish session by session and wait until all work has ended; return the counts and the duration."""
    began, sent, token = time.monotonic(), 0, ""
    with view.live_panel():
        for batch in conversations.events(talk):
            token = client.post("/v1/events", batch)["settle_token"]
            sent += len(batch)
            view.progress(sent, client.get("/v1/stats"), time.monotonic() - began)
        while client.count_pending(token, flush=True):
            view.progress(sent, client.get("/v1/stats"), time.monotonic() - began)
            if time.monotonic() - began > SETTLE_LIMIT_S:
                raise Refused(
                    f"Not settled after {SETTLE_LIMIT_S} s; `imprint demo --keep` keeps the logs for inspection."
                )
        counts, seconds = client.get("/v1/stats"), time.monotonic() - began
        view.progress(sent, counts, seconds)
    return counts, round(seconds, 2)


def _ask(client: Client, talk: DemoConversation, question: DemoQuestion) -> Json:
    """Ask a question; return its results, the origin of each memory, and the rank that cites the expected turn."""
    answer = client.post("/v1/search", {"user_id": talk.user_id, "query": question.query, "limit": TOP})
    results = [{**result, "why": _why(client, result)} for result in answer["results"]]
    places = [
        n for n, result in enumerate(results, 1) if question.expects & {s["message_id"] for s in result["sources"]}
    ]
    return {
        "query": question.query,
        "note": question.note,
        "expects": sorted(question.expects),
        "found_at": places[0] if places else None,
        "took_ms": answer["took_ms"],
        "results": results,
    }


def _why(client: Client, result: Json) -> Any:
    """Return the origin of a memory (event, rule, agent, reason); None for a message."""
    if result["type"] != "memory":
        return None
    step = client.get(f"/v1/memories/{result['id']}/why")["steps"][0]
    return {
        "event": step["event"]["event_type"],
        "rule": f"{step['rule']['name']} v{step['rule']['version']}",
        "agent": step["dispatch"]["target"],
        "change": step["change"],
        "reason": step["reason"],
    }


def _settings(home: Path) -> Settings:
    """Return production defaults on free ports; the environment's own server settings are ignored."""
    for name in [n for n in os.environ if n.startswith("IMPRINT_") and not n.startswith(BORROWED)]:
        del os.environ[name]
    os.chdir(home)  # So that no `.env` or `imprint.toml` of the folder it was called in counts either.
    return Settings(home=home, http_port=_free_port(), metrics_port=0, worker_niceness=EAGER)


@contextmanager
def _home(*, keep: bool) -> Iterator[Path]:
    """Create a data directory that is deleted at the end unless it should be kept."""
    before = Path.cwd()
    if keep:
        yield Path(tempfile.mkdtemp(prefix="imprint-demo-"))
        return
    with tempfile.TemporaryDirectory(prefix="imprint-demo-") as folder:
        yield Path(folder)
        os.chdir(before)  # Out of the folder before it goes.


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
