from __future__ import annotations

from workers.dispatch import fair_share


def test_a_tenant_has_work_for_a_minute_after_its_last_event() -> None:
    now = 0.0
    at_work = fair_share.ActiveTenants(lambda: now)
    at_work.hear({"loud"})
    now = 40.0
    at_work.hear({"quiet", "loud"})
    now = 99.0
    at_work.hear({"loud"})
    assert at_work.count() == 2
    now = 101.0
    assert at_work.count() == 1
