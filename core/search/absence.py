"""Why a memory or message is not among the results of a search, or where it stands among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core.errors import NotFound
from core.index.resident.encoding import message_key
from core.inference.embedders import Embedder
from core.memory import memories
from core.search import filters, query
from core.search.ordering import RankedHit
from core.search.query import Ranking
from core.search.question import Question
from core.storage.db import EVERYTHING, UNLABELLED, Database, Tx, required_row
from core.types import Status, Trust

EVERY_RESULT: Final = 1_000_000
"""Limit of a page that holds the whole ranking."""

Verdict = Literal[
    "shown", "below", "below_share", "repeats", "unlikely", "not_picked", "filtered", "not_served", "labels", "owner",
    "not_indexed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """Target of the question: a memory, or a message of a session."""

    id: str
    session_id: str | None = None

    @property
    def key(self) -> str:
        return self.id if self.session_id is None else message_key(self.session_id, self.id)


@dataclass(frozen=True, slots=True)
class ResultStanding:
    """Place of a memory or message in a search, and why. `filters`: names of those that leave it out.

    `rank`: its place in the whole ranking, from 1. `result`: it with its score. `last`: the last result that is shown.
    """

    verdict: Verdict
    reason: str
    filters: Sequence[str] = field(default_factory=list)
    rank: int | None = None
    result: RankedHit | None = None
    last: RankedHit | None = None
    ranking: Ranking | None = None


def explain(db: Database, tenant_id: str, question: Question, embedder: Embedder, target: Target) -> ResultStanding:
    """Return where the target stands in the answer to a question. NotFound: the tenant has no such thing."""
    with db.as_reader(None).tenant(tenant_id) as tx:
        row = _row(tx, target)
        indexed = tx.execute(_INDEXED, {"session": target.session_id or "", "ref": target.id}).first() is not None
    if (hidden := _hidden_by_labels(row, db.reader)) is not None:
        return ResultStanding("labels", hidden)
    if (elsewhere := _owned_by_others(row, question)) is not None:
        return ResultStanding("owner", elsewhere)
    if getattr(row, "trust", None) == Trust.REJECTED or getattr(row, "status", None) == Status.ERASED:
        return ResultStanding("not_served", "Someone has rejected it; no search returns it.")
    ranking = query.rank(db, tenant_id, replace(question, limit=EVERY_RESULT, after=None), embedder)
    return _standing(ranking, question, target, indexed=indexed)


def _row(tx: Tx, target: Target) -> Any:
    if target.session_id is None:
        return memories.get(tx, _uuid(target.id))
    missing = f"There is no message {target.id!r} in session {target.session_id!r}."
    return required_row(tx, _MESSAGE, {"session": target.session_id, "id": target.id}, missing)


def _uuid(written: str) -> UUID:
    try:
        return UUID(written)
    except ValueError:
        raise NotFound(f"{written!r} is not the id of a memory; of a message name `in_session` as well.") from None


def _hidden_by_labels(row: Any, reader: str) -> str | None:
    """Return why a reader may not see a row, if so."""
    if reader == EVERYTHING:
        return None
    held = set() if reader == UNLABELLED else set(reader.split(","))
    missing = sorted(set(row.audience_labels) - held)
    return f"The reader lacks its labels {', '.join(missing)}; see `reader_labels`." if missing else None


def _owned_by_others(row: Any, question: Question) -> str | None:
    """Return whose a row is, if the question is about nobody that it belongs to."""
    if question.user_id is not None and row.user_id == question.user_id:
        return None
    if question.group_id is not None and row.group_id == question.group_id:
        return None
    where = f" in the group {row.group_id!r}" if row.group_id else ""
    return f"It belongs to the user {row.user_id!r}{where}, whom this search is not about."


def _standing(ranking: Ranking, question: Question, target: Target, *, indexed: bool) -> ResultStanding:
    candidates = np.flatnonzero(ranking.page.candidates.keys == target.key)
    if len(candidates):
        return _ranked(ranking, question, int(candidates[0]))
    position = ranking.view.place(target.key)
    names = _left_out_by(ranking, target, position)
    if names:
        unserved = set(names) <= {"status", "trust", "expires_at"}
        reason = f"Left out by {', '.join(names)}."
        return ResultStanding(
            "not_served" if unserved else "filtered", reason, names, last=_last(ranking, question), ranking=ranking
        )
    if position is None:
        later = "This process has not read it from the index yet" if indexed else "Workers index it within seconds"
        return ResultStanding("not_indexed", f"{later}; ask again.", last=_last(ranking, question), ranking=ranking)
    reason = f"The store is large, and no arm has it among its best {filters.ARM_LIMIT:,}."
    return ResultStanding("not_picked", reason, last=_last(ranking, question), ranking=ranking)


def _left_out_by(ranking: Ranking, target: Target, position: int | None) -> list[str]:
    """Return the names of the filters that leave it out."""
    question_filters = ranking.filters
    kind = "memories" if target.session_id is None else "messages"
    if kind not in question_filters.include:
        return ["include"]
    if position is None:
        return ["known_at"] if question_filters.moment.known_at is not None else []
    return filters.failed(ranking.view, position, question_filters, ranking.vector)


def _ranked(ranking: Ranking, question: Question, position: int) -> ResultStanding:
    """Return where a candidate stands in the whole order, which a recipe may thin out."""
    page, result, last = ranking.page, ranking.page.at(position), _last(ranking, question)
    there = np.flatnonzero(page.places == position)
    if not len(there):
        recipe = question.recipe
        best = page.at(int(page.places[0])).score if len(page.places) else 0.0
        if recipe.share and result.score < recipe.share * best:
            reason = f"Its score is below {recipe.share:g} of the best one, as the recipe `{recipe.name}` demands."
            return ResultStanding("below_share", reason, result=result, last=last, ranking=ranking)
        reason = "It cites only messages that better results show already."
        return ResultStanding("repeats", reason, result=result, last=last, ranking=ranking)
    rank = int(there[0]) + 1
    if rank <= question.limit:
        return ResultStanding("shown", f"It is result {rank}.", rank=rank, result=result, last=last, ranking=ranking)
    reason = f"It is result {rank}, and {question.limit} are shown."
    return ResultStanding("below", reason, rank=rank, result=result, last=last, ranking=ranking)


def _last(ranking: Ranking, question: Question) -> RankedHit | None:
    places = ranking.page.places[: question.limit]
    return ranking.page.at(int(places[-1])) if len(places) else None


_MESSAGE = text("SELECT user_id, group_id, audience_labels FROM messages WHERE session_id = :session AND id = :id")

_INDEXED = text("""
    SELECT FROM search_index
    WHERE type = CASE WHEN :session = '' THEN 'memory' ELSE 'message' END AND session_id = :session AND ref = :ref
""")
