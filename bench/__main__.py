"""`python -m bench [--locomo FILE]`: all figures of docs/benchmarks.md, one after the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench import accept, arguments, backtest, clock, dispatches, edit, erase, flow, route, searchable, sweep
from bench.stand import show, stack

ALONE = "decide compare judge guard write profile dedup context prefix segment stream summary tokens".split()
"""Benches that print by themselves."""

HARNESS = Path("../shared/eval/recall.py")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    parser.add_argument("--harness", type=Path, default=HARNESS)
    options = parser.parse_args()
    for bench in (accept, route, dispatches, flow, clock, backtest, edit, sweep, erase, searchable):
        show(bench.__doc__, bench.run())
    for name in ALONE:
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)
    if options.locomo.exists() and options.harness.exists():
        recall(options.harness, options.locomo)
    else:
        print(f"\nRecall was not measured: {options.harness} or {options.locomo} is not there.")


def recall(harness: Path, conversations: Path) -> None:
    """Evidence recall over the public HTTP API, by the harness that stands beside the project."""
    print("\nEvidence recall (the harness's own output)", flush=True)
    with stack() as stand:
        command = [sys.executable, str(harness), "locomo", str(conversations), "--url", stand.url, "--key", stand.key]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
