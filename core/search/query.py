"""The hybrid search end to end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core import metrics
from core.index.bm25 import asked_terms, document_weights, query_weights
from core.index.resident import cache
from core.index.resident.arrays import Floats, Places
from core.index.resident.cache import Check, Shelf, Shelves
from core.index.resident.encoding import message_key, message_of_key
from core.index.resident.snapshot import NOTHING, View
from core.index.search_index import DOCUMENTS, sparse_literal
from core.index.vector_notation import vector_literal
from core.inference.embedders import Embedder
from core.language.terms import terms
from core.memory import as_of, memories
from core.memory.as_of import NOW, Moment
from core.search import as_of_snapshot, association, candidates, ordering, ranking, unindexed
from core.search import filters as search_filters
from core.search import passages as search_passages
from core.search.candidates import Candidates, Hit
from core.search.filters import NO_FILTERS, Filters, Sifted
from core.search.ordering import Page, Ranked, Shown
from core.search.pagination import Place
from core.search.passages import Passage
from core.search.question_analysis import PLAIN, Analysis, analysed
from core.search.ranking import Scored
from core.search.recipes import DEFAULT, Recipe
from core.search.spreading import Reader
from core.sessions import sessions
from core.storage.db import Database, Tx, together
from core.storage.multiquery import Asked
from core.types import Evidence, Message

Method = Literal["hybrid", "keyword", "vector"]

OUTDATED = 64
"""Messages with a superseded statement, the best ones, whose successors are looked up."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, about whom, and what an answer must be like.

    `each`: `limit` of each type. `recipe`: its weights; its filters and its limit are in the question by now. `after`:
    results behind a place in the ranking. `now`: when it is asked; None: at this moment.
    """

    query: str
    user_id: str | None
    group_id: str | None = None
    limit: int = 10
    method: Method = "hybrid"
    filters: Filters = NO_FILTERS
    each: bool = False
    recipe: Recipe = DEFAULT
    after: Place | None = None
    now: datetime | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of SQL that applies the filters."""
        return self.filters.parameters(self.user_id, self.group_id)


@dataclass(frozen=True, slots=True)
class Found:
    """One result: a memory's row, a message or a passage, its rank, and what it cites."""

    ranked: Ranked
    sources: Sequence[Evidence]
    message: Message | None = None
    memory: Any = None
    passage: Passage | None = None

    @property
    def superseded(self) -> bool:
        """True for a message whose memories are all superseded."""
        return self.message is not None and self.ranked.hit.retired


@dataclass(frozen=True, slots=True)
class Answer:
    """Results. `considered`: number of rows that passed the filters, by type."""

    results: Sequence[Found]
    considered: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.considered.values())


def search(db: Database, tenant_id: str, question: Question, embedder: Embedder) -> Answer:
    """Return the best results, best first."""
    with metrics.SEARCH.labels(question.method).time():
        vector = _vector(embedder, question)
        now = question.now or question.filters.moment.known_at or datetime.now(UTC)
        asking, thinking = _asking(cache.of(db.engine), tenant_id, question, embedder), _Thinking(question, vector, now)
        # Rows with vectors of another dimension are read again
        ahead = partial(thinking.over, asking.check.state.view) if asking.check.usable else None
        with db.asking(tenant_id, *asking.statements, meanwhile=ahead) as (tx, answers):
            first = _first(tx, question, asking, answers)
            sifted = _sifted(tx, question, first, thinking)
            passages = _passages(tx, question, first.passages, vector)
            ideal = sum(first.own.values())
            asked = ranking.Asked(sifted.analysis, ideal, question.recipe, now.timestamp())
            scores = _associated(tx, question, sifted.found, ranking.scored(sifted.found, asked))
            scores = _succeeded(tx, question, sifted.found, scores)
            page = Page(question.limit, question.each, question.after, question.recipe.diversity)
            shelved = ordering.shelved(passages, sifted.found, scores, ideal)
            shown = ordering.shown(sifted.found, scores, shelved, page, sifted.vectors)
            return Answer(_found(tx, shown, question.filters.moment), {**sifted.considered, "document": len(passages)})


def _vector(embedder: Embedder, question: Question) -> Floats | None:
    """Embed the query, before any transaction is open."""
    if question.method == "keyword" or not question.query.strip():
        return None
    with metrics.EMBED.time():
        vector: Floats = embedder.embed([question.query])[0]
        return vector


@dataclass(frozen=True, slots=True)
class _First:
    """What the first round trip returned. Query terms are weighted by their rarity among what this user said.

    `passages`: weights for passages, by rarity there, too; None: there are none, or none are asked for.
    `waiting`: messages not indexed yet, read before the index: one that moves into it is seen twice, not missed.
    """

    own: Mapping[int, float]
    passages: Mapping[int, float] | None
    waiting: Sequence[Hit]
    view: View


