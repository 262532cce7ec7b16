"""Search at a million memories: how long it takes, beside an exact scan of the same user's vectors by bare SQL.

    python -m bench.search [--what small large clients growth] [--rows 1000000] [--home FOLDER] [--svg FILE] [--json]
    python -m bench.search --what clients --rows 9000 --questions 200 --processes 1 2 --rounds 2

To reach, for users of 1,000 memories in 1,000,000: hybrid p50 at 2.5 times the scan and p95 at 4 times; over HTTP too.
For one user of 100,000: p95 of 50 ms, and 0.97 of what the scan finds. 16 clients: 1.5 times
the searches/s of one, p95 at 14 times its p50. Flat from 10,000 memories to 1,000,000.
With `--rows 20000 --questions 40` it takes a minute or two.

The floor is a prepared statement over one user's rows, LIMIT 10, past row-level security; it and the search take turns
on the same questions, each as often first. The local model makes the questions' vectors before the clock runs; over
HTTP the door has made them before, or makes them while the clock runs: both are shown. `warm`: the user has just been
asked about, by 16 clients at once before these are timed; `again`: this very thing has, so that the server has read
every page of the answer, as it has for the floor; `cold`: nobody has asked about them in this process. `--home` keeps
what was loaded for the next time.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench import arguments
from bench.search_clients import Client, at_once, compared, served
from bench.search_data import TENANT, Asked, Crowd, Filled, filled, load
from bench.search_picture import Step, drawn
from bench.search_said import Floats, embedded, nth_memory
from bench.stand import Stand, percentiles, show
from bench.write import Prepared
from core.index.vector_notation import vector_literal
from core.inference.local_embedder import LocalEmbedder
from core.search import query
from core.search.filters import NO_FILTERS, Filters
from core.search.question import Method, Question
from core.storage import db

EACH: Final = 1_000
"""Memories of a user, where there are many users."""

GROWTH: Final = (100, 10, 1)
"""Parts of all rows, at which the cost is looked at."""

LARGE: Final = "large"
SMALLER: Final = 10
"""Factor by which the largest user has less than the whole table; others have as many together."""

WARM, COLD = 60, 200
"""Users of whom several things are asked in a row, and others of whom one thing is; at the most."""

CLIENTS, LIMIT, REACHING = 16, 10, 6
RATIOS: Final = {"p50": 2.5, "p95": 4}
"""To the floor's: to reach, where a user has a thousand."""

Figures = dict[str, float]
Work = Callable[[Asked], Any]


@dataclass(slots=True)
class Took:
    """Milliseconds of the floor and of what is measured, for the same questions."""

    floor: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)

    def figures(self, name: str, *, aimed: bool = False) -> Figures:
        floor, own = percentiles(self.floor), percentiles(self.own)
        targets = {cut: f" ({ratio})" if aimed else "" for cut, ratio in RATIOS.items()}
        figures = {f"{name}: {cut}, ms": own[cut] for cut in RATIOS}
        figures |= {f"{name}: {cut} of the floor, ms": floor[cut] for cut in RATIOS}
        figures |= {f"{name}: {cut} to that of the floor{targets[cut]}": own[cut] / floor[cut] for cut in RATIOS}
        return figures | {f"{name}: p95 to the floor's p50": own["p95"] / floor["p50"]}


