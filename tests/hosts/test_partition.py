"""Hosts are cut off, lossy or restarted under a stream of events: nothing is lost or done twice, and alerts tell."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts import alarms, network
from tests.hosts.alarms import Prometheus
from tests.hosts.cluster import Cluster
from tests.hosts.stream import Stream, figure
from tests.patience import wait_until

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(not network.POSSIBLE, reason="needs root, iproute2 and nftables (`make hosts` installs them)"),
    pytest.mark.timeout(900),
]

CUT_SECONDS = 45
"""Longer than a lease, and than the probes of a connection."""

LOSS_SECONDS = 45


@pytest.fixture(scope="module")
def prometheus(installation: Cluster, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with alarms.prometheus(installation, root, tmp_path_factory.mktemp("prometheus")) as watching:
        wait_until(lambda: not watching.firing(), every=0.5)
        yield watching


def wait_until_all_work(installation: Cluster) -> None:
    """Wait until each worker has done something more: none may have become deaf."""
    before = installation.worked()
    wait_until(lambda: all(done > before[name] for name, done in installation.worked().items()), every=1)


@pytest.mark.parametrize("host", ["worker1", "control1", "api1", "broker"])
def test_a_host_that_is_cut_off_costs_nothing(installation: Cluster, prometheus: Prometheus, host: str) -> None:
    with Stream(installation, f"cut{host}") as stream:
        time.sleep(5)
        with installation.network.partitioned(host):
            began = time.monotonic()
            if host != "broker":
                wait_until(lambda: "ImprintProcessDown" in prometheus.firing(), every=0.5)
            time.sleep(max(0, began + CUT_SECONDS - time.monotonic()))
            assert installation.network.dropped(host) > 0
            meanwhile = len(stream.accepted)
        healed = time.monotonic()
        wait_until_all_work(installation)
        figure(f"after {host} was back, until each worker works", time.monotonic() - healed)
        stream.stop()
        stream.settle()
        figure(f"after {host} was back, until all is done", time.monotonic() - healed)
        figure(f"longest from event to effect while {host} was away", stream.longest_wait())
    assert meanwhile > 20
    assert stream.told > 3
    stream.assert_each_once()
    prometheus.wait_until_none_fires()
    figure(f"after {host} was back, until no alert fires", time.monotonic() - healed)


def test_a_primary_that_is_killed_and_comes_back_costs_nothing(installation: Cluster, prometheus: Prometheus) -> None:
    postgres = installation.postgres
    with Stream(installation, "restart") as stream:
        time.sleep(5)
        assert postgres.pid
        os.kill(postgres.pid, signal.SIGKILL)
        killed = time.monotonic()
        wait_until(lambda: "ImprintRefusing" in prometheus.firing(), every=0.5)
        figure("after the primary was killed, until an alert fires", time.monotonic() - killed)
        postgres.stop()
        with installation.network.inside("database"):
            postgres.start()
        back, before = time.monotonic(), len(stream.accepted)
        wait_until(lambda: len(stream.accepted) > before)
        figure("after the primary was back, until an event is accepted", time.monotonic() - back)
        wait_until_all_work(installation)
        figure("after the primary was back, until each worker works", time.monotonic() - back)
        stream.stop()
        stream.settle()
        figure("after the primary was back, until all is done", time.monotonic() - back)
    assert stream.refused > 0
    assert stream.told > 2
    stream.assert_each_once()
    prometheus.wait_until_none_fires()
    figure("after the primary was back, until no alert fires", time.monotonic() - back)


@pytest.mark.parametrize("host", ["worker1", "database"])
def test_a_host_that_loses_three_packets_of_ten_costs_nothing(installation: Cluster, host: str) -> None:
    with Stream(installation, f"loss{host}") as stream:
        time.sleep(2)
        with installation.network.lossy(host, 30):
            time.sleep(LOSS_SECONDS)
            assert installation.network.dropped(host) > 0
        healed = time.monotonic()
        wait_until_all_work(installation)
        stream.stop()
        stream.settle()
        figure(f"after {host} lost no more packets, until all is done", time.monotonic() - healed)
        figure(f"longest from event to effect while {host} lost packets", stream.longest_wait())
    assert len(stream.accepted) > 20
    stream.assert_each_once()
