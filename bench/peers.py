"""Imprint beside mem0, LangGraph's PostgresStore and rank_bm25: one machine, one embedder, no language model.

    python -m bench.peers [--locomo ../shared/data/locomo_dev.json] [--talks 1] [--questions N] [--json FILE]
        [--home FOLDER] [--only imprint,mem0]

The same conversations, the same questions, the same vectors. Peers are installed into environments of their own, every
package pinned (`bench/peers/*.txt`), kept in `--home` or gone with the rest when this ends; each is driven by a script
beside them. What is measured, how, and what is fair about it: docs/peers.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import venv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import psycopg
from psycopg import sql

from api.stack.postgres import Postgres
from bench import arguments
from bench.peers_table import Row, table
from bench.peers_talks import TEXTS, Talk, counted, talks, texts
from bench.stand import Stand, percentiles, stack
from core.inference.local_embedder import LocalEmbedder, local_model_path
from core.inference.local_models.catalog import MODELS
from core.types import Json

DRIVERS: Final = Path(__file__).with_suffix("")
LIMIT: Final = 40
"""Results asked for: twice the largest k, for a result may cite several turns."""

CLIENTS: Final = 16
WARMING: Final = 400
"""Messages that are embedded before the clocks run: some batches for each worker."""

SLICE: Final = 25
"""Questions for one contestant before it is another's turn: what else the machine does meets them all."""

PASSES: Final = (("", 1, False), (" embedding", 1, True), (" 16", CLIENTS, False), (" 16 embedding", CLIENTS, True))
"""Suffix of a figure's name, number of clients at once, and whether vectors are made meanwhile."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """Participant: its driver's name, its texts, whether it has vectors and whether PostgreSQL keeps its rows."""

    name: str
    title: str
    texts: tuple[str, ...] = ("own", "near")
    vectors: bool = True
    kept: bool = True


IMPRINT: Final = Contestant("imprint", "Imprint, over HTTP", texts=("own",))
PEERS: Final = (
    Contestant("mem0", "mem0ai, `infer=False`, pgvector"),
    Contestant("langgraph", "LangGraph `PostgresStore`"),
    Contestant("bm25", "rank_bm25, in memory", vectors=False, kept=False),
)


