"""Merges what ended processes have counted: each leaves files in the shared folder, of which every scrape reads all."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

MOST: Final = 32
"""Ended processes whose files are left as they are: to merge a few pays as little as to read them."""

GAUGES: Final = "gauge_mostrecent"

KINDS: Final = ("counter", "histogram", GAUGES)

ENDED: Final = "ended"
"""Stands for the number of a process in the name of a file."""

REPLACED: Final = "replaced.json"
"""Names the files that complete drafts replace: from then on a merge is finished, whoever is killed."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, so that nobody reads files while they are merged and removed."""
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def reap(folder: Path) -> list[int]:
    """Return the running processes that count in a folder; of ended ones drop the live gauges and merge the files.

    The caller holds the lock of the folder.
    """
    names = (path.stem.rpartition("_")[2] for path in folder.glob("*.db"))
    processes = {int(name) for name in names if name.isdigit()}
    alive = sorted(pid for pid in processes if _is_alive(pid))
    ended = processes.difference(alive)
    for pid in ended:
        mark_process_dead(pid, str(folder))
    _finish(folder)
    files = {kind: [path for pid in ended if (path := folder / f"{kind}_{pid}.db").exists()] for kind in KINDS}
    if len({path.stem.rpartition("_")[2] for paths in files.values() for path in paths}) > MOST:
        _merge(folder, files)
    return alive


def _merge(folder: Path, files: Mapping[str, Sequence[Path]]) -> None:
    """Write the merged files as drafts, then the list of what they replace, and only then replace it."""
    for kind, paths in files.items():
        merged = folder / f"{kind}_{ENDED}.db"
        inputs = [*paths, *([merged] if merged.exists() else [])]
        values = _newest(inputs) if kind == GAUGES else _sums(inputs)
        if values:
            _write(merged.with_suffix(".draft"), values)
    draft = folder / "replaced.new"
    draft.write_text(json.dumps([path.name for paths in files.values() for path in paths]), encoding="utf-8")
    draft.replace(folder / REPLACED)
    _finish(folder)


def _finish(folder: Path) -> None:
    """Finish what a process that was killed had begun to merge; drafts without their list are dropped."""
    replaced = folder / REPLACED
    is_complete = replaced.exists()
    for draft in folder.glob("*.draft"):
        if is_complete:
            draft.replace(draft.with_suffix(".db"))
        else:
            draft.unlink()
    if is_complete:
        for name in json.loads(replaced.read_text(encoding="utf-8")):
            (folder / name).unlink(missing_ok=True)
        replaced.unlink()


def _sums(files: Sequence[Path]) -> Mapping[str, tuple[float, float]]:
    """Return the sums of counts by their key, with no time."""
    sums = {}
    for family in MultiProcessCollector.merge([str(path) for path in files], accumulate=False):
        for sample in family.samples:
            names, texts = list(sample.labels), list(sample.labels.values())
            key = mmap_key(family.name, sample.name, names, texts, family.documentation)
            sums[key] = (sample.value, 0.0)
    return sums


def _newest(files: Sequence[Path]) -> Mapping[str, tuple[float, float]]:
    """Return the value of each gauge that was set last, and when; without those that were never set."""
    newest: dict[str, tuple[float, float]] = {}
    for path in files:
        for key, value, at, _ in MmapedDict.read_all_values_from_file(str(path)):
            if at > newest.get(key, (0.0, 0.0))[1]:
                newest[key] = (value, at)
    return newest


def _write(draft: Path, values: Mapping[str, tuple[float, float]]) -> None:
    file = MmapedDict(str(draft))
    for key, (value, at) in values.items():
        file.write_value(key, value, at)
    file.close()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
