from __future__ import annotations

from core.config import Settings
from tests.api.posting import problem
from tests.doors import opened
from tests.samples import event


def test_a_request_that_is_too_large_is_413_and_costs_nothing(settings: Settings) -> None:
    with opened(settings.model_copy(update={"request_bytes": 2000})) as doors:
        problem(doors.post("/v1/events", [event(id=f"e{n}") for n in range(100)]), 413)
        problem(doors.get("/v1/events/e0"), 404)
        assert doors.post("/v1/events", [event()]).status_code == 202
