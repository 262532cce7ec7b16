"""Time of one event and of one search, part by part.

    python -m bench.profile [--rounds 20] [--known 500] [--no-stack]

One process runs everything: the HTTP application, the router and the dispatches of one message after another, each from
its request until a search over HTTP finds the memory drawn from it when its session ends. The time between two marks
belongs to the innermost part that is open, so the parts of a stage add up to its whole. Figures are medians over the
rounds. `HTTP` is what client and server take outside of the application; `SQL: wait` is the driver's, for the server
and the way to it; what a statement takes in SQLAlchemy and in the driver is `Python`.

Queues are measured on a running stack, from the times in its log and ledger: what an event waits for the router, and a
dispatch for a worker.
"""

from __future__ import annotations

import functools
import statistics
import tempfile
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import fastapi.routing
import httpx
import psycopg
import uvicorn
from sqlalchemy import text
from starlette.types import ASGIApp, Receive, Scope, Send

from api import app as application
from api.ingress import direct
from api.stack.broker import Broker
from api.stack.postgres import Postgres
from bench import arguments, write
from bench.pipeline import run_one
from bench.stand import free_port, stack
from core import logs
from core.config import Settings
from core.consolidation import batch, pipeline
from core.events import log, parsing
from core.inference.embedders import Embedder, Floats
from core.inference.local_embedder import LocalEmbedder
from core.memory import writer
from core.storage import db, multiquery, schema
from core.tenancy import tenants
from rules.registry import store
from workers import wiring
from workers.dispatch.model import Ledger
from workers.dispatch.relay import DispatchRef
from workers.routing import router as routing

PYTHON: Final = "Python"
WAIT: Final = "SQL: wait"
EXTRACTOR: Final = "memory_extractor"
SHOWN: Final = 12
"""Statements listed, those that take longest."""


@dataclass(slots=True)
class Recorder:
    """Milliseconds by stage and part; the time since the last mark belongs to the part on top."""

    spent: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    trips: Counter[str] = field(default_factory=Counter)
    statements: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    open: list[tuple[str, str]] = field(default_factory=list)
    statement: str = ""
    mark: float = 0.0

    def charge(self) -> None:
        now = time.perf_counter()
        if self.open:
            self.spent[self.open[-1]] += 1000 * (now - self.mark)
        self.mark = now


NOW: Final[ContextVar[Recorder | None]] = ContextVar("recorder", default=None)


@contextmanager
def part(name: str = PYTHON, stage: str | None = None) -> Iterator[None]:
    """Charge what happens within to a part of a stage, that of the enclosing part by default."""
    recorder = NOW.get()
    if recorder is None:
        yield
        return
    recorder.charge()
    recorder.open.append((stage or recorder.open[-1][0], name))
    try:
        yield
    finally:
        recorder.charge()
        recorder.open.pop()


@dataclass(frozen=True, slots=True)
class TimedEmbedder:
    """Charges another embedder's time to a part of its own."""

    inner: Embedder
    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Floats:
        with part("embedding"):
            return self.inner.embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        with part("embedding"):
            return self.inner.embed_queries(texts)


