from __future__ import annotations

from api.ingress.hit_rate import TIMINGS, HitRates


def test_each_tenant_is_told_its_own_searches() -> None:
    hits = HitRates()
    hits.note("acme", hit=True)
    hits.note("acme", hit=False)
    hits.note("other", hit=False)
    assert hits.of("acme") == {"searches": 2, "with_memories": 1, "hit_rate": 0.5}
    assert hits.of("nobody")["hit_rate"] is None


def test_percentiles_are_of_the_latest_answers() -> None:
    hits = HitRates()
    for _ in range(TIMINGS):
        hits.took("acme", "search", 9.0)
    for _ in range(TIMINGS):
        hits.took("acme", "search", 0.001)
    assert set(hits.latency("acme")["search"].values()) == {1.0}
    assert set(hits.latency("acme")["write"].values()) == {None}
    assert set(hits.latency("other")["search"].values()) == {None}
