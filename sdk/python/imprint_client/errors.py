"""Errors of the client."""

from __future__ import annotations

from typing import Any

import httpx


class ImprintError(Exception):
    """A request that the service refused: its status, title, detail, and the problems of single fields."""

    def __init__(self, status: int, title: str, detail: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(f"{status} {title}: {detail}" if detail else f"{status} {title}")
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors


class BufferFull(ImprintError):
    """The publisher's buffer is full, and the service did not take events in time."""

    def __init__(self, waiting: int) -> None:
        super().__init__(0, "Buffer full", f"{waiting} events wait for the service; publish again later", [])


class SignatureError(Exception):
    """A webhook whose signature, age or sender is wrong; answer it with 401."""


def error_of(answer: httpx.Response) -> ImprintError:
    """Return the problem document (RFC 9457) of an answer as an error."""
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    title = str(problem.get("title") or answer.reason_phrase)
    return ImprintError(answer.status_code, title, str(problem.get("detail") or ""), problem.get("errors") or [])
