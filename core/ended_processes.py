"""Merges what ended processes have counted: each leaves files in the shared folder, of which every scrape reads all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

MOST: Final = 32
"""Ended processes whose files are left as they are: to merge a few pays as little as to read them."""

KINDS: Final = ("counter", "histogram")

ENDED: Final = "ended"
"""Stands for the number of a process in the name of a file."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder: a file is merged and removed while nobody reads."""
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def living(folder: Path) -> list[int]:
    """Return the processes that count in a folder and have not ended; drop the gauges of the others, and merge counts.

    Under the lock of the folder.
    """
    names = (path.stem.rpartition("_")[2] for path in folder.glob("*.db"))
    processes = {int(name) for name in names if name.isdigit()}
    alive = sorted(pid for pid in processes if _is_alive(pid))
    ended = processes.difference(alive)
    for pid in ended:
        mark_process_dead(pid, str(folder))
    if len(ended) > MOST:
        for kind in KINDS:
            _merge(folder, kind, ended)
        _drop_unset_gauges(folder, ended)
    return alive


def _merge(folder: Path, kind: str, ended: Collection[int]) -> None:
    files = [path for pid in ended if (path := folder / f"{kind}_{pid}.db").exists()]
    merged = folder / f"{kind}_{ENDED}.db"
    draft = folder / f"{kind}_{ENDED}.draft"
    _write(draft, [*files, *([merged] if merged.exists() else [])])
    draft.replace(merged)
    for path in files:
        path.unlink()


def _write(draft: Path, files: Sequence[Path]) -> None:
    """Write the sums of files into a new one."""
    draft.unlink(missing_ok=True)
    values = MmapedDict(str(draft))
    for family in MultiProcessCollector.merge([str(path) for path in files], accumulate=False):
        for sample in family.samples:
            names, texts = list(sample.labels), list(sample.labels.values())
            key = mmap_key(family.name, sample.name, names, texts, family.documentation)
            values.write_value(key, sample.value, 0.0)
    values.close()


def _drop_unset_gauges(folder: Path, ended: Collection[int]) -> None:
    """Drop the files of gauges that an ended process never set: of others the last value stands."""
    for pid in ended:
        for path in folder.glob(f"gauge_*_{pid}.db"):
            if not any(at for _, _, at, _ in MmapedDict.read_all_values_from_file(str(path))):
                path.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
