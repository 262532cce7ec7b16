"""One installation over hosts for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts import network
from tests.hosts.cluster import HOSTS, Cluster, cluster


@pytest.fixture(scope="module")
def installation(root: Path) -> Iterator[Cluster]:
    with network.network(*HOSTS) as hosts, cluster(hosts, root) as running:
        yield running
