"""The answer to a question, with what it rests on, or that it is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core import metrics
from core.answering import best_statement, model_answer
from core.answering import statements as answering_statements
from core.answering.statements import Statement
from core.config import Settings
from core.errors import Misconfigured, Overloaded
from core.inference import lent_model
from core.inference.ask import ModelRefused
from core.inference.client import Call, ChatClient
from core.inference.embedders import Embedder
from core.inference.token_bucket import Need
from core.search import query, wordings
from core.search.question import Question, SearchResult
from core.sessions import hidden_messages
from core.storage import replica
from core.storage.db import Database
from core.storage.replica import Replica

RESULTS: Final = 20
"""Results of the search among which an answer is looked for."""

LEAST: Final = 0.5
"""Certainty from which a statement is an answer."""

SECONDS: Final = 12.0
"""Limit of time of one call to the model, and of the call that repairs its answer: somebody waits."""

By = Literal["model", "statement"]


@dataclass(frozen=True, slots=True)
class AnsweringDeps:
    """Dependencies of an answer. `model`: None: there is none. `replica`: where it is read, if it may answer."""

    db: Database
    embedder: Embedder
    settings: Settings
    model: ChatClient | None
    replica: Replica | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question; `text` None: it is not known.

    `sources`: the results that it rests on. `certainty`: of the statement that answers best, from 0 to 1; None: a model
    answered, or nothing was near. `note`: why no model answered, where one was to.
    """

    text: str | None
    by: By
    sources: Sequence[SearchResult] = ()
    certainty: float | None = None
    note: str | None = None
    calls: Sequence[Call] = ()

    @property
    def outcome(self) -> Literal["answered", "unknown"]:
        return "unknown" if self.text is None else "answered"


def answer(
    deps: AnsweringDeps, tenant_id: str, question: Question, by: By | None = None, least: float = LEAST
) -> Answer:
    """Return the answer to a question.

    `by`: who answers; None: the model if there is one. A model that fails is stood in for by the best statement.
    `least`: certainty from which that is an answer. Misconfigured: there is no model.
    """
    if by == "model" and deps.model is None:
        raise Misconfigured("No language model is configured: set IMPRINT_LLM_BASE_URL, or ask for a statement.")

    def read(db: Database) -> tuple[Question, Sequence[SearchResult]]:
        worded = wordings.with_wordings(db, tenant_id, question)
        results = query.search(db, tenant_id, replace(worded, limit=RESULTS), deps.embedder).results
        return worded, _without_hidden(db, tenant_id, results)

    question, results = replica.read(deps.replica, deps.db, read)
    statements = answering_statements.for_question(question, results)
    given = _by_statement if by == "statement" or deps.model is None else _by_model
    answered = given(deps, tenant_id, question, statements, least)
    metrics.ANSWERS.labels(answered.by, answered.outcome).inc()
    return answered


def _without_hidden(db: Database, tenant_id: str, results: Sequence[SearchResult]) -> list[SearchResult]:
    """Return the results without messages that were hidden from contexts."""
    places = [(message.session_id, message.id) for result in results if (message := result.message) is not None]
    with db.tenant(tenant_id) as tx:
        hidden = hidden_messages.hidden_among(tx, places)
    return [
        result
        for result in results
        if result.message is None or (result.message.session_id, result.message.id) not in hidden
    ]


def _by_statement(
    deps: AnsweringDeps, _tenant_id: str, question: Question, statements: Sequence[Statement], least: float
) -> Answer:
    best = best_statement.choose(deps.embedder, question, statements, least)
    if best is None or best.certainty < least:
        return Answer(None, "statement", certainty=None if best is None else best.certainty)
    return Answer(best.statement.text, "statement", [best.statement.result], best.certainty)


def _by_model(
    deps: AnsweringDeps, tenant_id: str, question: Question, statements: Sequence[Statement], least: float
) -> Answer:
    if not statements or deps.model is None:
        return Answer(None, "model")
    calls = list[Call]()
    record = lent_model.recorder(deps.db, deps.settings, tenant_id, calls)
    owner = question.user_id or question.group_id or ""
    need = Need(1, sum(len(statement.text) for statement in statements) + lent_model.CALL_TOKENS)
    try:
        with lent_model.lend(deps.db, deps.settings, deps.model, tenant_id, need, owner) as model:
            today = question.now or datetime.now(UTC)
            patient = model.within(SECONDS)
            worded = model_answer.compose(patient, record, question.query, owner, today, statements)
    except Overloaded as error:
        worded = ModelRefused(error.detail)
    except (OperationalError, PoolTimeout):
        worded = ModelRefused("The database could not tell or note what the model costs.")
    if isinstance(worded, ModelRefused):
        instead = _by_statement(deps, tenant_id, question, statements, least)
        return replace(instead, note=worded.reason, calls=calls)
    sources = {id(statement.result): statement.result for statement in worded.statements}
    return Answer(worded.text or None, "model", list(sources.values()), calls=calls)
