"""Curves: what searches, writes, contexts, profiles and sweeps cost as one user's memories grow, and as users grow.

    python -m bench.curves [--memories 10 … 100000] [--users 10 … 100000] [--home FOLDER] [--svg FOLDER] [--json]

For `--memories`, users with so many memories each share one table, and the same is asked of each, in turn. For
`--users`, so many users of one memory are added to the same table step by step, and the same is asked each time of new
users of 100 memories. All runs in one process without HTTP, with prepared vectors; nothing was asked about a user
before. Statements are judged and written in batches as the consolidator makes them; the sweep archives ten memories
that have faded. Figures are milliseconds: medians of searches and contexts, and means of writes, of which some compare
a statement with much more than others do; `older` ones were said before all that is known, as an import brings them.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench import arguments
from bench.search import question, standing
from bench.search_data import TENANT, Crowd, Filled, load
from bench.search_picture import Step, drawn
from bench.search_said import SENTENCES, Floats, embedded
from bench.stand import show, timed
from bench.write import AUTHOR, BATCH, Prepared, candidate, judge_all
from core.consolidation.pipeline import Consolidation
from core.context.builder import ContextDeps, ContextQuery, build
from core.inference.local_embedder import LocalEmbedder
from core.maintenance import sweeps
from core.memory.changes import Owner
from core.reflection import profile
from core.reflection.profile import ProfileOwner
from core.search import query
from core.search.question import Question
from core.storage import db
from core.storage.db import Database

SIZES: Final = (10, 100, 1_000, 10_000, 100_000)

QUESTIONS, BATCHES, SINGLE = 15, 4, 20
"""Asked, written at once, and written alone, for one user."""

PROBES: Final = 3
"""Users of `EACH` memories of whom everything is asked at each number of users."""

EACH: Final = 100
DUE: Final = 10
CONTEXT_TOKENS: Final = 4_000
LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)
"""Before the time of everything that is known: what an import brings."""

Figures = dict[str, float]


class Probe:
    """One process at work for one user: everything that is measured, in milliseconds."""

    def __init__(self, there: Filled, app: Database, model: LocalEmbedder, user: str, memories: int) -> None:
        self._there, self._app, self._user = there, app, user
        self._asked = [question(user, at * memories // QUESTIONS) for at in range(QUESTIONS)]
        count = BATCH * (BATCHES + 1) + 2 * SINGLE
        now = datetime.now(UTC)
        self._said = [replace(candidate(SENTENCES + n), occurred_at=now) for n in range(count)]
        texts = [*self._asked, *(statement.content for statement in self._said)]
        self._known = Prepared(model.name, model.dimension, dict(zip(texts, model.embed(texts), strict=True)))

    def figures(self) -> Figures:
        first, *rest = [_ms(self._search, question) for question in self._asked]
        contexts = [_ms(self._context, question) for question in self._asked]
        return {
            "first search": first,
            "search": statistics.median(rest),
            "context": statistics.median(contexts),
            **self._written(),
            "profile": _ms(profile.build, self._app, TENANT, ProfileOwner(self._user)),
            "sweep of 10": self._swept(),
        }

    def _search(self, question: str) -> None:
        assert query.search(self._app, TENANT, Question(question, self._user, limit=10), self._known).results

    def _context(self, question: str) -> None:
        reads = ContextDeps(self._app, self._known, self._there.settings)
        build(reads, TENANT, ContextQuery(self._user, None, f"{self._user}-s0", question, CONTEXT_TOKENS))

    def _written(self) -> Figures:
        consolidation, owner = Consolidation(self._app, self._known), Owner(self._user)
        many, few, early = self._said[: -2 * SINGLE], self._said[-2 * SINGLE : -SINGLE], self._said[-SINGLE:]
        batches = [many[at : at + BATCH] for at in range(0, len(many), BATCH)]
        met, *took = [_ms(judge_all, consolidation, owner, batch, BATCH, TENANT) for batch in batches]
        imported = [replace(candidate, occurred_at=LONG_AGO) for candidate in early]
        return {
            "first batch": met,
            "batch of 15": statistics.fmean(took),
            "statement alone": _ms(judge_all, consolidation, owner, few, 1, TENANT) / SINGLE,
            "older statement": _ms(judge_all, consolidation, owner, imported, 1, TENANT) / SINGLE,
        }

    def _swept(self) -> float:
        self._there.admin.execute(_MAKE_DUE, {"tenant": TENANT, "user": self._user, "due": DUE})

        def sweep() -> None:
            with self._app.tenant(TENANT) as tx:
                assert sweeps.archive_faded(tx, TENANT, AUTHOR, sweeps.PAGE)

        return _ms(sweep)


def by_memories(home: Path, model: LocalEmbedder, sentences: Floats, sizes: Sequence[int]) -> dict[int, Figures]:
    """Measure users with so many memories each, who share one table."""
    crowd = Crowd("sizes", {"warm": EACH} | {f"u{size}": size for size in sizes})
    with standing(home / "sizes", crowd, sentences) as there, closing(_app(there)) as app:
        Probe(there, app, model, "warm", EACH).figures()  # Connections and caches are those of a process at work.
        return {size: Probe(there, app, model, f"u{size}", size).figures() for size in sizes}


def by_users(home: Path, model: LocalEmbedder, sentences: Floats, sizes: Sequence[int]) -> dict[int, Figures]:
    """Measure new users of a hundred memories each time that the table has grown to so many users."""
    probed = {f"p{size}-{n}": EACH for size in sizes for n in range(PROBES)}
    crowd, by_size, before = Crowd("probed", {"warm": EACH} | probed), {}, 0
    with standing(home / "users", crowd, sentences) as there, closing(_app(there)) as app:
        Probe(there, app, model, "warm", EACH).figures()
        for size in sizes:
            load(there, Crowd(f"to{size}", {f"v{n}": 1 for n in range(before, size)}))
            before = size
            each = [Probe(there, app, model, f"p{size}-{n}", EACH).figures() for n in range(PROBES)]
            by_size[size] = {name: statistics.median(figures[name] for figures in each) for name in each[0]}
    return by_size


def _ms(work: Callable[..., object], *values: Any) -> float:
    return 1000 * timed(work, *values)


def _app(there: Filled) -> Database:
    return db.connect(db.app_url(there.settings), 2)


_MAKE_DUE: Final = """
    UPDATE memories SET fade_at = now() - interval '1 hour' WHERE (tenant_id, id) IN (
        SELECT tenant_id, id FROM memories
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'active' LIMIT %(due)s)
"""


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--memories", type=int, nargs="*", default=SIZES, help="of one user")
    parser.add_argument("--users", type=int, nargs="*", default=SIZES, help="in the table")
    parser.add_argument("--home", type=Path, help="folder in which the sentences' vectors are kept for the next time")
    parser.add_argument("--svg", type=Path, help="folder in which the curves are drawn")
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    model, results = LocalEmbedder(), {}
    if options.home:
        options.home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="imprint-bench-", dir=options.home) as folder:
        sentences = embedded((options.home or Path(folder)) / "sentences.npy", model)
        for what, measure, sizes in (("memories", by_memories, options.memories), ("users", by_users, options.users)):
            results[what] = measure(Path(folder), model, sentences, sorted(sizes)) if sizes else {}
    for what, measured in results.items():
        if options.svg and measured:
            steps = [Step(size, figures) for size, figures in measured.items()]
            picture = drawn(f"milliseconds, by {what}{' of a user' if what == 'memories' else ''}", steps)
            (options.svg / f"by-{what}.svg").write_text(picture, encoding="utf-8")
        for size, figures in () if options.json else measured.items():
            show(f"{size:,} {what}, ms", figures)
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