@dataclass(slots=True)
class TimedApp:
    """Records the time of each request within the application, in a recorder of its own."""

    app: ASGIApp
    done: threading.Event = field(default_factory=threading.Event)
    last: Recorder = field(default_factory=Recorder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        recorder = Recorder(open=[("request", PYTHON)], mark=time.perf_counter())
        token = NOW.set(recorder)
        try:
            await self.app(scope, receive, send)
        finally:
            NOW.reset(token)
            recorder.charge()
            self.last = recorder
            self.done.set()


@contextmanager
def instrumented() -> Iterator[None]:
    """Mark the parts while this is open: the driver, parsing, judgement, writing."""
    with ExitStack() as last:
        wrap = functools.partial(_wrap, last)
        wrap(psycopg.Connection, "wait", _waiting)
        wrap(psycopg.Cursor, "execute", _naming(lambda given: given[1]))
        wrap(
            multiquery, "run_statements", _naming(lambda given: "; ".join(str(statement) for statement, _ in given[1]))
        )
        wrap(parsing, "parse", lambda work: _within(work, "parse"))
        wrap(fastapi.routing, "solve_dependencies", _parsing)
        wrap(direct, "parsed", lambda work: _within(work, "parse"))
        wrap(pipeline, "consolidate", lambda work: _within(work, PYTHON, "judge: candidates and neighbours"))
        wrap(batch, "decide", lambda work: _within(work, PYTHON, "judge: decide"))
        wrap(writer, "apply", lambda work: _within(work, PYTHON, "write"))
        yield


def _wrap(last: ExitStack, owner: Any, name: str, by: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    before = getattr(owner, name)
    setattr(owner, name, functools.wraps(before)(by(before)))
    last.callback(setattr, owner, name, before)


def _within(work: Callable[..., Any], name: str, stage: str | None = None) -> Callable[..., Any]:
    def timed(*given: Any, **named: Any) -> Any:
        with part(name, stage):
            return work(*given, **named)

    return timed


def _parsing(work: Callable[..., Any]) -> Callable[..., Any]:
    async def timed(*given: Any, **named: Any) -> Any:
        with part("parse"):
            return await work(*given, **named)

    return timed


def _waiting(work: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*given: Any, **named: Any) -> Any:
        recorder, began = NOW.get(), time.perf_counter()
        with part(WAIT):
            answer = work(*given, **named)
        if recorder is not None:
            stage = recorder.open[-1][0]
            recorder.trips[stage] += 1
            name = recorder.statement or "BEGIN, COMMIT and others"
            recorder.statements[stage, name] += 1000 * (time.perf_counter() - began)
        return answer

    return timed


def _naming(of: Callable[[Sequence[Any]], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrapped(work: Callable[..., Any]) -> Callable[..., Any]:
        def named_statement(*given: Any, **named: Any) -> Any:
            recorder = NOW.get()
            if recorder is None:
                return work(*given, **named)
            recorder.statement = " ".join(str(of(given)).split())[:70]
            try:
                return work(*given, **named)
            finally:
                recorder.statement = ""

        return named_statement

    return wrapped


@dataclass(frozen=True, slots=True)
class Process:
    """Everything in this process: the application behind a socket, the router, a worker."""

    app: TimedApp
    http: httpx.Client
    router: routing.Router
    ledger: Ledger

    def request(self, stage: str, path: str, body: object) -> Any:
        """Send a request; what it took outside of the application is `HTTP`."""
        recorder = NOW.get()
        self.app.done.clear()
        began = time.perf_counter()
        answer = self.http.post(path, json=body)
        took = 1000 * (time.perf_counter() - began)
        answer.raise_for_status()
        self.app.done.wait(5)
        if recorder is not None:
            recorder.mark = time.perf_counter()
            inside = self.app.last
            for (_, name), spent in inside.spent.items():
                recorder.spent[stage, name] += spent
            recorder.spent[stage, "HTTP"] += max(0.0, took - sum(inside.spent.values()))
            recorder.trips[stage] += sum(inside.trips.values())
            for (_, name), spent in inside.statements.items():
                recorder.statements[stage, name] += spent
        return answer.json()

    def carry_out(self) -> int:
        """Route a batch of events and run what follows; open debounces end at once. Return the number of events."""
        with self.router.db.queue() as tx:
            log.flush(tx, 2**62)
        with part(stage="route"):
            routed, owed = routing.route(self.router)
            owed += routing.fire_due(self.router)
        waiting = list(owed)
        while waiting:
            dispatch = waiting.pop(0)
            waiting += self._run(dispatch)
        return routed

    def _run(self, dispatch: DispatchRef) -> list[DispatchRef]:
        with self.ledger.db.tenant(dispatch.tenant_id) as tx:
            target = tx.execute(_TARGET, {"id": dispatch.id}).scalar_one()
        stage = "dispatch and extract" if target == EXTRACTOR else "other dispatches"
        with part(stage=stage):
            return run_one(self.ledger, dispatch.tenant_id, dispatch.id)


def run(rounds: int, memories: int) -> list[Recorder]:
    """Return one recorder for each message, after one round that warms all caches."""
    with process(memories) as here, instrumented():
        while here.carry_out():
            pass  # A batch takes the oldest events, and filling the memory published some.
        return [_round(here) for _ in range(rounds + 1)][1:]


def _round(here: Process) -> Recorder:
    thing = uuid.uuid4().hex[:8]
    recorder = Recorder(open=[("between", PYTHON)], mark=time.perf_counter())
    token = NOW.set(recorder)
    try:
        payload = {"session_id": thing, "user_id": "ada", "role": "user", "content": f"I live in Port{thing}."}
        here.request("accept", "/v1/events", _events(payload))
        here.carry_out()
        request = {"user_id": "ada", "query": f"Port{thing}", "include": ["memories"], "limit": 3}
        answer = here.request("search", "/v1/search", request)
        assert any(thing in result["content"] for result in answer["results"]), answer
    finally:
        NOW.reset(token)
    here.carry_out()
    return recorder


@contextmanager
def process(memories: int) -> Iterator[Process]:
    """All of it on servers of its own, for a user with so many memories."""
    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder, ExitStack() as last:
        postgres, broker = Postgres(Path(folder)), Broker(Path(folder), durable=False)
        for own in (postgres, broker):
            own.start()
            last.callback(own.stop)
        settings = Settings(home=Path(folder), database_url=postgres.url, broker_url=broker.url)
        model = LocalEmbedder()
        embedder = TimedEmbedder(model, model.name, model.dimension)
        schema.upgrade(settings, (model.name, model.dimension))
        pool = db.connect(db.app_url(settings), 2)
        with pool.tenant(write.TENANT) as tx:
            tenants.ensure(tx, write.TENANT)
            store.install_defaults(tx, write.TENANT)
            _, key = tenants.create_key(tx, write.TENANT, ("admin",))
        admin = last.enter_context(psycopg.connect(postgres.admin_url, autocommit=True))
        write.fill(write.Bench(pool, pipeline.from_settings(pool, embedder, settings), admin), memories)
        pool.close()
        app, port = TimedApp(application.create(settings, broker.url, embedder)), free_port()
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, access_log=False))
        serving = threading.Thread(target=server.run, daemon=True)
        serving.start()
        last.callback(serving.join)
        last.callback(setattr, server, "should_exit", True)
        while not server.started:
            time.sleep(0.05)
        headers = {"Authorization": f"Bearer {key}"}
        client = last.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60))
        router, ledger = wiring.router(settings), wiring.ledger(settings, embedder)
        last.callback(router.db.close)
        last.callback(ledger.db.close)
        yield Process(app, client, router, ledger)


