"""No log holds what a user said: neither where work succeeds nor where it fails."""

from __future__ import annotations

import io
import json
import time
from contextlib import redirect_stderr
from typing import Any

import pytest
import structlog
from sqlalchemy.exc import DataError

from bench.stand import Stand, stack
from core import logs as core_logs
from core.errors import Misconfigured, Never
from tests.samples import ended, event, said

CANARY = "hippocanary"
"""Stands nowhere else: whatever log has it, quotes a user."""


def published(stand: Stand, *documents: dict[str, Any]) -> None:
    stand.settle(stand.call("POST", "/v1/events", list(documents))["settle_token"], flush=True)


def journey(stand: Stand) -> None:
    """Say the word wherever a user may say one: in what is learnt from, in what fails, in what is asked."""
    user = "fern"
    talk = [f"My {CANARY} is called Rex.", f"I work at {CANARY.title()} Ltd.", f"My wifi is {CANARY}."]
    published(stand, *(said(line, user=user) for line in talk), ended(user=user))
    skill = {"user_id": user, "skill": f"{CANARY} skill", "steps": [f"{CANARY} step"]}
    published(stand, event("skill.succeeded", skill), event("skill.failed", skill | {"error": f"{CANARY} error"}))
    plan = {"session_id": "s1", "user_id": user, "plan": f"# {CANARY}\n- [ ] {CANARY}"}
    published(stand, event("plan.updated", plan), event("memory.requested", {"user_id": user, "content": CANARY}))
    bad = {"user_id": user, "skill": f"{CANARY} bad", "steps": {CANARY: CANARY}, "duration_seconds": CANARY}
    odd = {"session_id": "s1", "user_id": user, "plan": [{CANARY: CANARY}]}
    published(stand, event("skill.succeeded", bad), event("plan.updated", odd))
    stand.call("POST", "/v1/memories", {"user_id": user, "content": f"Fern's {CANARY} is called Rex."})
    stand.call("POST", "/v1/search", {"user_id": user, "query": f"Which {CANARY}?"})
    stand.http.post("/v1/search", json={"user_id": user, "query": f"{CANARY}\u0000"})
    stand.http.post("/v1/events", content=f"{CANARY} {{")
    stand.call("GET", f"/v1/users/{user}/profile?fresh=true")
    stand.call("DELETE", f"/v1/users/{user}")


def test_no_log_of_a_journey_quotes_a_user() -> None:
    with stack(embedding="hash", log_level="debug") as stand:
        journey(stand)
        time.sleep(1)
        logs = {path.name: path.read_text(errors="replace") for path in stand.home.rglob("*.log")}
    assert any('"dispatch.done"' in words for words in logs.values()), sorted(logs)
    assert any('"dispatch.failed"' in words for words in logs.values())
    quoting = [line for words in logs.values() for line in words.splitlines() if CANARY in line.lower()]
    assert quoting == []


def test_of_a_result_only_numbers_are_logged() -> None:
    result = {"added": 2, "learnt": True, "share": 0.5, "skill": CANARY, "changed": [CANARY], "by": {CANARY: 1}}
    assert core_logs.counts(result) == {"added": 2, "learnt": True, "share": 0.5, "changed": 1, "by": 1}


def logged(caught: BaseException, form: str) -> str:
    """The line that a process writes of an exception."""
    stream = io.StringIO()
    with redirect_stderr(stream):
        core_logs.configure("debug", form, "test")  # type: ignore[arg-type]
        structlog.get_logger().error("it.failed", exc_info=caught, **core_logs.fault(caught))
    return stream.getvalue()


def raised(error: Exception) -> Exception:
    try:
        try:
            raise KeyError(CANARY)
        except KeyError as cause:
            raise error from cause
    except Exception as caught:  # noqa: BLE001 - whatever it is
        return caught


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_exception_is_logged_by_its_kind_and_place_and_not_with_its_words(form: str) -> None:
    for error in (ValueError(CANARY), Never(CANARY), DataError("SELECT", {"a": CANARY}, ValueError(CANARY))):
        line = logged(raised(error), form)
        assert CANARY not in line
        assert type(error).__name__ in line
        assert "test_logs.py" in line
        assert "KeyError" in line


def test_what_helps_an_operator_stays() -> None:
    assert "No space left on device" in logged(raised(OSError(28, "No space left on device", CANARY)), "json")
    assert "IMPRINT_X" in logged(raised(Misconfigured("Set IMPRINT_X.")), "json")
    assert json.loads(logged(raised(ValueError(CANARY)), "json"))["error"] == "ValueError"
