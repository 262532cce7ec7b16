"""How much a counter of this process has grown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import REGISTRY


@dataclass(slots=True)
class Growth:
    """What was counted, once the block has ended."""

    by: float = 0.0


@contextmanager
def growth(name: str, **labels: str) -> Iterator[Growth]:
    """Yield what a counter has grown by while the block ran."""
    grown, before = Growth(), REGISTRY.get_sample_value(name, labels) or 0.0
    yield grown
    grown.by = (REGISTRY.get_sample_value(name, labels) or 0.0) - before
