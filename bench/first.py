"""The first question about a user: how long it takes, and what a process then holds of each of their rows.

    python -m bench.first [--large 100000] [--users 50] [--home FOLDER] [--json]

To reach: 15 ms for a user of 1,000 memories, 400 ms for one of 100,000, 1,024 bytes a row. The vectors of questions are
known, and the server has its pages at hand: the baseline, an exact scan of the user's vectors, takes turns with the
first questions. Each question about the large user is the first of a new cache. Then come the questions that are asked
while their rows are cached behind, and how much of the first ten results the first answers share with those from the
cache. In this store twenty memories cite a message, and have its score: two answers that differ in one message share
none of its memories, so that messages are compared.
Bytes are counted twice: those that Python and numpy allocate for the rows of the large user (tracemalloc), and what the
process has grown by, which includes what reading has left in its allocators. `--home` keeps what was loaded for the
next time, for `bench.search`, too.
"""

from __future__ import annotations

import gc
import json
import math
import os
import statistics
import tempfile
import time
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Final

from bench import arguments
from bench.search import EACH, LARGE, Bench, Figures, Took, Work, in_process, standing
from bench.search_data import TENANT, Asked, Crowd
from bench.search_said import embedded
from bench.stand import show, timed
from core.index.resident import cache
from core.index.resident.cache import OwnerCache
from core.index.resident.filling import FILLER
from core.index.resident.loading import MESSAGES_AND_MEMORIES, Rows
from core.inference.local_embedder import LocalEmbedder
from core.storage import db
from core.storage.db import Database

AIMS: Final = {EACH: 15, 100_000: 400}
"""Milliseconds of a first question, by memories of the user."""

QUESTIONS: Final = 12
"""About the large user."""


def of_few(bench: Bench, users: list[str]) -> Figures:
    """Ask once about each user, whom nobody has asked about in this process."""
    questions = [question for (question,) in bench.questions_about(users, 1)]
    (warmed,) = bench.questions_about(["beside0"], 1)
    with in_process(bench, [questions, warmed]) as work:
        work(warmed[0])  # A connection is open, and statements are compiled.
        return _figures(EACH, bench.turns(questions, work))


def of_many(bench: Bench, memories: int) -> Figures:
    """Ask about the large user as the first of a process, again and again; then while rows are cached, and after."""
    ((warmed,),), (questions,) = bench.questions_about(["beside0"], 1), bench.questions_about([LARGE], QUESTIONS)
    first: dict[str, list[str]] = {}
    took = Took()
    for question in questions:
        with in_process(bench, [questions, [warmed]]) as work:
            work(warmed)

            def ask(question: Asked, work: Work = work) -> None:
                first[question.text] = work(question)

            one_of_it = bench.turns([question], ask)
            took.own += one_of_it.own
            took.floor += one_of_it.floor
            FILLER.stop()
    figures = _figures(memories, took)
    with in_process(bench, [questions, [warmed]]) as work:
        began = time.perf_counter()
        work(questions[0])
        beside: list[float] = []
        while not FILLER.wait(0):
            beside.append(_ms(work, questions[1]))
        figures["until its rows are cached, while it is asked about, ms"] = 1000 * (time.perf_counter() - began)
        figures["questions in this time, p50, ms"] = statistics.median(beside or [math.nan])
        shared = [_shared(bench, first[question.text], work(question)) for question in questions]
        figures["the next ones, p50, ms"] = statistics.median(_ms(work, question) for question in questions)
        figures["messages of the first ten results in both answers"] = statistics.fmean(shared)
    return figures


def _ms(work: Work, question: Asked) -> float:
    return 1000 * timed(work, question)


def _figures(memories: int, took: Took) -> Figures:
    aim = f" ({AIMS[memories]})" if memories in AIMS else ""
    own, floor = statistics.median(took.own), statistics.median(took.floor)
    name = f"{memories:,} memories"
    return {f"{name}: p50, ms{aim}": own, f"{name}: exact scan, p50, ms": floor, f"{name}: to the scan": own / floor}


def _shared(bench: Bench, first: list[str], second: list[str]) -> float:
    """Share of the messages behind the results of one answer that are behind the other, too."""
    cited = [set(bench.there.admin.execute(_CITED, (keys, keys)).fetchall()) for keys in (first, second)]
    return len(cited[0] & cited[1]) / max(1, len(cited[0]))


_CITED: Final = """
    SELECT session_id || chr(31) || message_id FROM evidence WHERE memory_id::text = ANY(%s)
    UNION SELECT key FROM unnest(%s::text[]) AS key WHERE key LIKE '%%' || chr(31) || '%%'
"""


def bytes_of_a_row(bench: Bench) -> Figures:
    """Return the bytes of a row of the large user, as allocated and as the process grows."""
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
    with standing(home / LARGE / str(large), crowd, sentences) as there:
        bench = Bench(there, crowd, model, 1)
        few = [user for user in crowd.users if user != LARGE][1:][:users]
        return of_few(bench, few) | of_many(bench, large) | bytes_of_a_row(bench)


def main() -> None:
    parser = arguments.parser(__doc__)
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
