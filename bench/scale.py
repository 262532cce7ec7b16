"""Costs of scale, in processor milliseconds and bytes: of a message, a memory, a search, and of keeping them.

    python -m bench.scale --json bench/scale_data/costs.json --home FOLDER    # an hour of a core; 1 GB in FOLDER
    python -m bench.scale --messages 50 --totals --owners                     # of messages alone

Processor time is that of PostgreSQL, API, router, workers and broker, each for itself, in user and in kernel mode: it
depends less than a clock on what else a machine does. `--messages`: so many are published to a stack of its own, and
all that follows from them is done without a language model. `--totals`: memories of a store whose users have 1,000
each. `--owners`: memories of one user. Figures are written after each step, and `bench.scale_model` reckons with them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench import arguments, scale_flow, scale_store
from bench.search_said import embedded
from core.inference.local_embedder import LocalEmbedder

MESSAGES: Final = (100, 200, 400)
TOTALS: Final = (10_000, 30_000, 100_000, 300_000)
OWNERS: Final = (100, 1_000, 10_000, 30_000)

SIZES: Final = {"flow": "messages", "owners": "owner", "totals": "total"}
"""Kinds of steps, and what their size is called."""

Figures = dict[str, Any]


def steps(options: Any, home: Path, done: Mapping[str, Collection[int]]) -> Iterator[tuple[str, Figures]]:
    """Yield what each step has measured, with the kind of the step; `done`: sizes that are left out."""
    for count in sorted(set(options.messages) - set(done["flow"])):
        yield "flow", scale_flow.measure(options.locomo, count, options.warm)
    if options.totals or options.owners:
        model = LocalEmbedder()
        sentences = embedded(home / "sentences.npy", model)
        for figures in scale_store.by_owner(home, model, sentences, sorted(options.owners)):
            yield "owners", figures
        for figures in scale_store.by_total(home, model, sentences, sorted(options.totals), done["totals"]):
            yield "totals", figures


def merged(before: Sequence[Figures], figures: Figures, size: str) -> list[Figures]:
    """Return the steps of a kind with a new one, in the order of their sizes; it replaces one of the same size."""
    others = [step for step in before if step[size] != figures[size]]
    return sorted([*others, figures], key=lambda step: step[size])


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--messages", type=int, nargs="*", default=MESSAGES)
    parser.add_argument("--warm", type=int, default=40, help="messages worked off before, in each stack")
    parser.add_argument("--totals", type=int, nargs="*", default=TOTALS)
    parser.add_argument("--owners", type=int, nargs="*", default=OWNERS)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    parser.add_argument("--home", type=Path, help="folder in which what was loaded is kept, and found again")
    parser.add_argument("--json", type=Path, help="file for the figures; sizes that are not measured stay in it")
    parser.add_argument("--resume", action="store_true", help="leave out the messages and totals that the file has")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    measured: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    done = {kind: [step[size] for step in measured.get(kind, []) if options.resume] for kind, size in SIZES.items()}
    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        for kind, figures in steps(options, options.home or Path(folder), done):
            print(kind, json.dumps(figures, indent=1), flush=True)
            figures |= {"measured": f"{datetime.now(UTC):%Y-%m-%d}", "load": round(os.getloadavg()[1], 1)}
            measured |= {"command": "python -m bench.scale", "cores": os.cpu_count()}
            measured |= {kind: merged(measured.get(kind, []), figures, SIZES[kind])}
            if options.json:
                options.json.parent.mkdir(parents=True, exist_ok=True)
                options.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
