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
    """Return a question with its other wordings, which count as much as the query."""
    if question.wordings or question.user_id is None or question.method == "vector" or not question.query.strip():
        return question
    answers = db.ask(tenant_id, *entities.asking(question.user_id))
    if not entities.names_somebody(answers, question.query[:READ]):
        return question
    with memo_scope():
        directory = entities.of_answers(question.user_id, answers)
        return replace(question, wordings=tuple(mentions.wordings(directory, question.query[:READ])))


def vector(embedder: Embedder, query: str, wordings: Sequence[str] = ()) -> Floats:
    """Embed the beginning of a query; with other wordings, their mean. No transaction is open meanwhile."""
    vectors = embedder.embed_queries([text[:READ] for text in (query, *wordings)])
    mean: Floats = np.asarray(vectors.mean(axis=0), dtype=np.float32)
    return mean / np.float32(np.linalg.norm(mean) or 1) if wordings else mean
