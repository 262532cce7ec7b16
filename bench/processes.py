"""Processes of a stack, from `/proc`: which are whose, their processor seconds, their memory. Linux only."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def member_names(home: Path, root: int) -> dict[int, str]:
    """Return the members of the stack by process id."""
    files = (home / "run").glob("*.pid")
    return {int(file.read_text().split()[0]): file.stem for file in files} | {root: "up"}


def describe(pid: int, names: Mapping[int, str]) -> str:
    """Return a member's name, or that of the member that started the process with what the process calls itself."""
    if pid in names:
        return names[pid]
    owner = owner_of(pid, names)
    title = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    if title.startswith("postgres: "):
        own = title.removeprefix("postgres: imprint: ")
        role = re.match(r"(imprint_\w+) ", own)
        return f"{owner}: {f'connection of {role[1]}' if role else own.strip()}"
    return f"{owner}: children"


def owner_of(pid: int, names: Mapping[int, str]) -> str:
    """Return the member that a process is, or that has started it; "?" if it is gone."""
    if pid in names:
        return names[pid]
    return next((names[ancestor] for ancestor in _ancestors(pid) if ancestor in names), "?")


def descendants(root: int) -> set[int]:
    """Return a process and all that it has started, and those that they have."""
    parents = {pid: _parent(pid) for pid in _pids()}
    reached, new = set[int](), {root}
    while new:
        reached |= new
        new = {pid for pid, parent in parents.items() if parent in new} - reached
    return reached


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process, in user and in kernel mode."""
    return sum(map(int, _stat(pid)[11:13])) / TICKS


def all_cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process and of its children that have ended."""
    return sum(map(int, _stat(pid)[11:15])) / TICKS


def tree_cpu_seconds(root: int) -> float:
    """Return the processor seconds of a process and of all its descendants, also of those that have ended."""
    return sum(map(all_cpu_seconds, descendants(root)))


def member_cpu_seconds(home: Path, root: int) -> dict[str, float]:
    """Return the processor seconds of each member of a stack with its descendants."""
    names, seconds = member_names(home, root), defaultdict[str, float](float)
    for pid in descendants(root):
        seconds[owner_of(pid, names)] += all_cpu_seconds(pid)
    return dict(seconds)


def member_memory(home: Path, root: int) -> dict[str, float]:
    """Return the MB of each member of a stack with its descendants; pages that n processes share count as 1/n."""
    names, megabytes = member_names(home, root), defaultdict[str, float](float)
    for pid in descendants(root):
        megabytes[owner_of(pid, names)] += memory(pid)["Pss"]
    return dict(megabytes)


def memory(pid: int) -> Mapping[str, float]:
    """Return the memory of a process in MB, by name of `smaps_rollup`."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    pairs = (line.split()[:2] for line in lines)
    return {name.rstrip(":"): int(kilobytes) * 1024 / 1e6 for name, kilobytes in pairs}


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        pid = _parent(pid)
        yield pid


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _stat(pid: int) -> list[str]:
    """Return the fields of `/proc/PID/stat` behind the name, which may hold spaces; none if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _parent(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0
