"""Serves the metrics: of this process, or of all that count in the shared folder."""

from __future__ import annotations

import errno
import math
import os
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import REGISTRY, CollectorRegistry, Metric, ProcessCollector, make_wsgi_app, start_http_server
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from core import ended_processes, metrics
from core.errors import Misconfigured
from core.metrics import SHARED_FOLDER

LOOK_SECONDS = 3600.0
"""Interval at which the listener polls whether it was shut down; it ends with its process instead."""


class Renamed(NamedTuple):
    """A family under the name that Celery's public dashboards ask for: of the samples with these labels."""

    source: MetricWrapperBase
    where: Mapping[str, str]


CELERY: Final[Mapping[str, Renamed]] = {
    "celery_task_sent": Renamed(metrics.DISPATCHES, {"status": "pending"}),
    "celery_task_received": Renamed(metrics.DISPATCHES, {"status": "running"}),
    "celery_task_succeeded": Renamed(metrics.DISPATCHES, {"status": "done"}),
    "celery_task_retried": Renamed(metrics.DISPATCHES, {"status": "retrying"}),
    "celery_task_revoked": Renamed(metrics.DISPATCHES, {"status": "cancelled"}),
    "celery_task_failed": Renamed(metrics.DISPATCHES_FAILED, {}),
    "celery_task_rejected": Renamed(metrics.DISPATCHES_REJECTED, {}),
    "celery_task_runtime": Renamed(metrics.DISPATCH_RUN, {}),
}
"""A task is a dispatch, by the name of its agent: Celery's own task is the same for all, and may run several."""

LABELS: Final[Mapping[str, str]] = {"target": "name", "queue": "queue_name", "exception": "exception", "le": "le"}
"""Labels of Celery's dashboards by those of this service."""


def listen(host: str, port: int) -> None:
    """Serve `/metrics` on a port: of this process, or of all that count in the shared folder.

    Raises Misconfigured: the port is taken, or cannot be listened on.
    """
    try:
        server, _ = start_http_server(port, host, _registry())
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise Misconfigured(
                f"Cannot listen on {host}:{port} ({error.strerror or error}). "
                "Set IMPRINT_METRICS_HOST and IMPRINT_METRICS_PORT."
            ) from error
        raise Misconfigured(
            f"port taken: something listens on {host}:{port}. Set IMPRINT_METRICS_PORT to a free port, or to 0."
        ) from error
    # A worker's children must not hold the port of a parent that was killed.
    os.register_at_fork(after_in_child=server.socket.close)


def serve(bound: socket.socket) -> None:
    """Serve `/metrics` on a bound socket, from a thread. Several processes may share it; each answers for all."""
    bound.setblocking(True)
    bound.listen()
    host, port = bound.getsockname()[:2]
    server = ThreadingWSGIServer((host, port), _Quiet, bind_and_activate=False)
    server.socket.close()
    server.socket, server.server_name, server.server_port = bound, host, port
    server.setup_environ()
    server.set_app(make_wsgi_app(_registry()))
    threading.Thread(target=server.serve_forever, args=(LOOK_SECONDS,), name="metrics", daemon=True).start()


class _Quiet(WSGIRequestHandler):
    """Logs no request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


def forget(pid: int) -> None:
    """Drop the gauges of a process that has ended; what it counted stays."""
    if SHARED_FOLDER in os.environ:
        mark_process_dead(pid)


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    folder = os.environ.get(SHARED_FOLDER)
    registry.register(_Exposition(Path(folder) if folder else None))
    return registry


class _Exposition(Collector):
    """All metrics; `folder`: that of several processes. Nothing of it runs before a listener is asked."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def describe(self) -> Iterable[Metric]:
        """Return nothing: no other collector is registered whose names could be taken."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the families, those that are derived behind them."""
        processes, collected = self._read()
        families = {family.name: family for family in collected}
        families[_name(metrics.PROCESS_MEMORY)] = _memory(processes)
        if self._folder is not None:
            families |= {start.name: start for start in _started(processes)}
        yield from families.values()
        yield from celery_families(families)

    def _read(self) -> tuple[Sequence[int], Iterable[Metric]]:
        """Return the processes that are shown, and what they have counted."""
        if self._folder is None:
            return [os.getpid()], REGISTRY.collect()
        with ended_processes.locked(self._folder):
            processes = ended_processes.reap(self._folder)
            families = list(MultiProcessCollector(None, str(self._folder)).collect())
        for family in families:
            # What `metrics.replace` has dropped.
            family.samples = [sample for sample in family.samples if not math.isnan(sample.value)]
        return processes, families


def celery_families(families: Mapping[str, Metric]) -> Iterator[Metric]:
    """Yield what Celery's public dashboards ask for: the same samples under other names.

    `hostname` is that of the worker; what the router, the API and the clock count has none.
    """
    host, workers = socket.gethostname(), _workers(families)
    for name, (source, where) in CELERY.items():
        counted = families.get(_name(source))
        if counted is None:
            continue
        family = Metric(name, f"{counted.documentation}, by the name of Celery's dashboards", counted.type)
        for sample in counted.samples:
            if where.items() <= sample.labels.items() and not sample.name.endswith("_created"):
                labels = {LABELS[label]: text for label, text in sample.labels.items() if label in LABELS}
                suffix = sample.name.removeprefix(counted.name).removeprefix("_seconds")
                node = f"{labels['queue_name']}@{host}"
                labels |= {"hostname": node} if node in workers else {}
                family.add_sample(name + suffix, labels, sample.value)
        yield family


def _workers(families: Mapping[str, Metric]) -> set[str]:
    """Return the node names of the workers that count here."""
    active = families.get(_name(metrics.CELERY_TASKS_ACTIVE))
    return {sample.labels["hostname"] for sample in active.samples} if active else set()


def _name(metric: MetricWrapperBase) -> str:
    described: Sequence[Metric] = list(metric.describe())
    return described[0].name


def _started(processes: Sequence[int]) -> Iterator[Metric]:
    """Yield when the program began: its oldest process, from which it forked the others; nothing without `/proc`."""
    starts = [
        family
        for pid in processes
        for family in ProcessCollector(pid=partial(int, pid), registry=CollectorRegistry()).collect()
        if family.name == "process_start_time_seconds" and family.samples
    ]
    if starts:
        yield min(starts, key=lambda start: start.samples[0].value)


def _memory(processes: Sequence[int]) -> Metric:
    """Return the memory of processes; empty where the system has no `/proc`."""
    (family,) = metrics.PROCESS_MEMORY.describe()
    for pid in processes:
        size = _proportional_bytes(pid)
        if size is not None:
            family.add_sample(family.name, {"pid": str(pid)}, size)
    return family


def _proportional_bytes(pid: int) -> int | None:
    """Return the memory of a process, of pages that it shares with others its part; None: it is unknown.

    So the sum over forked processes is what they take together.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return 1024 * kilobytes[0] if kilobytes else None
