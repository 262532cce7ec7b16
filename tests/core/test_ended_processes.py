"""What ended processes have counted is merged, and nothing of it is lost or counted twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector

from core import ended_processes

NOBODY = 4_194_304
"""Above the largest number that a process may have."""


def key(sample: str, **labels: str) -> str:
    return mmap_key("imprint_dispatch_run_seconds", sample, list(labels), list(labels.values()), "Run time")


def counts_of(folder: Path, pid: int, number: float) -> None:
    """Write what a process would have counted."""
    for kind, values in {
        "counter": {
            mmap_key("imprint_dispatches", "imprint_dispatches_total", ["target"], ["notifier"], "Reached"): number
        },
        "histogram": {
            key("imprint_dispatch_run_seconds_bucket", target="notifier", le="0.5"): number,
            key("imprint_dispatch_run_seconds_bucket", target="notifier", le="+Inf"): 1,
            key("imprint_dispatch_run_seconds_sum", target="notifier"): number / 4,
        },
        "gauge_mostrecent": {mmap_key("imprint_log_lag_seconds", "imprint_log_lag_seconds", [], [], "Age"): 0},
        "gauge_livesum": {mmap_key("imprint_search_kept_users", "imprint_search_kept_users", [], [], "Owners"): 1},
    }.items():
        file = MmapedDict(str(folder / f"{kind}_{pid}.db"))
        for name, value in values.items():
            file.write_value(name, value, 0.0)
        file.close()


def shown(folder: Path) -> dict[str, float]:
    families = MultiProcessCollector(None, str(folder)).collect()
    return {
        f"{sample.name} {sample.labels.get('le', '')}".strip(): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    counts_of(tmp_path, os.getpid(), 1000)
    for number in range(ended_processes.MOST + 8):
        counts_of(tmp_path, NOBODY + number, number)
    return tmp_path


def test_the_sums_are_the_same_and_the_files_few(folder: Path) -> None:
    before = shown(folder)
    with ended_processes.locked(folder):
        assert ended_processes.reap(folder) == [os.getpid()]
    after = shown(folder)
    assert before["imprint_dispatches_total"] == 1000 + sum(range(ended_processes.MOST + 8))
    assert after == before | {"imprint_search_kept_users": 1}
    mine = {f"{kind}_{os.getpid()}.db" for kind in ("counter", "histogram", "gauge_mostrecent", "gauge_livesum")}
    assert {path.name for path in folder.glob("*.db")} == {*mine, "counter_ended.db", "histogram_ended.db"}


def test_what_ends_later_is_added_to_it(folder: Path) -> None:
    for _ in range(2):
        with ended_processes.locked(folder):
            ended_processes.reap(folder)
        for number in range(ended_processes.MOST + 1):
            counts_of(folder, NOBODY + 100 + number, 2)
    first = 1000 + sum(range(ended_processes.MOST + 8))
    assert shown(folder)["imprint_dispatches_total"] == first + 2 * 2 * (ended_processes.MOST + 1)


def test_a_gauge_that_an_ended_process_has_set_stands(folder: Path) -> None:
    file = MmapedDict(str(folder / f"gauge_mostrecent_{NOBODY}.db"))
    file.write_value(mmap_key("imprint_log_lag_seconds", "imprint_log_lag_seconds", [], [], "Age"), 7, 1.0)
    file.close()
    with ended_processes.locked(folder):
        ended_processes.reap(folder)
    assert shown(folder)["imprint_log_lag_seconds"] == 7


def test_gauges_that_ended_processes_have_set_leave_one_file_with_the_newest(folder: Path) -> None:
    ended = range(NOBODY, NOBODY + ended_processes.MOST + 8)
    for number in ended:
        file = MmapedDict(str(folder / f"gauge_mostrecent_{number}.db"))
        name = mmap_key("imprint_log_lag_seconds", "imprint_log_lag_seconds", [], [], "Age")
        file.write_value(name, number, 2.0 if number == NOBODY + 5 else 1.0)
        file.close()
    with ended_processes.locked(folder):
        ended_processes.reap(folder)
    assert shown(folder)["imprint_log_lag_seconds"] == NOBODY + 5
    assert {path.name for path in folder.glob("gauge_*.db")} == {
        "gauge_mostrecent_ended.db",
        f"gauge_mostrecent_{os.getpid()}.db",
        f"gauge_livesum_{os.getpid()}.db",
    }


class Killed(BaseException):
    pass


@pytest.mark.parametrize("last", range(2 + 1 + 3 * 8))
def test_a_merge_that_is_killed_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    """Killed after any number of changes to the folder, of which a merge of eight processes makes so many."""
    monkeypatch.setattr(ended_processes, "MOST", 7)
    for number in range(8):
        counts_of(tmp_path, NOBODY + number, number)
    with ended_processes.locked(tmp_path):
        ended_processes.reap(tmp_path)
    for number in range(8):
        counts_of(tmp_path, NOBODY + number, number)
    before, changes = shown(tmp_path), iter(range(last))
    with monkeypatch.context() as patched:
        for change in ("replace", "unlink"):
            patched.setattr(Path, change, dying(getattr(Path, change), changes))
        with pytest.raises(Killed), ended_processes.locked(tmp_path):
            ended_processes.reap(tmp_path)
    with ended_processes.locked(tmp_path):
        ended_processes.reap(tmp_path)
    after = shown(tmp_path)
    assert after["imprint_dispatches_total"] == before["imprint_dispatches_total"] == 2 * sum(range(8))
    assert {path.name for path in tmp_path.iterdir()} == {"counter_ended.db", "histogram_ended.db", "lock"}


def dying(change: Callable[..., object], changes: Iterator[int]) -> Callable[..., object]:
    """Stand for a method of Path in a process that is killed after so many changes."""

    def method(*parts: object, **named: object) -> object:
        if next(changes, None) is None:
            raise Killed
        return change(*parts, **named)

    return method


def test_a_few_are_left_as_they_are(tmp_path: Path) -> None:
    counts_of(tmp_path, NOBODY, 5)
    with ended_processes.locked(tmp_path):
        assert ended_processes.reap(tmp_path) == []
    assert (tmp_path / f"counter_{NOBODY}.db").exists()
    assert not (tmp_path / f"gauge_livesum_{NOBODY}.db").exists()