def waits(rounds: int) -> dict[str, float]:
    """Median milliseconds in the queues of a running stack, in which one message at a time is extracted."""
    with stack() as stand:
        for _ in range(rounds + 1):
            session = uuid.uuid4().hex
            payload = {"session_id": session, "user_id": "bench", "role": "user", "content": f"I like tea {session}."}
            stand.settle(stand.call("POST", "/v1/events", _events(payload))["settle_token"], flush=True)
        with psycopg.connect(stand.admin_url) as admin:
            rows = admin.execute(_WAITS, {"extractor": EXTRACTOR}).fetchall()
    return {name: float(ms) for name, ms in rows}


def _events(message: dict[str, str]) -> list[dict[str, object]]:
    """Return a message and the end of its session, at which it is extracted."""
    ended = {name: message[name] for name in ("session_id", "user_id")}
    payloads = {"message.added": message, "session.ended": ended}
    return [{"event_type": name, "source": "bench", "payload": payload} for name, payload in payloads.items()]


def show(recorders: Sequence[Recorder]) -> None:
    """Print the medians of stages and parts with their shares of the sum, then the longest statements."""
    stages = list(dict.fromkeys(stage for recorder in recorders for stage, _ in recorder.spent if stage != "between"))
    _show_table("One event, from request to memory", recorders, [part for part in stages if part != "search"])
    _show_table("One search", recorders, ["search"])
    took: defaultdict[tuple[str, str], float] = defaultdict(float)
    for recorder in recorders:
        for which, ms in recorder.statements.items():
            took[which] += ms / len(recorders)
    print("\nStatements, mean milliseconds of waiting a round")
    for (stage, name), ms in sorted(took.items(), key=lambda entry: -entry[1])[:SHOWN]:
        print(f"  {ms:8.2f}  {stage:34} {name}")


def _show_table(title: str, recorders: Sequence[Recorder], stages: Sequence[str]) -> None:
    parts = list(dict.fromkeys(name for recorder in recorders for stage, name in recorder.spent if stage in stages))
    medians = {
        s: [statistics.median(recorder.spent[s, name] for recorder in recorders) for name in parts] for s in stages
    }
    trips = {s: statistics.median(recorder.trips[s] for recorder in recorders) for s in stages}
    sums = [sum(row) for row in zip(*medians.values(), strict=True)]
    whole = sum(sums)
    print(f"\n{title}: {whole:.1f} ms")
    print(f"  {'milliseconds':34}" + "".join(f"{head:>11}" for head in [*parts, "all", "share", "trips"]))
    for name, row, count in [*((s, medians[s], trips[s]) for s in stages), ("all", sums, sum(trips.values()))]:
        print(
            f"  {name:34}"
            + "".join(f"{ms:11.2f}" for ms in [*row, sum(row)])
            + f"{sum(row) / whole:11.1%}{count:11.0f}"
        )
    print(f"  {'share':34}" + "".join(f"{ms / whole:11.1%}" for ms in sums))


_TARGET: Final = text("SELECT target FROM dispatches WHERE id = :id")

_WAITS: Final = """
    SELECT 'event: received until routed', percentile_cont(0.5) WITHIN GROUP (
        ORDER BY 1000 * extract(epoch FROM routed_at - received_at)) FROM events WHERE event_type = 'session.ended'
    UNION ALL
    SELECT 'dispatch: owed until a worker starts', percentile_cont(0.5) WITHIN GROUP (
        ORDER BY 1000 * extract(epoch FROM started_at - created_at)) FROM dispatches WHERE target = %(extractor)s
    UNION ALL
    SELECT 'dispatch: work', percentile_cont(0.5) WITHIN GROUP (
        ORDER BY 1000 * extract(epoch FROM ended_at - started_at)) FROM dispatches WHERE target = %(extractor)s
"""


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="messages, and searches")
    parser.add_argument("--known", type=int, default=500, help="memories of the user")
    parser.add_argument("--no-stack", action="store_true", help="leave out the queues of a running stack")
    options = parser.parse_args()
    logs.configure("warning", "text", "bench")
    show(run(options.rounds, options.known))
    if not options.no_stack:
        print("\nQueues of an idle stack, median milliseconds")
        for name, ms in waits(options.rounds).items():
            print(f"  {name:42}{ms:9.1f}")


if __name__ == "__main__":
    main()
