"""A query and its other wordings: with other names of those whom it mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.entities import mentions
from core.entities import reading as entities
from core.index.bm25 import READ
from core.index.resident.arrays import Floats
from core.inference.embedders import Embedder
from core.memoize import memo_scope
from core.search.question import Question
from core.storage.db import Database


def with_wordings(db: Database, tenant_id: str, question: Question) -> Question:
    """Return a question with its other wordings, which count as much as the query; they are looked for once."""
    if question.wordings is not None:
        return question
    return replace(question, wordings=tuple(_wordings(db, tenant_id, question)))


def vector(embedder: Embedder, question: Question) -> Floats:
    """Embed the beginning of a query; with other wordings, their mean. No transaction is open meanwhile."""
    others = question.wordings or ()
    vectors = embedder.embed_queries([text[:READ] for text in (question.query, *others)])
    mean: Floats = np.asarray(vectors.mean(axis=0), dtype=np.float32)
    return mean / np.float32(np.linalg.norm(mean) or 1) if others else mean


def _wordings(db: Database, tenant_id: str, question: Question) -> Sequence[str]:
    if question.user_id is None or question.method == "vector" or not question.query.strip():
        return ()
    answers = db.ask(tenant_id, *entities.asking(question.user_id))
    if not entities.names_somebody(answers, question.query[:READ]):
        return ()
    with memo_scope():
        return mentions.wordings(entities.of_answers(question.user_id, answers), question.query[:READ])
