"""One installation over hosts for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts import network
from tests.hosts.cluster import HOSTS, Cluster, cluster


@pytest.fixture(scope="session")
def installation(root: Path) -> Iterator[Cluster]:
    with network.network(*HOSTS) as hosts, cluster(hosts, root) as running:
        yield running
