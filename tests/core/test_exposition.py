"""What the listener for metrics shows."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE

import pytest
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from core import exposition, metrics
from core.errors import Misconfigured

SAMPLES = """
import os, sys
from core import metrics
metrics.DISPATCHES.labels("notifier", "io", "done").inc(int(sys.argv[1]))
metrics.DISPATCHES.labels("notifier", "io", "pending").inc()
metrics.DISPATCH_RUN.labels("notifier", "io").observe(0.2)
metrics.DISPATCHES_FAILED.labels("notifier", "io", "Never").inc(2)
metrics.CELERY_TASKS_ACTIVE.labels("io@here").inc()
metrics.SEARCH_KEPT_USERS.set(3)
print(os.getpid())
"""


def test_a_taken_port_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Misconfigured, match=f"port taken: something listens on 127.0.0.1:{port}"):
            exposition.listen("127.0.0.1", port)


def test_each_process_shows_its_own_memory():
    memory = exposed()["imprint_process_memory_bytes"]
    assert [sample.labels for sample in memory.samples] == [{"pid": str(os.getpid())}]
    assert memory.samples[0].value > 1e6


def test_dispatches_are_shown_under_the_names_of_celerys_dashboards():
    metrics.DISPATCHES.labels("notifier", "io", "cancelled").inc(3)
    metrics.DISPATCH_RUN.labels("notifier", "io").observe(0.2)
    families = exposed()
    labels = {"name": "notifier", "queue_name": "io"}
    cancelled = total(families["imprint_dispatches"], "_total", target="notifier", status="cancelled")
    assert total(families["celery_task_revoked"], "_total", **labels) == cancelled >= 3
    ours, theirs = families["imprint_dispatch_run_seconds"], families["celery_task_runtime"]
    assert {sample.name for sample in theirs.samples} == {
        f"celery_task_runtime_{end}" for end in ("bucket", "sum", "count")
    }
    assert total(theirs, "_count") == total(ours, "_count")
    assert total(theirs, "_sum") == total(ours, "_sum")


def test_a_dispatch_has_the_hostname_of_its_worker_and_none_in_other_processes():
    node = f"io@{socket.gethostname()}"
    source = exposition.CELERY["celery_task_sent"].source
    counted = Metric("imprint_dispatches", "Reached", "counter")
    for queue in ("io", "cpu"):
        own = {"target": "notifier", "queue": queue, "status": "pending"}
        counted.add_sample("imprint_dispatches_total", own, 1)
    active = Metric("celery_worker_tasks_active", "Now", "gauge")
    families = {exposition._name(source): counted, active.name: active}
    assert hostnames(families) == {"io": None, "cpu": None}
    active.add_sample(active.name, {"hostname": node}, 0)
    assert hostnames(families) == {"io": node, "cpu": None}


def hostnames(families: Mapping[str, Metric]) -> Mapping[str, str | None]:
    sent = next(family for family in exposition.celery_families(families) if family.name == "celery_task_sent")
    return {sample.labels["queue_name"]: sample.labels.get("hostname") for sample in sent.samples}


def test_what_processes_have_counted_outlives_them_and_their_gauges_do_not(root: Path, tmp_path: Path):
    gone = [counting(root, tmp_path, number) for number in (5, 7)]
    families = shared(root, tmp_path)
    assert total(families["celery_task_succeeded"]) == 12
    assert total(families["celery_task_sent"]) == 2
    assert total(families["celery_task_runtime"], "_count") == 2
    (failed,) = families["celery_task_failed"].samples
    assert (failed.value, failed.labels["exception"]) == (4, "Never")
    assert "celery_worker_tasks_active" not in families, "none of the processes lives that ran them"
    assert "imprint_search_kept_users" not in families or total(families["imprint_search_kept_users"]) == 0
    pids = {int(sample.labels["pid"]) for sample in families["imprint_process_memory_bytes"].samples}
    assert not pids & set(gone)
    assert {path.name for path in tmp_path.glob("counter_*.db")} >= {f"counter_{pid}.db" for pid in gone}


def test_a_series_that_was_dropped_is_not_shown_in_a_shared_folder(root: Path, tmp_path: Path):
    program = "from core import metrics as m; m.replace(m.CELERY_WORKER_UP, {'io@a': 1, 'io@b': 0}); "
    program += "m.replace(m.CELERY_WORKER_UP, {'io@a': 0})"
    environment = {**os.environ, metrics.SHARED_FOLDER: str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], cwd=root, env=environment, check=True)
    (left,) = shared(root, tmp_path)["celery_worker_up"].samples
    assert (left.labels, left.value) == ({"hostname": "io@a"}, 0)


def test_processes_that_share_a_folder_show_when_the_program_began(root: Path, tmp_path: Path):
    """The program has counted before; it is the oldest of those that live."""
    program = "import sys; from core import metrics; sys.stdout.write('ready\\n'); sys.stdout.flush(); input()"
    environment = {**os.environ, metrics.SHARED_FOLDER: str(tmp_path)}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=root, env=environment, stdin=PIPE, stdout=PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        began = [total(shared(root, tmp_path)["process_start_time_seconds"]) for _ in range(2)]
        (expected,) = (
            family.samples[0].value
            for family in ProcessCollector(pid=lambda: parent.pid, registry=CollectorRegistry()).collect()
            if family.name == "process_start_time_seconds"
        )
        assert began == [expected, expected]
        parent.communicate("\n")
    assert total(shared(root, tmp_path)["process_start_time_seconds"]) > expected


def counting(root: Path, folder: Path, number: int) -> int:
    """Count in a process of its own that has ended then; return its id."""
    environment = {**os.environ, metrics.SHARED_FOLDER: str(folder)}
    command = [sys.executable, "-c", SAMPLES, str(number)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


def shared(root: Path, folder: Path) -> Mapping[str, Metric]:
    """What a process shows that counts in the folder itself."""
    program = "from prometheus_client import generate_latest as g; from core import exposition as e; "
    program += "print(g(e._registry()).decode())"
    environment = {**os.environ, metrics.SHARED_FOLDER: str(folder)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return {family.name: family for family in text_string_to_metric_families(done.stdout)}


def exposed() -> Mapping[str, Metric]:
    return {family.name: family for family in exposition._registry().collect()}


def total(family: Metric, suffix: str = "", **labels: str) -> float:
    return sum(
        sample.value
        for sample in family.samples
        if sample.name.endswith(suffix) and labels.items() <= sample.labels.items()
    )
