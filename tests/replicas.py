"""Which server has answered what a replica may answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import REGISTRY

from api.ingress.dependencies import Dependencies
from core.config import Settings
from core.storage.replica import OUTCOMES
from tests.doors import Doors, opened
from tests.patience import wait_until


@contextmanager
def opened_with_replica(settings: Settings) -> Iterator[Doors]:
    """Open the door, and wait until its replica answers."""
    with opened(settings) as door:
        wait_until(lambda: is_fit(door))
        yield door


def is_fit(door: Doors) -> bool:
    deps: Dependencies = door.client.app.state.deps  # type: ignore[attr-defined]
    return deps.replica is not None and deps.replica.is_fit


@contextmanager
def answered_by(outcome: str, times: int = 1, *, perhaps: str | None = None) -> Iterator[None]:
    """Require that what is read meanwhile has this outcome, so many times, or perhaps another, and nothing a third."""
    before = _outcomes()
    yield
    after = _outcomes()
    gained = {name: after[name] - before[name] for name in OUTCOMES if after[name] != before[name]}
    assert gained in ({outcome: times}, {perhaps: times})


def _outcomes() -> dict[str, float]:
    count = REGISTRY.get_sample_value
    return {outcome: count("imprint_replica_reads_total", {"outcome": outcome}) or 0.0 for outcome in OUTCOMES}
