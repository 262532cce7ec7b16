"""Third-party retrievers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Protocol

import structlog

from core import plugins
from core.baton import REQUESTS
from core.config import Settings
from core.screening import output

log = structlog.get_logger()

CHARACTERS: Final = 4000
"""Characters of one text: about a thousand tokens, beyond which one result would crowd out all others."""


@dataclass(frozen=True, slots=True)
class RetrieverQuery:
    """A query for third-party retrievers: for whom, and how many results are useful."""

    tenant_id: str
    user_id: str | None
    group_id: str | None
    query: str
    limit: int


@dataclass(frozen=True, slots=True)
class RetrievedText:
    """A result: text, citation, and relevance from 0 to 1."""

    text: str
    source: str
    score: float


class Retriever(Protocol):
    """External search. It must keep its own time limit, because the context waits for it."""

    def retrieve(self, question: RetrieverQuery) -> Sequence[RetrievedText]:
        """Return results, best first; of no other tenant than the query's."""


Open = Callable[[Settings], Retriever]
"""Factory of a retriever; a package names it under the entry points `imprint.retrievers`."""


def open_all(settings: Settings) -> Mapping[str, Retriever]:
    """Create every installed retriever, by name. Raises Misconfigured."""
    return {name: plugins.load(plugins.RETRIEVERS, name)(settings) for name in plugins.names(plugins.RETRIEVERS)}


def ask(retrievers: Mapping[str, Retriever], question: RetrieverQuery) -> Sequence[tuple[str, RetrievedText]]:
    """Return their results with their names, best first; one that fails is skipped and logged."""
    results = [result for name, retriever in retrievers.items() for result in _of_one(name, retriever, question)]
    return sorted(results, key=lambda result: -result[1].score)


def screened(
    retrievers: Mapping[str, Retriever], question: RetrieverQuery, *, raw: bool = False
) -> list[tuple[str, RetrievedText]]:
    """Return their results as they may be shown: without hostile ones and, unless `raw`, without secrets."""
    if not question.query.strip():
        return []
    seen = ((name, result, output.screened_output(result.text)) for name, result in ask(retrievers, question))
    return [(name, result if raw else replace(result, text=it.text)) for name, result, it in seen if not it.hostile]


def _of_one(name: str, retriever: Retriever, question: RetrieverQuery) -> Iterator[tuple[str, RetrievedText]]:
    try:
        with REQUESTS.passed_on():
            answers = list(islice(retriever.retrieve(question), question.limit))
    except Exception:  # whatever a foreign module raises: an answer without it is better than none
        log.exception("retriever.failed", retriever=name)
        return
    for answer in answers:
        if answer.text.strip():
            yield name, RetrievedText(answer.text[:CHARACTERS], answer.source, min(max(answer.score, 0.0), 1.0))
