from __future__ import annotations

from core.config import Settings
from core.settings.limits import TenantLimits
from tests.api.posting import problem
from tests.doors import OTHER, opened
from tests.samples import event


def test_a_backlog_above_the_limit_is_429_with_retry_after(settings: Settings) -> None:
    with opened(settings.model_copy(update={"tenant_limits": TenantLimits(events_waiting=3)})) as doors:
        assert doors.post("/v1/events", [event(), event()]).status_code == 202
        doors.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        assert doors.post("/v1/events", [event()]).status_code == 202
        doors.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        refused = doors.post("/v1/events", [event(id="late")])
        problem(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1
        problem(doors.get("/v1/events/late"), 404)
        assert doors.post("/v1/events", [event()], tenant=OTHER).status_code == 202
