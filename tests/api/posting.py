"""Requests that are accepted, and what they leave behind."""

from __future__ import annotations

from httpx import Response

from core.types import Json


def problem(answer: Response, status: int) -> Json:
    """The answer's problem document, which must be one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: Json = answer.json()
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document


def pointers(answer: Response) -> list[str]:
    return [fault["pointer"] for fault in problem(answer, 422)["errors"]]
