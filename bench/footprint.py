"""Footprint of an idle stack: memory and processor time of each process, and the seconds until it is ready.

    python -m bench.footprint [--small] [--seconds 60]

`imprint up` is started twice in a fresh home; the second start, which finds the bytecode of the first, is timed. To
reach: 450 MB (`--small`: 250 MB), 3.5 s, 1 % of a core. Memory is PSS (`smaps_rollup`): pages that n processes share
count as 1/n in each, also those shared with processes that are not the stack's, such as a second stack. Linux only;
needs the right to read the servers' figures.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import arguments
from bench.stand import home_stack

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Usage:
    """Usage of a kind of process: how many there are, MB of PSS and of memory of their own, percent of a core."""

    count: int = 0
    pss: float = 0.0
    own: float = 0.0
    cpu: float = 0.0


def run(*, small: bool, idle_seconds: float) -> tuple[list[tuple[float, float]], dict[str, Usage]]:
    """Return what both starts took, and what each process of the second one uses while it is idle.

    What a start took: seconds, and processor seconds of all its processes, which depend less on other load.
    """
    starts = list[tuple[float, float]]()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # An installed package has its bytecode.
    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
        for number in range(2):
            began = time.perf_counter()
            with home_stack(Path(folder), *(["--small"] if small else [])) as stand:
                starts.append((time.perf_counter() - began, sum(map(all_cpu_seconds, descendants(stand.pid)))))
                if number:
                    return starts, _watch(stand.home, stand.pid, idle_seconds)
    raise AssertionError("There are two starts.")


def _watch(home: Path, root: int, seconds: float) -> dict[str, Usage]:
    time.sleep(40)  # What a start leaves to do: the model is read, workers shrink after 30 s.
    before = {pid: _cpu_seconds(pid) for pid in descendants(root)}
    began = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    usages = defaultdict[str, Usage](Usage)
    names = _names(home, root)
    for pid in sorted(descendants(root)):
        usage = usages[_name(pid, names)]
        usage.count += 1
        usage.cpu += 100 * (_cpu_seconds(pid) - before.get(pid, 0.0)) / passed
        memory = _memory(pid)
        usage.pss += memory["Pss"]
        usage.own += memory["Private_Clean"] + memory["Private_Dirty"]
    return dict(usages)


def _names(home: Path, root: int) -> dict[int, str]:
    """Return the members of the stack by process id."""
    files = (home / "run").glob("*.pid")
    return {int(file.read_text().split()[0]): file.stem for file in files} | {root: "up"}


def _name(pid: int, names: Mapping[int, str]) -> str:
    """Return a member's name, or that of the member that started the process with what the process calls itself."""
    if pid in names:
        return names[pid]
    owner = next((names[ancestor] for ancestor in _ancestors(pid) if ancestor in names), "?")
    title = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    if title.startswith("postgres: "):
        own = title.removeprefix("postgres: imprint: ")
        role = re.match(r"(imprint_\w+) ", own)
        return f"{owner}: {f'connection of {role[1]}' if role else own.strip()}"
    return f"{owner}: children"


def descendants(root: int) -> set[int]:
    parents = {pid: _parent(pid) for pid in _pids()}
    descendants, new = set[int](), {root}
    while new:
        descendants |= new
        new = {pid for pid, parent in parents.items() if parent in new} - descendants
    return descendants


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


def _cpu_seconds(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def all_cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process and of its children that have ended."""
    return sum(map(int, _stat(pid)[11:15])) / TICKS


def _memory(pid: int) -> Mapping[str, float]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    pairs = (line.split()[:2] for line in lines)
    return {name.rstrip(":"): int(kilobytes) * 1024 / 1e6 for name, kilobytes in pairs}


def show(starts: list[tuple[float, float]], usage: Mapping[str, Usage]) -> None:
    """Print a table in Markdown."""
    for name, (seconds, cpu) in zip(("first", "second"), starts, strict=True):
        print(f"{name} start: ready after {seconds:.1f} s, {cpu:.1f} s of processor time")
    print("\n| process | count | PSS, MB | private, MB | % of a core |\n| --- | ---: | ---: | ---: | ---: |")
    for name, used in sorted(usage.items(), key=lambda item: -item[1].pss):
        print(f"| {name} | {used.count} | {used.pss:.1f} | {used.own:.1f} | {used.cpu:.2f} |")
    total = [sum(getattr(used, what) for used in usage.values()) for what in ("count", "pss", "own", "cpu")]
    print(f"| all | {total[0]} | {total[1]:.0f} | {total[2]:.0f} | {total[3]:.2f} |")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--small", action="store_true", help="of `imprint up --small`")
    parser.add_argument("--seconds", type=float, default=60.0, help="of idle time")
    given = parser.parse_args()
    print((__doc__ or "").splitlines()[0])
    show(*run(small=given.small, idle_seconds=given.seconds))


if __name__ == "__main__":
    main()