class Driver:
    """A contestant's process, asked line by line; see bench/peers/wire.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.version = str(self._answer()["version"])

    def ask(self, do: str, **what: Any) -> Json:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"do": do, **what}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Json:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a driver ended with exit code {self._process.wait()}; what it said is above")
        answer: Json = json.loads(line)
        return answer


@dataclass
class Entry:
    """A contestant with one of its texts, at work, and what was measured of it so far.

    `url` is that of its database, empty where it has none.
    """

    who: Contestant
    text: str
    driver: Driver
    url: str
    warm: Callable[[], object] = lambda: None
    seconds: Counter[str] = field(default_factory=Counter)
    took: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    results: list[tuple[frozenset[str], Sequence[str]]] = field(default_factory=list)
    bytes_grown: int = 0

    def ingest(self, talk: Talk, *, live: bool) -> Json:
        given = [turn | {"text": text} for turn, text in zip(talk.turns, texts(talk.turns, self.text), strict=True)]
        return self.driver.ask("ingest", user=f"{talk.name}{'-live' if live else ''}", turns=given, live=live)

    def search(self, talk: Talk, part: slice, clients: int = 1, *, live: bool = False) -> Json:
        questions = [question.text for question in talk.questions[part]]
        return self.driver.ask("search", user=talk.name, questions=questions, limit=LIMIT, clients=clients, live=live)

    def size(self) -> int:
        """Bytes of the whole database, tables and indexes, and of what lies beside it."""
        beside = int(self.driver.ask("size")["bytes"])
        if not self.url:
            return beside
        with psycopg.connect(self.url, autocommit=True) as database:
            row = database.execute("SELECT pg_database_size(current_database())").fetchone()
        return beside + int(row[0] if row else 0)

    def row(self, turns: int) -> Row:
        search: dict[str, float] = {}
        for name, values in self.took.items():
            figures = percentiles(values)
            search |= {f"p50{name}": figures["p50"], f"p95{name}": figures["p95"]}
        rates = {name: turns / seconds for name, seconds in self.seconds.items()}
        head = (self.who.name, self.who.title, self.text, self.driver.version)
        return Row(*head, counted(self.results), rates, search, self.bytes_grown / turns)


def run(names: Sequence[str], some: Sequence[Talk], home: Path, work: Path) -> list[Row]:
    """All that take part are there from beginning to end; one works at a time."""
    with contextlib.ExitStack() as opened:
        entries = list(beside(opened, [peer for peer in PEERS if peer.name in names], some, home, work))
        if IMPRINT.name in names:
            entries.append(ours(opened, work))
        for talk in some:
            for entry in entries:
                say(f"{talk.name}: {entry.who.title}, {TEXTS[entry.text]} takes it in")
                take_in(entry, talk)
        for talk in some:
            say(f"{talk.name}: all are asked")
            contest(entries, talk)
        for talk in some:
            say(f"{talk.name}: peers take it in once more and make the vectors meanwhile")
            for entry in entries:
                if entry.who.vectors and entry.who is not IMPRINT:
                    entry.seconds["embedding"] += entry.ingest(talk, live=True)["seconds"]
        return [entry.row(sum(len(talk.turns) for talk in some)) for entry in entries]


def take_in(entry: Entry, talk: Talk) -> None:
    """One conversation, with the vectors made before; Imprint, which makes its own after the answer, with its own."""
    entry.warm()
    before = entry.size()
    answer = entry.ingest(talk, live=False)
    entry.seconds["findable"] += answer.pop("seconds")
    entry.seconds.update(answer)
    entry.bytes_grown += entry.size() - before


def contest(entries: Sequence[Entry], talk: Talk) -> None:
    """All questions once for what is found, unmeasured, which also warms; then each pass, slice by slice in turns."""
    whole = slice(None)
    for entry in entries:
        answers = entry.search(talk, whole)["answers"]
        entry.results += zip((question.evidence for question in talk.questions), answers, strict=True)
    for name, clients, live in PASSES:
        for start in range(0, len(talk.questions), SLICE):
            for entry in entries:
                if entry.who.vectors or not live:
                    answer = entry.search(talk, slice(start, start + SLICE), clients, live=live)
                    entry.took[name] += answer["ms"]


def beside(
    opened: contextlib.ExitStack, who: Sequence[Contestant], some: Sequence[Talk], home: Path, work: Path
) -> Iterator[Entry]:
    """The peers, each with each text on an empty database of its own, of one embedded PostgreSQL."""
    if not who:
        return
    made, pythons = vectors(work, some), {peer.name: environment(home, peer.name) for peer in who}
    server = Postgres(work / "server")
    server.start()
    opened.callback(server.stop)
    for peer in who:
        for way in peer.texts:
            url = database(server, f"{peer.name}_{way}") if peer.kept else ""
            settings = {"database": url, "vectors": made, "clients": CLIENTS}
            folder = work / f"{peer.name}-{way}"
            yield Entry(peer, way, opened.enter_context(driver(pythons[peer.name], peer.name, settings, folder)), url)


def ours(opened: contextlib.ExitStack, work: Path) -> Entry:
    """Imprint as `imprint up` starts it, with all its processes and a PostgreSQL of its own."""
    stand = opened.enter_context(stack())
    settings = {"key": stand.key, "port": stand.http.base_url.port, "database": stand.admin_url}
    opening = driver(Path(sys.executable), IMPRINT.name, settings, work / IMPRINT.name)
    return Entry(IMPRINT, "own", opened.enter_context(opening), stand.admin_url, partial(warm, stand))


def warm(stand: Stand) -> None:
    """Let the workers load their model with messages of another user: they free it when idle, a peer does not."""
    payload = {"session_id": "warm", "user_id": "warm", "role": "user"}
    events = [
        {"event_type": "message.added", "source": "peers", "payload": {**payload, "content": f"This is message {n}."}}
        for n in range(WARMING)
    ]
    stand.settle(stand.call("POST", "/v1/events", events)["settle_token"], flush=True)


@contextlib.contextmanager
def driver(python: Path, name: str, settings: Json, home: Path) -> Iterator[Driver]:
    """A driver in its own interpreter and folder, which ends with this."""
    home.mkdir()
    env = {
        **os.environ,
        "PYTHONPATH": str(DRIVERS.parent.parent),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "MEM0_TELEMETRY": "false",
        "MEM0_DIR": str(home),
    }
    command = [str(python), str(DRIVERS / f"drive_{name}.py"), json.dumps(settings)]
    process = subprocess.Popen(
        command, env=env, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        yield Driver(process)
    finally:
        process.kill()
        process.communicate()


def environment(home: Path, name: str) -> Path:
    """The interpreter of a peer's own environment; one that was made of the same pins before is used again."""
    pins, folder = DRIVERS / f"{name}.txt", home / "environments" / name
    python, made = folder / "bin" / "python", folder / "made-of.txt"
    if not made.exists() or made.read_text() != pins.read_text():
        say(f"installing {name}")
        venv.create(folder, clear=True, with_pip=True)
        quiet = ["-qq", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([python, "-m", "pip", "install", *quiet, "-r", pins], check=True)
        made.write_text(pins.read_text())
    return python


def vectors(work: Path, some: Sequence[Talk]) -> Json:
    """All texts and questions embedded by Imprint's own embedder, for drivers to look up."""
    passages = [text for talk in some for way in TEXTS for text in texts(talk.turns, way)]
    questions = list(dict.fromkeys(question.text for talk in some for question in talk.questions))
    everything = [*dict.fromkeys(text for text in passages if text not in set(questions)), *questions]
    say(f"embedding {len(everything)} texts")
    model = LocalEmbedder()
    made = {
        "texts": str(work / "texts.json"),
        "rows": str(work / "rows.npy"),
        "model": str(local_model_path(MODELS["local"])),
    }
    statements = everything[: len(everything) - len(questions)]
    np.save(made["rows"], np.concatenate([model.embed(statements), model.embed_queries(questions)]))
    Path(made["texts"]).write_text(json.dumps(everything), encoding="utf-8")
    return made


def database(server: Postgres, name: str) -> str:
    """The superuser's URL of a new database, which has the vector extension."""
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return f"{server.admin_url.rpartition('/')[0]}/{name}"


def say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    parser.add_argument("--talks", type=int, default=1, help="the first N conversations; 0: all")
    parser.add_argument("--questions", type=int, default=0, help="of each the first N questions; 0: all")
    parser.add_argument("--home", type=Path, help="where the peers' environments stay for the next run")
    parser.add_argument("--only", default="imprint,mem0,langgraph,bm25", help="who takes part")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    options = parser.parse_args()
    names, available = options.only.split(","), {peer.name for peer in (IMPRINT, *PEERS)}
    if not available.issuperset(names):
        parser.error(f"--only: there are {', '.join(sorted(available))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started ends, and folders go
    some = talks(options.locomo, options.talks, options.questions)
    with tempfile.TemporaryDirectory(prefix="imprint-peers-") as folder:
        work = Path(folder)
        rows = run(names, some, (options.home or work).resolve(), work)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    counts = (len(some), sum(len(talk.turns) for talk in some), sum(len(talk.questions) for talk in some))
    print("{} conversations, {} turns, {} questions. Rates and times: without · with the embedding.\n".format(*counts))
    print(table(rows))


if __name__ == "__main__":
    main()
