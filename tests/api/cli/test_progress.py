from __future__ import annotations

from typing import Any

import pytest

from api.cli import progress
from api.cli.progress import JobStopped


class Answers:
    """A client that answers each GET with the next state of a job."""

    def __init__(self, *states: dict[str, Any]) -> None:
        self.states = list(states)
        self.paths: list[str] = []

    def get(self, path: str) -> dict[str, Any]:
        self.paths.append(path)
        return self.states.pop(0)


def job(status: str, done: int = 0, error: str | None = None) -> dict[str, Any]:
    return {"id": "j1", "status": status, "rows": 3, "done": done, "refused": 0, "error": error}


def follow(client: Any, begun: dict[str, Any]) -> Any:
    return progress.follow(client, "/v1/jobs", begun, "job", "pin", ("rows", "done", "refused"), quiet=True)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "POLL_SECONDS", 0)


def test_a_job_is_followed_until_it_has_ended() -> None:
    client = Answers(job("running", 2), job("done", 3))
    assert follow(client, job("running"))["done"] == 3
    assert client.paths == ["/v1/jobs/j1", "/v1/jobs/j1"]


def test_a_job_that_stands_still_is_not_waited_for() -> None:
    with pytest.raises(JobStopped, match="The job j1 stands still: no worker"):
        follow(Answers(), job("running", error="no worker"))
