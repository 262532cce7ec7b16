"""A context for a user of 10,000 memories, in a session of 1,000 messages: how long it takes, the embedding apart.

    python -m bench.context [--known 10000] [--messages 1000] [--questions 200]

To reach: p95 below 60 ms, the embedding of the question not counted and shown beside it. In one process, without HTTP.
The vectors are those of the local model. The floor is the search alone for the same questions: what there is to choose
from. A message is added before each question, as a conversation does.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import psycopg
from numpy.typing import NDArray

from bench import arguments
from bench.stand import database, show
from bench.write import AUTHOR, TENANT, WHO, Bench, Prepared, fill, statement
from core.consolidation import pipeline
from core.context.builder import ContextDeps, ContextQuery, build
from core.events import parsing
from core.index import search_index
from core.inference.embedders import Embedder
from core.inference.local_embedder import LocalEmbedder
from core.reflection import profile
from core.reflection.profile import ProfileOwner
from core.search import query
from core.search.question import Question
from core.sessions import ingest, sessions
from core.storage import db
from core.storage.db import Database
from core.types import Json

SESSION: Final = "today"
LIMIT: Final = 8_000
WARM: Final = 10
"""Questions before the clock runs: connections and caches are those of a process at work."""


@dataclass
class Timed:
    """An embedder whose time is taken apart."""

    inner: Embedder
    seconds: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._timed(self.inner.embed, texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._timed(self.inner.embed_queries, texts)

    def _timed(
        self, embed: Callable[[Sequence[str]], NDArray[np.float32]], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        began = time.perf_counter()
        vectors = embed(texts)
        self.seconds.append(time.perf_counter() - began)
        return vectors


def run(memories: int, messages: int, questions: int) -> dict[str, float]:
    texts = [statement(n) for n in range(memories)]
    model = LocalEmbedder()
    vectors = model.embed(texts)
    prepared = Prepared(model.name, model.dimension, dict(zip(texts, vectors, strict=True)))
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            fill(Bench(app, pipeline.from_settings(app, prepared, settings), admin), memories)
            talk(app, messages)
            profile.current(app, TENANT, ProfileOwner("ada"), AUTHOR)  # As `profile_builder` has done by then.
            admin.execute("VACUUM ANALYZE")
        reads = ContextDeps(app, Timed(LocalEmbedder()), settings)
        figures = {"memories": float(memories), "messages of the session": float(messages)}
        figures |= measured("search alone (floor)", reads, questions, lambda n: searched(reads, n))
        figures |= measured("context (to reach: p95 60)", reads, questions, lambda n: built(reads, n))
        app.close()
    return figures


def talk(app: Database, messages: int) -> None:
    """A session with so many messages, indexed by their words."""
    for start in range(0, messages, 500):
        say(app, range(start, min(start + 500, messages)))
    with app.tenant(TENANT) as tx:
        session = sessions.find_unindexed(tx, [SESSION])[0]
        while session.indexed_to < session.message_count:
            search_index.put_messages(
                tx, TENANT, [(session, search_index.plan(session, search_index.unindexed_messages(tx, session)))]
            )
            session = sessions.get(tx, SESSION)


def say(app: Database, numbers: Sequence[int]) -> None:
    ingest.accept(app, TENANT, parsing.check([message(n) for n in numbers]))


def message(n: int) -> Json:
    content = f"{statement(n)} And then she told {WHO[n % len(WHO)]} about it, who did not believe a word."
    payload = {"session_id": SESSION, "user_id": "ada", "content": content, "role": ("user", "assistant")[n % 2]}
    return {"event_type": "message.added", "source": "bench", "payload": payload}


def question(n: int) -> str:
    return f"What has Ada to do with {WHO[n % len(WHO)]}, and when was it that she {statement(n * 37)[4:40]}?"


def searched(reads: ContextDeps, n: int) -> None:
    query.search(reads.db, TENANT, Question(question(n), "ada", limit=30), reads.embedder)


def built(reads: ContextDeps, n: int) -> None:
    context = build(reads, TENANT, ContextQuery("ada", None, SESSION, question(n), LIMIT))
    assert context.tokens <= LIMIT


def measured(name: str, reads: ContextDeps, questions: int, work: Callable[[int], None]) -> dict[str, float]:
    """Milliseconds without the embedding, and those of the embedding."""
    assert isinstance(reads.embedder, Timed)
    took = []
    for n in range(questions + WARM):
        say(reads.db, [100_000 + n])
        reads.embedder.seconds.clear()
        began = time.perf_counter()
        work(n)
        took.append((time.perf_counter() - began, sum(reads.embedder.seconds)))
    own = sorted((all_of - embedding) * 1000 for all_of, embedding in took[WARM:])
    embedding = statistics.median(embedding * 1000 for _, embedding in took[WARM:])
    return {
        f"{name}: p50, ms": statistics.median(own),
        f"{name}: p95, ms": own[int(len(own) * 0.95)],
        f"{name}: embedding of the question, p50, ms": embedding,
    }


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    show(__doc__, run(options.known, options.messages, options.questions))


if __name__ == "__main__":
    main()