@dataclass(frozen=True, slots=True)
class _Asking:
    """Statements sent with the opening of the transaction: word counts, unindexed messages, changed rows."""

    words: Sequence[str]
    shelf: Shelf
    check: Check
    statements: Sequence[Asked]


def _asking(shelves: Shelves, tenant_id: str, question: Question, embedder: Embedder) -> _Asking:
    user_id, group_id = question.user_id, question.group_id
    words = [] if question.method == "vector" else asked_terms(question.query)
    mine = shelves.owner(tenant_id, user_id, group_id)
    check = mine.check(embedder.dimension)
    counting = search_passages.counting(user_id, group_id, words)
    return _Asking(words, mine, check, (counting, unindexed.asking(question.parameters), (cache.CHANGED, check.values)))


def _first(tx: Tx, question: Question, asking: _Asking, answers: Sequence[Sequence[Any]]) -> _First:
    counted_rows, waiting, changed = answers
    counted = search_passages.counts(question.user_id, question.group_id, counted_rows)
    count = next(iter(counted.values()))
    own = query_weights(asking.words, count, count.get(DOCUMENTS, 0)) if asking.words else {}
    # Passages belong to no session.
    wanted = "documents" in question.filters.include and question.filters.session_id is None
    total = search_passages.summed(counted) if wanted else None
    passages = None if total is None else query_weights(asking.words, total, total[DOCUMENTS])
    # Unindexed messages have no vector, so none is similar enough.
    seen = "messages" in question.filters.include and question.filters.min_similarity is None
    view = asking.shelf.view(tx, asking.check, changed[0])
    return _First(own, passages, unindexed.hits(waiting, own) if seen else [], view)


@dataclass(frozen=True, slots=True)
class _Thought:
    """Rows of a snapshot that pass the filters, and the analysis of the question."""

    sifted: Sifted
    analysis: Analysis


@dataclass(slots=True)
class _Thinking:
    """Filters a snapshot while the database validates it, and again if it has changed."""

    question: Question
    vector: Floats | None
    now: datetime
    _last: _Thought | None = None

    def over(self, view: View) -> _Thought:
        if self._last is None or self._last.sifted.view is not view:
            found = search_filters.sifted(view, self.question.filters, self.vector)
            self._last = _Thought(found, self.told(view.registers.speakers.numbers))
        return self._last

    def told(self, speakers: Iterable[str]) -> Analysis:
        """Analyse the question, given the names of speakers."""
        return analysed(self.question.query, self.now, list(speakers))


@dataclass(frozen=True, slots=True)
class _Sifted:
    """Candidates, their number by type, the snapshot they come from, and the analysis of the question."""

    found: Candidates
    considered: Mapping[str, int]
    view: View
    analysis: Analysis

    def vectors(self, places: Places) -> Floats:
        """Return the vectors of these candidates; zeros where none exists yet."""
        at = [self.view.place(key) for key in self.found.keys[places]]
        rows = np.zeros((len(at), max(self.view.dimension, 1)), dtype=np.float32)
        there = [n for n, one in enumerate(at) if one is not None]
        if there:
            rows[there] = self.view.vectors(np.array([at[n] for n in there], dtype=np.int64))
        return rows


def _sifted(tx: Tx, question: Question, first: _First, thinking: _Thinking) -> _Sifted:
    """Return the messages and memories that pass the filters, or the best of them, and their number."""
    if not question.filters.include & {"messages", "memories"}:
        return _Sifted(candidates.of(()), {}, NOTHING, PLAIN)
    view, own = first.view, first.own
    worded: Mapping[str, str] = {}
    if question.filters.moment.known_at is not None:
        view, worded = as_of_snapshot.view(tx, view, question.filters.moment.known_at, question.parameters)
    thought, lexical = thinking.over(view), view.lexical(own)
    for key, words in worded.items():
        if (place := view.place(key)) is not None:
            lexical[place] = unindexed.lexical(own, document_weights(terms(words)))
    passing = thought.sifted.places
    new = [hit for hit in first.waiting if view.place(hit.key) is None]
    remembered = int(np.count_nonzero(view.fields["memory"][passing]))
    considered = {"memory": remembered, "message": len(passing) - remembered + len(new)}
    found = search_filters.joined(search_filters.chosen(thought.sifted, lexical), new)
    return _Sifted(found, considered, view, thinking.told(found.speakers) if new else thought.analysis)


def _associated(tx: Tx, question: Question, found: Candidates, scores: Scored) -> Scored:
    """Add the activation of memories linked to the best results, if the recipe asks for it."""
    if question.recipe.association == 0 or not len(found):
        return scores
    best = np.argsort(-scores.total, kind="stable")[: association.SOURCES].tolist()
    seeds = {UUID(found.keys[at]): float(scores.total[at]) for at in best if found.memory[at]}
    messages = {str(found.keys[at]): float(scores.total[at]) for at in best if not found.memory[at]}
    reader = Reader(question.user_id, question.group_id, question.filters)
    reached = association.spread(tx, seeds, messages, reader, len(found))
    gained = {str(one.id): question.recipe.association * one.activation for one in reached}
    return ranking.raised(found, scores, gained)


