"""The gate's conversations told to a service of their own, and asked about: the way of every client, in one process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import text

from core.config import Settings
from core.inference.embedders import Embedder
from core.search import query
from core.search import question as search_question
from core.search.question import Method
from core.storage import db as storage_db
from core.storage import schema
from core.storage.db import Database
from core.tenancy import tenants
from rules.registry import store
from tests.databases import beside
from tests.retrieval import talks
from tests.retrieval.rows import COMMAND, DEEPEST, Row
from tests.retrieval.talks import Question, Talk
from tests.samples import TENANT, accept_all
from tests.works import Works
from workers import wiring

LEASE_SECONDS: Final = 300
"""No other worker waits for what one here has begun, however busy the machine is."""

LIMIT: Final = 2 * DEEPEST
"""Results asked for: a memory may stand beside the message that it cites."""


class Noting(Embedder, Protocol):
    """An embedder that says which texts it had no vector for."""

    @property
    def missing(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Told:
    """A service to which all conversations were told, with everything settled that follows from that."""

    db: Database
    embedder: Embedder
    talks: Sequence[Talk]

    def rows(self, method: Method = "hybrid") -> list[Row]:
        """Where the answer to each question stands, in the order of the files."""
        return [self._row(talk, one, method) for talk in self.talks for one in talk.questions]

    def _row(self, talk: Talk, asked: Question, method: Method) -> Row:
        question = search_question.Question(asked.text, talk.name, limit=LIMIT, method=method, now=talk.asked)
        found = query.search(self.db, TENANT, question, self.embedder).results
        cited = dict.fromkeys(source.message_id for one in found for source in one.sources if source.message_id)
        ranks = {turn: rank for rank, turn in enumerate(cited, 1) if rank <= DEEPEST}
        return Row(talk.name, asked.kind, asked.text, {turn: ranks.get(turn) for turn in asked.answer})


@contextmanager
def told(settings: Settings, embedder: Noting, there: Sequence[Talk]) -> Iterator[Told]:
    """These conversations, told in a database of their own on the server of these settings.

    AssertionError: something that followed was given up, so that what is found would say nothing.
    """
    with beside(settings.model_copy(update={"lease_seconds": LEASE_SECONDS})) as own:
        schema.upgrade(own, (embedder.name, embedder.dimension))
        with closing(storage_db.connect(storage_db.app_url(own), 4)) as database:
            with database.tenant(TENANT) as tx:
                tenants.ensure(tx, TENANT)
                store.install_defaults(tx, TENANT)
            _tell(database, own, there, embedder)
            yield Told(database, embedder, there)


def _tell(database: Database, settings: Settings, there: Sequence[Talk], embedder: Noting) -> None:
    works = Works(wiring.router(settings), wiring.ledger(settings, embedder))
    with closing(works.router.db), closing(works.ledger.db):
        for talk in there:
            accept_all(database, talks.events(talk))
        works.settle()
    assert not embedder.missing, f"No vector of {embedder.missing[0][:80]!r} is recorded. Run `{COMMAND}`."
    with database.tenant(TENANT) as tx:
        ends = Counter(tx.execute(text("SELECT status FROM dispatches")).scalars())
    assert set(ends) <= {"done"}, ends
