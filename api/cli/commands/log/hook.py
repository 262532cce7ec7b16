"""`imprint hook`: a hook of a coding agent that can only run commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Final

import httpx
import typer

from api.cli.client import open_client
from api.terminal import as_json, err, escape
from core.errors import ImprintError

SECONDS: Final = 3.0
"""Time limit of the request: the agent waits for it."""

BYTES: Final = 256 * 1024
"""Longest input."""

User = Annotated[str, typer.Option(help="Whose memory it is.")]
Agent = Annotated[str, typer.Option(help="Name of the agent, such as copilot-cli.")]
Event = Annotated[str | None, typer.Option(help="Name of the hook, if its input lacks it.")]
Project = Annotated[str | None, typer.Option(help="Name of the project; default: the folder of the repository.")]


def hook(user: User, agent: Agent = "claude-code", event: Event = None, project: Project = None) -> None:
    """Read a hook's input from standard input, report it, and print the answer for the agent.

    The project is the top folder of the repository. It always ends with 0: an agent must not stop because its memory is
    away. What went wrong is written to standard error.

    Example: echo '{"session_id": "s1", "hook_event_name": "SessionStart", "cwd": "."}' | imprint hook --user ada
    """
    try:
        answer = _report(sys.stdin.read(BYTES), user, agent, event, project)
        if answer:
            sys.stdout.write(as_json(json.loads(answer)))
    except (ImprintError, httpx.HTTPError, ValueError, OSError) as error:
        err.print(f"imprint hook: {escape(str(error))}", soft_wrap=True)


def _report(text: str, user: str, agent: str, event: str | None, project: str | None) -> str:
    payload = json.loads(text)
    if not isinstance(payload, dict):
        raise ValueError("The input is not a JSON object; this command is run by an agent's hook.")  # noqa: TRY004
    cwd = payload.get("cwd")
    top = repository(Path(cwd if isinstance(cwd, str) and cwd else "."))
    if top is not None:
        payload["cwd"] = str(top)
    params = {"user_id": user, "agent": agent, "event": event, "project": project}
    with open_client(SECONDS) as client:
        return client.post_text("/v1/hooks/claude-code", payload, **params)


def repository(folder: Path) -> Path | None:
    """Return the top folder of the repository that a folder is in; None: it is in none."""
    folder = folder.expanduser().absolute()
    return next((candidate for candidate in (folder, *folder.parents) if (candidate / ".git").exists()), None)
