from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.house.sources import sources


@pytest.fixture(scope="module", autouse=True)
def trees_forgotten() -> Iterator[None]:
    """The trees of all modules take some 200 MB, and collections of garbage among them longer than the parser."""
    gc.disable()
    yield
    sources.cache_clear()
    gc.enable()
