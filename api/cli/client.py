"""The HTTP client behind the commands, and how they answer: for people, or with `--json` for programs."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console

from core.config import Settings
from core.errors import ImprintError, Misconfigured

TIMEOUT_SECONDS = 70
"""Longer than the longest settle."""

out = Console()
err = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Answer with JSON.")]


class Refused(ImprintError):
    """The server did not do what was asked."""


class Client:
    """Asks the server that the settings name: IMPRINT_URL and IMPRINT_API_KEY, else the stack on this home."""

    def __init__(self, settings: Settings, key: str | None = None) -> None:
        url = settings.url or settings.stack.get("http_url") or f"http://127.0.0.1:{settings.http_port}"
        headers = {"Authorization": f"Bearer {key or _key(settings)}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_SECONDS)
        self.url = url

    def get(self, path: str, **params: Any) -> Any:
        return self._ask("GET", path, params={k: v for k, v in params.items() if v is not None})

    def post(self, path: str, body: object) -> Any:
        return self._ask("POST", path, json=body)

    def put(self, path: str, body: object) -> Any:
        return self._ask("PUT", path, json=body)

    def post_raw(self, path: str, content: bytes, content_type: str) -> Any:
        return self._ask("POST", path, content=content, headers={"Content-Type": content_type})

    def _ask(self, method: str, path: str, **how: Any) -> Any:
        try:
            answer = self._http.request(method, path, **how)
        except httpx.TransportError as error:
            raise Refused(f"No answer from {self.url} ({error}). Start it with `imprint up`, or set IMPRINT_URL.") from None
        if answer.is_error:
            raise Refused(_detail(answer))
        return answer.json() if answer.content else None


def show_json(value: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _key(settings: Settings) -> str:
    if settings.api_key is not None:
        return settings.api_key.get_secret_value()
    path = settings.home / "run" / "api.key"
    if path.exists():
        return path.read_text().strip()
    raise Misconfigured("No key: set IMPRINT_API_KEY (`imprint keys create` makes one), or run `imprint up` on this home.")


def _detail(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
        faults = [f"  {fault['pointer'] or '/'}: {fault['detail']}" for fault in problem.get("errors", [])]
        return "\n".join([f"{problem['title']}: {problem['detail']}" if not faults else f"{problem['title']}:", *faults])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} {answer.text[:500]}"