@dataclass(frozen=True, slots=True)
class Bench:
    """A filled database, the model that makes the vectors of questions, and how many of these a measurement asks."""

    there: Filled
    crowd: Crowd
    model: LocalEmbedder
    questions: int

    def questions_about(self, users: Sequence[str], each: int, beside: int = 0) -> list[list[Asked]]:
        """So many questions about what each user remembers; others, beside them."""
        texts = [(u, question(u, at * self.crowd.users[u] // each + beside)) for u in users for at in range(each)]
        vectors = self.model.embed_queries([text for _, text in texts])
        questions = [Asked(u, text, v, vector_literal(v)) for (u, text), v in zip(texts, vectors, strict=True)]
        return [questions[at : at + each] for at in range(0, len(questions), each)]

    def floor(self, question: Asked, *, memories: bool = False) -> list[str]:
        values = {"tenant": TENANT, "user": question.user, "vector": question.literal, "limit": LIMIT}
        rows = self.there.admin.execute(_NEAREST if memories else _FLOOR, values, prepare=True)
        return [ref for (ref,) in rows]

    def turns(self, questions: Sequence[Asked], work: Work) -> Took:
        """Floor and work for each question, each as often first as second."""
        took = Took()
        for at, question in enumerate(questions):
            pair: list[tuple[list[float], Work]] = [(took.floor, self.floor), (took.own, work)]
            for kept, call in pair if at % 2 else pair[::-1]:
                began = time.perf_counter()
                call(question)
                kept.append(1000 * (time.perf_counter() - began))
        return took

    def in_a_row(self, questions: Sequence[Sequence[Asked]], work: Work) -> Took:
        """The same for several questions about each user; the first about each is not counted."""
        took = Took()
        for about in questions:
            self.turns(about[:1], work)
            part = self.turns(about[1:], work)
            took.floor += part.floor
            took.own += part.own
        return took


def question(user: str, n: int) -> str:
    """Question about the nth memory."""
    words = nth_memory(user, n).content.split()
    return f"When was it that {' '.join(words[:8])}, and what did {words[-1]} {words[-2]} have to do with it?"


@contextmanager
def in_process(
    bench: Bench, questions: Sequence[Sequence[Asked]], filters: Filters = NO_FILTERS, method: Method = "hybrid"
) -> Iterator[Work]:
    """The service's search in this process, as one that has just begun; vectors are known."""
    vectors = Prepared(bench.model.name, bench.model.dimension, {a.text: a.vector for some in questions for a in some})
    with closing(db.connect(db.app_url(bench.there.settings), 2)) as app:

        def ask(request: Asked) -> list[str]:
            question = Question(request.text, request.user, limit=LIMIT, method=method, filters=filters)
            answer = query.search(app, TENANT, question, vectors)
            assert len(answer.results) == LIMIT
            return [result.ranked.hit.key for result in answer.results]

        yield ask


def of_many(bench: Bench, *, http: bool) -> Figures:
    """Users of a thousand memories each: several questions in a row, and one about someone nobody asked about yet."""
    users = list(bench.crowd.users)
    few = max(1, min(WARM, len(users) // 3, bench.questions))
    cold = bench.questions_about(users[few:][:COLD], 1)
    warm = bench.questions_about(users[:few], bench.questions // few + 1)
    fresh = bench.questions_about(users[:few], bench.questions // few + 1, beside=1)
    alone = [question for some in cold for question in some]
    figures = {"memories in the table": float(bench.crowd.memories), "memories of a user": float(EACH)}
    with in_process(bench, [*warm, *cold]) as work:
        figures |= bench.in_a_row(warm, work).figures("warm", aimed=True)
        figures |= bench.in_a_row(warm, work).figures("again", aimed=True)
        figures |= bench.turns(alone, work).figures("cold")
    if http:
        with served(bench.there) as stand, closing(Client(stand)) as client:
            for question in [*alone, *(question for some in warm for question in some)]:
                client.embed(question.text)
            figures |= bench.in_a_row(warm, client.find).figures("warm, over HTTP", aimed=True)
            figures |= bench.turns(alone, client.find).figures("cold, over HTTP")
            whole = bench.in_a_row(fresh, client.find)
        for name, took in (
            ("warm, over HTTP with the embedding", whole.own),
            ("the embedding", embedding(bench, fresh)),
        ):
            figures |= {f"{name}: {cut}, ms": percentiles(took)[cut] for cut in RATIOS}
    return figures


def embedding(bench: Bench, questions: Sequence[Sequence[Asked]]) -> list[float]:
    """Milliseconds of the local model for each question."""
    took = []
    for question in [question for some in questions for question in some][: bench.questions]:
        began = time.perf_counter()
        bench.model.embed_queries([question.text])
        took.append(1000 * (time.perf_counter() - began))
    return took


def of_one(bench: Bench) -> Figures:
    """The user who has most: the first question, the next ones, and how much of the nearest the vector arm finds."""
    (about,) = bench.questions_about([LARGE], bench.questions + 1)
    figures = {"memories of the user": float(bench.crowd.users[LARGE])}
    with in_process(bench, [about]) as work:
        began = time.perf_counter()
        work(about[0])
        figures["first question, ms"] = 1000 * (time.perf_counter() - began)
        figures |= bench.turns(about[1:], work).figures("next ones")
    with in_process(bench, [about], Filters(include=frozenset({"memories"})), "vector") as work:
        exact = {question.text: bench.floor(question, memories=True) for question in about}
        hits = [len(set(exact[question.text]) & set(work(question))) / LIMIT for question in about]
    figures["recall@10 of the vector arm (0.97)"] = sum(hits) / len(hits)
    with served(bench.there) as stand, closing(Client(stand)) as client:
        for question in about:
            client.embed(question.text)
        began = time.perf_counter()
        client.find(about[0])
        figures["first question, over HTTP, ms"] = 1000 * (time.perf_counter() - began)
        figures |= bench.turns(about[1:], client.find).figures("next ones, over HTTP")
    return figures


def of_clients(bench: Bench, processes: Sequence[int | None], rounds: int) -> Figures:
    """One client and many over HTTP: about the user who has most, and about the others, who have as many together.

    Medians of the rounds, in which stacks with these numbers of API processes take turns.
    """
    others = [user for user in bench.crowd.users if user != LARGE]
    about = {f"a user of {bench.crowd.users[LARGE]:,}": [LARGE], f"{len(others)} users of {EACH:,}": others}
    questions = {
        (name, beside): [
            question
            for some in bench.questions_about(users, 2 * bench.questions // len(users) + 1, beside)
            for question in some
        ]
        for name, users in about.items()
        for beside in (0, 1)
    }
    figures: dict[str, list[float]] = {}
    for _ in range(rounds):
        for number in processes:
            with served(bench.there, number) as stand:
                title = f"{number} processes, " if number else ""
                for name, value in _one_and_many(bench, stand, about, questions).items():
                    figures.setdefault(title + name, []).append(value)
    return {name: statistics.median(values) for name, values in figures.items()}


def _one_and_many(
    bench: Bench,
    stand: Stand,
    about: Mapping[str, Sequence[str]],
    cases: Mapping[tuple[str, int], Sequence[Asked]],
) -> Figures:
    figures: Figures = {}
    for (name, beside), questions in cases.items():
        # Each process knows users and vectors for itself; so many connections reach all of them.
        clients = [Client(stand) for _ in range(REACHING)]
        for client in clients:
            for user in about[name]:
                client.ask(user, "Is anything known?")
        for question in questions if beside == 0 else ():
            for client in clients:
                client.embed(question.text)
        for client in clients:
            client.close()
        of = name if beside == 0 else f"{name}, with the embedding"
        # So many at once open the connections to the database, which prepare the statements.
        half = bench.questions // 2
        at_once(stand, questions[:half], CLIENTS)
        single = at_once(stand, questions[half : bench.questions], 1)
        figures |= compared(of, single, at_once(stand, questions[bench.questions :], CLIENTS))
    return figures


def run(
    home: Path,
    rows: int,
    questions: int,
    what: Sequence[str],
    say: Callable[[str, Figures], None],
    processes: Sequence[int | None] = (None,),
    rounds: int = 1,
) -> list[Step]:
    """Each kind of measurement as it is done; the steps of the growth, where that was wanted."""
    model, steps = LocalEmbedder(), list[Step]()
    sentences = embedded(home / "sentences.npy", model)
    sizes = [max(3, rows // part // EACH) for part in GROWTH]
    for users in sorted(set(sizes)) if "growth" in what else sizes[-1:] if "small" in what else ():
        crowd = Crowd("many", {f"u{n}": EACH for n in range(users)})
        with standing(home / str(crowd.memories), crowd, sentences) as there:
            figures = of_many(Bench(there, crowd, model, questions), http=users == sizes[-1] and "small" in what)
        say(f"Users of {EACH:,} memories each, {crowd.memories:,} in all", figures)
        steps.append(Step(crowd.memories, {line: figures[of] for line, of in LINES.items()}))
    if {"large", "clients"} & set(what):
        most = rows // SMALLER
        crowd = Crowd(LARGE, {LARGE: most, **{f"beside{n}": EACH for n in range(max(1, most // EACH))}})
        with standing(home / LARGE / str(most), crowd, sentences) as there:
            bench = Bench(there, crowd, model, questions)
            if "large" in what:
                say(f"One user of {most:,} memories", of_one(bench))
            if "clients" in what:
                say(f"{CLIENTS} clients at once", of_clients(bench, processes, rounds))
    return steps if "growth" in what else []


@contextmanager
def standing(home: Path, crowd: Crowd, sentences: Floats) -> Iterator[Filled]:
    with filled(home, sentences) as there:
        load(there, crowd)
        yield there


LINES: Final = {
    "floor, p50": "warm: p50 of the floor, ms",
    "search, p50": "warm: p50, ms",
    "asked again, p50": "again: p50, ms",
    "search, p95": "warm: p95, ms",
    "first search, p50": "cold: p50, ms",
}
WHAT: Final = ("small", "large", "clients", "growth")

_FLOOR = """
    SELECT ref FROM search_index WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    ORDER BY embedding <=> %(vector)s::halfvec LIMIT %(limit)s
"""
_NEAREST = """
    SELECT ref FROM search_index WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND type = 'memory'
    ORDER BY embedding <=> %(vector)s::halfvec LIMIT %(limit)s
"""


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--what", nargs="+", choices=(*WHAT, "all"), default=["all"])
    parser.add_argument("--rows", type=int, default=1_000_000, help="memories in the table; one user has a tenth of it")
    parser.add_argument("--questions", type=int, default=300, help="questions of one measurement")
    parser.add_argument("--processes", type=int, nargs="+", default=[None], help="of the API, for `clients`, in turns")
    parser.add_argument("--rounds", type=int, default=1, help="of `clients`")
    parser.add_argument("--home", type=Path, help="folder in which what was loaded is kept, and found again")
    parser.add_argument("--svg", type=Path, help="where to draw the growth")
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    results: dict[str, Figures] = {}

    def say(title: str, figures: Figures) -> None:
        results[title] = figures
        if not options.json:
            show(title, figures)

    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        what = WHAT if "all" in options.what else options.what
        steps = run(
            options.home or Path(folder), options.rows, options.questions, what, say, options.processes, options.rounds
        )
    if options.svg and steps:
        options.svg.parent.mkdir(parents=True, exist_ok=True)
        options.svg.write_text(drawn("milliseconds of a search, by memories in the table", steps), encoding="utf-8")
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
