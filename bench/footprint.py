"""Footprint of an idle stack: memory and processor time of each process, and the seconds until it is ready.

    python -m bench.footprint [--small] [--seconds 60]

`imprint up` is started twice in a fresh home; the second start, which finds the bytecode of the first, is timed. To
reach: 450 MB (`--small`: 250 MB), 3.5 s, 1 % of a core. Memory is PSS (`smaps_rollup`): pages that n processes share
count as 1/n in each, also those shared with processes that are not the stack's, such as a second stack. Linux only;
needs the right to read the servers' figures.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import arguments, processes
from bench.stand import home_stack


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
                starts.append(
                    (time.perf_counter() - began, sum(map(processes.all_cpu_seconds, processes.descendants(stand.pid))))
                )
                if number:
                    return starts, _watch(stand.home, stand.pid, idle_seconds)
    raise AssertionError("There are two starts.")


def _watch(home: Path, root: int, seconds: float) -> dict[str, Usage]:
    time.sleep(40)  # What a start leaves to do: the model is read, workers shrink after 30 s.
    before = {pid: processes.cpu_seconds(pid) for pid in processes.descendants(root)}
    began = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    usages = defaultdict[str, Usage](Usage)
    names = processes.member_names(home, root)
    for pid in sorted(processes.descendants(root)):
        usage = usages[processes.describe(pid, names)]
        usage.count += 1
        usage.cpu += 100 * (processes.cpu_seconds(pid) - before.get(pid, 0.0)) / passed
        memory = processes.memory(pid)
        usage.pss += memory["Pss"]
        usage.own += memory["Private_Clean"] + memory["Private_Dirty"]
    return dict(usages)


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
