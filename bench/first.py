"""The first question about a user: how long it takes, and what a process then holds of each of their rows.

    python -m bench.first [--large 100000] [--users 50] [--home FOLDER] [--json]

To reach: 15 ms for a user of 1,000 memories, 400 ms for one of 100,000, 1,024 bytes a row. The vectors of questions are
known, and the server has its pages at hand, as each user's rows have just been counted. Of a loaded machine only the
processor's time says something: it is shown beside the time that passed. Bytes are counted twice: those that Python and
numpy allocate for the rows of the large user (tracemalloc), and what the process has grown by, which includes what
reading has left in its allocators. `--home` keeps what was loaded for the next time, for `bench.search`, too.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import tempfile
import time
import tracemalloc
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.search import EACH, LARGE, Bench, Figures, in_process, standing
from bench.search_data import TENANT, Crowd
from bench.search_said import embedded
from bench.stand import show
from core.index.resident import cache
from core.index.resident.cache import OwnerCache
from core.index.resident.loading import MESSAGES_AND_MEMORIES, Rows
from core.inference.local_embedder import LocalEmbedder
from core.storage import db
from core.storage.db import Database

AIMS: Final = {EACH: 15, 100_000: 400}
"""Milliseconds of a first question, by memories of the user."""

_TOUCH: Final = "SELECT count(vector_dims(embedding)) FROM search_index WHERE tenant_id = %s AND user_id = %s"


@dataclass(slots=True)
class Took:
    """Milliseconds that passed, and those of this process's processor."""

    passed: list[float]
    worked: list[float]


def first_questions(bench: Bench, users: list[str]) -> Took:
    """Ask once about each user, whom nobody has asked about in this process."""
    asked = [one for (one,) in bench.asked(users, 1)]
    (warmed,) = bench.asked(["beside0"], 1)
    took = Took([], [])
    with in_process(bench, [asked, warmed]) as work:
        work(warmed[0])  # A connection is open, and statements are compiled.
        for one in asked:
            bench.there.admin.execute(_TOUCH, (TENANT, one.user))
            began, worked = time.perf_counter(), time.process_time()
            work(one)
            took.passed.append(1000 * (time.perf_counter() - began))
            took.worked.append(1000 * (time.process_time() - worked))
    return took


def bytes_of_a_row(bench: Bench) -> Figures:
    """What the rows of the large user take, as allocated and as the process grows."""
    with closing(db.connect(db.app_url(bench.there.settings), 1)) as app:
        gc.collect()
        before = _resident()
        filled, rows = _filled(app, bench.model.dimension)
        gc.collect()
        grown = _resident() - before
        counted = filled.state.view.bytes
        del filled
        gc.collect()
        tracemalloc.start()
        again, rows = _filled(app, bench.model.dimension)
        gc.collect()
        allocated, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(again.state.view) == rows
    return {
        "bytes of a row, allocated (1,024)": allocated / rows,
        "bytes of a row while they are read, at the most": peak / rows,
        "bytes of a row by which the process grows": grown / rows,
        "bytes of a row as the cache counts them": counted / rows,
    }


def _resident() -> int:
    """Bytes of this process that are in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _filled(app: Database, dimension: int) -> tuple[OwnerCache, int]:
    owner = OwnerCache(Rows(LARGE, None, MESSAGES_AND_MEMORIES))
    check = owner.check(dimension)
    with app.tenant(TENANT) as tx:
        view = owner.view(tx, check, tx.execute(cache.CHANGED, check.values).one())
    return owner, len(view)


def run(home: Path, large: int, users: int) -> Figures:
    model = LocalEmbedder()
    sentences = embedded(home / "sentences.npy", model)
    crowd = Crowd(LARGE, {LARGE: large, **{f"beside{n}": EACH for n in range(max(2, large // EACH))}})
    figures: Figures = {}
    with standing(home / LARGE / str(large), crowd, sentences) as there:
        bench = Bench(there, crowd, model, 1)
        few = [user for user in crowd.users if user != LARGE][1:][:users]
        for memories, about in ((EACH, few), (large, [LARGE])):
            took = first_questions(bench, about)
            aim = f" ({AIMS[memories]})" if memories in AIMS else ""
            figures[f"{memories:,} memories: p50, ms{aim}"] = statistics.median(took.passed)
            figures[f"{memories:,} memories: of the process's processor, ms"] = statistics.median(took.worked)
        return figures | bytes_of_a_row(bench)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, default=100_000, help="memories of the user who has most")
    parser.add_argument("--users", type=int, default=50, help="users of 1,000 memories who are asked about")
    parser.add_argument("--home", type=Path, help="folder in which what was loaded is kept, and found again")
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        figures = run(given.home or Path(folder), given.large, given.users)
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        show("First question", figures)


if __name__ == "__main__":
    main()