def _succeeded(tx: Tx, question: Question, found: Candidates, scores: Scored) -> Scored:
    """Rank current memories before the messages whose statements they superseded. Without such messages, no query."""
    outdated = np.flatnonzero(found.retired)
    if not len(outdated) or question.filters.moment != NOW or not found.memory.any():
        return scores
    best = outdated[np.argsort(-scores.total[outdated], kind="stable")[:OUTDATED]]
    rows = tx.execute(*_succeeding([str(key) for key in found.keys[best]]))
    pairs = [(message_key(row.session_id, row.message_id), str(row.id)) for row in rows]
    return ranking.succeeded(found, scores, pairs)


def _succeeding(keys: Sequence[str]) -> Asked:
    """Return the statement that finds the active memories which superseded what these messages said."""
    pairs = [message_of_key(key) for key in keys]
    return _SUCCESSORS, {"sessions": [one for one, _ in pairs], "ids": [one for _, one in pairs]}


def _passages(tx: Tx, question: Question, asked: Mapping[int, float] | None, vector: Floats | None) -> list[Hit]:
    if asked is None:
        return []
    literal = None if vector is None else vector_literal(vector)
    values = {**question.parameters, "vector": literal, "terms": sparse_literal(asked or {1: 0.0})}
    least = question.filters.min_similarity
    return [
        hit
        for hit in search_passages.hits(tx, values)
        if least is None or (hit.cosine is not None and hit.cosine >= least)
    ]


def _found(tx: Tx, shown: Shown, moment: Moment) -> list[Found]:
    """Read texts and evidence of the ranked hits, in order, without what was erased meanwhile."""
    of_type = {type_: [key for one, key in shown.keys if one == type_] for type_ in ordering.TYPES}
    ids = [UUID(key) for key in of_type["memory"]]
    remembered, quoted, said, passed = together(
        tx,
        as_of.asking(ids, moment.known_at) if ids else None,
        as_of.asking_evidence(ids, moment.known_at) if ids else None,
        _saying(of_type["message"]) if of_type["message"] else None,
        search_passages.asking(of_type["document"]) if of_type["document"] else None,
        meanwhile=lambda: shown.ranked,
        last=True,
    )
    rows, cited = {str(row.id): row for row in remembered}, memories.cited(quoted)
    spoken = {message_key(row.session_id, row.id): sessions.message_of(row) for row in said}
    passages = search_passages.shown(passed)
    found = []
    for item in shown.ranked:
        if item.hit.type == "memory" and (row := rows.get(item.hit.key)) is not None:
            found.append(Found(item, cited.get(row.id, []), memory=row))
        elif (message := spoken.get(item.hit.key)) is not None:
            found.append(Found(item, [_as_evidence(message)], message=message))
        elif (passage := passages.get(item.hit.key)) is not None:
            found.append(Found(item, [], passage=passage))
    return found


def _saying(keys: Sequence[str]) -> Asked:
    """Return the statement that reads messages by key."""
    pairs = [message_of_key(key) for key in keys]
    return _MESSAGES, {"sessions": [one for one, _ in pairs], "ids": [one for _, one in pairs]}


def _as_evidence(message: Message) -> Evidence:
    return Evidence(message.session_id, message.id, message.event_id, message.content)


_SUCCESSORS = text("""
    WITH RECURSIVE outdated AS (
        SELECT e.session_id, e.message_id, m.id, m.user_id, m.group_id, m.subject, m.attribute
        FROM evidence e JOIN memories m ON m.id = e.memory_id AND m.status = 'superseded'
        WHERE (e.session_id, e.message_id) IN (
            SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
    ), chain AS (
        SELECT session_id, message_id, id FROM outdated
        UNION
        SELECT c.session_id, c.message_id, r.from_id FROM chain c
        JOIN relations r ON r.to_id = c.id AND r.relation = 'supersedes'
    )
    SELECT c.session_id, c.message_id, m.id FROM chain c JOIN memories m ON m.id = c.id AND m.status = 'active'
    UNION
    SELECT o.session_id, o.message_id, m.id FROM outdated o
    JOIN memories m ON m.user_id = o.user_id AND m.subject = o.subject AND m.attribute = o.attribute
         AND m.group_id IS NOT DISTINCT FROM o.group_id AND m.status = 'active'
""")
"""Follows `supersedes` link by link, and the slot to what fills it now."""

_MESSAGES = text("""
    SELECT * FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
""")
