"""search(): the hybrid query end to end."""

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
from core.index.search_index import DOCUMENTS, sparse_literal
from core.index.vector_notation import vector_literal
from core.inference.embedders import Embedder
from core.language.terms import terms
from core.memory import as_of, memories
from core.memory.as_of import NOW, Moment
from core.search import association, ordering, ranking, unindexed
from core.search import filters as search_filters
from core.search import passages as search_passages
from core.search.filters import Filters, Sifted
from core.search.ordering import Page, Ranked, Shown
from core.search.pagination import Place
from core.search.passages import Passage
from core.search.question_analysis import PLAIN, Analysis, analysed
from core.search.ranking import Scored
from core.search.recipes import DEFAULT, Recipe
from core.search.resident import as_of_snapshot, cache, candidates
from core.search.resident.cache import Check, Shelf, Shelves
from core.search.resident.candidates import Candidates, Floats, Hit, Places
from core.search.resident.loading import message_key
from core.search.resident.snapshot import NOTHING, View
from core.sessions import sessions
from core.storage.db import Database, Tx, together
from core.storage.multiquery import Asked
from core.types import Evidence, Message, Trust

Method = Literal["hybrid", "keyword", "vector"]

OUTDATED = 64
"""Messages with a superseded statement, the best, whose successors are looked for."""

SERVED = (Trust.CANDIDATE, Trust.CONFIRMED, Trust.DISPUTED)
"""How far a memory must be believed to be found, where nobody asks for others."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, about whom, as of when, and what an answer must be like.

    `trust`: who asks for `quarantined` gets those; what is rejected is never found. `each`: `limit` of each type.
    `recipe`: what it asks of the ranking; its filters and its limit are those of the question by now. `after`: what
    stands behind a place in the order. `now`: when it is asked; None: at this moment.
    """

    query: str
    user_id: str | None
    group_id: str | None = None
    limit: int = 10
    method: Method = "hybrid"
    include: frozenset[str] = frozenset({"memories", "messages", "documents"})
    kinds: Sequence[str] = ()
    categories: Sequence[str] = ()
    topics: Sequence[str] = ()
    tags: Sequence[str] = ()
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_similarity: float | None = None
    min_importance: float | None = None
    include_archived: bool = False
    trust: Sequence[str] = SERVED
    moment: Moment = NOW
    each: bool = False
    recipe: Recipe = DEFAULT
    after: Place | None = None
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """One result: a memory's row, a message or a passage, its place in the ranking, and what it cites."""

    ranked: Ranked
    sources: Sequence[Evidence]
    message: Message | None = None
    memory: Any = None
    passage: Passage | None = None

    @property
    def superseded(self) -> bool:
        """Whether it is a message of which all that was remembered is superseded."""
        return self.message is not None and self.ranked.hit.retired


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found. `considered`: by type, how many the filters let through."""

    results: Sequence[Found]
    considered: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.considered.values())


def search(db: Database, tenant_id: str, question: Question, embedder: Embedder) -> Answer:
    """The best results for a question, best first."""
    with metrics.SEARCH.labels(question.method).time():
        vector = _vector(embedder, question)
        now = question.now or question.moment.known_at or datetime.now(UTC)
        asking, thinking = _asking(cache.of(db.engine), tenant_id, question, embedder), _Thinking(question, vector, now)
        # What has vectors of another length is read anew: there is nothing to compare yet.
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
            return Answer(_found(tx, shown, question.moment), {**sifted.considered, "document": len(passages)})


def _vector(embedder: Embedder, question: Question) -> Floats | None:
    """The question's vector, made before any transaction is open."""
    if question.method == "keyword" or not question.query.strip():
        return None
    with metrics.EMBED.time():
        vector: Floats = embedder.embed([question.query])[0]
        return vector


@dataclass(frozen=True, slots=True)
class _First:
    """What is read first, at once. The question's terms are weighed by how rare each is among what this user said.

    `passages`: for passages by how rare it is there, too; None where there are none, or none are asked for.
    `waiting`: messages that are not indexed yet, read before the index: what moves into it is seen twice, not missed.
    """

    own: Mapping[int, float]
    passages: Mapping[int, float] | None
    waiting: Sequence[Hit]
    view: View


@dataclass(frozen=True, slots=True)
class _Asking:
    """What is asked in the way that opens the transaction: counts of words, what waits, and what has changed."""

    words: Sequence[str]
    shelf: Shelf
    check: Check
    statements: Sequence[Asked]


def _asking(shelves: Shelves, tenant_id: str, question: Question, embedder: Embedder) -> _Asking:
    user_id, group_id = question.user_id, question.group_id
    words = [] if question.method == "vector" else asked_terms(question.query)
    mine = shelves.shelf(tenant_id, user_id, group_id)
    check = mine.check(user_id, group_id, embedder.dimension)
    counting = search_passages.counting(user_id, group_id, words)
    return _Asking(words, mine, check, (counting, unindexed.asking(_reader(question)), (cache.CHANGED, check.values)))


def _first(tx: Tx, question: Question, asking: _Asking, answers: Sequence[Sequence[Any]]) -> _First:
    counted_rows, waiting, changed = answers
    counted = search_passages.counts(question.user_id, question.group_id, counted_rows)
    count = next(iter(counted.values()))
    own = query_weights(asking.words, count, count.get(DOCUMENTS, 0)) if asking.words else {}
    # No passage was said in a session.
    wanted = "documents" in question.include and question.session_id is None
    total = search_passages.summed(counted) if wanted else None
    passages = None if total is None else query_weights(asking.words, total, total[DOCUMENTS])
    # What is not indexed has no vector: it is near to nothing.
    seen = "messages" in question.include and question.min_similarity is None
    view = asking.shelf.view(tx, asking.check, changed[0])
    return _First(own, passages, unindexed.hits(waiting, own) if seen else [], view)


@dataclass(frozen=True, slots=True)
class _Thought:
    """What a question makes of a view without its words: what its filters let through, and what it tells by itself."""

    sifted: Sifted
    analysis: Analysis


@dataclass(slots=True)
class _Thinking:
    """Thinks about a view while the database looks whether it still holds, and anew where it does not."""

    question: Question
    vector: Floats | None
    now: datetime
    _last: _Thought | None = None

    def over(self, view: View) -> _Thought:
        if self._last is None or self._last.sifted.view is not view:
            found = search_filters.sifted(view, _filters(self.question), self.vector)
            self._last = _Thought(found, self.told(view.registers.speakers.numbers))
        return self._last

    def told(self, speakers: Iterable[str]) -> Analysis:
        """What the question tells by itself, where these spoke."""
        return analysed(self.question.query, self.now, list(speakers))


@dataclass(frozen=True, slots=True)
class _Sifted:
    """What is compared with the question, how many there are of each type, where it comes from, and what is asked."""

    found: Candidates
    considered: Mapping[str, int]
    view: View
    analysis: Analysis

    def vectors(self, places: Places) -> Floats:
        """Those of some candidates; of noughts where there is none yet."""
        at = [self.view.place(key) for key in self.found.keys[places]]
        rows = np.zeros((len(at), max(self.view.dimension, 1)), dtype=np.float32)
        there = [n for n, one in enumerate(at) if one is not None]
        if there:
            rows[there] = self.view.vectors(np.array([at[n] for n in there], dtype=np.int64))
        return rows


def _sifted(tx: Tx, question: Question, first: _First, thinking: _Thinking) -> _Sifted:
    """The messages and memories that the filters let through, or the best of them; and how many there are."""
    if not question.include & {"messages", "memories"}:
        return _Sifted(candidates.of(()), {}, NOTHING, PLAIN)
    view, own = first.view, first.own
    worded: Mapping[str, str] = {}
    if question.moment.known_at is not None:
        view, worded = as_of_snapshot.view(tx, view, question.moment.known_at, _reader(question))
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
    """With what memories gain that are tied to the best results, where the recipe asks for that."""
    if question.recipe.association == 0 or not len(found):
        return scores
    best = np.argsort(-scores.total, kind="stable")[: association.SOURCES].tolist()
    seeds = {UUID(found.keys[at]): float(scores.total[at]) for at in best if found.memory[at]}
    messages = {str(found.keys[at]): float(scores.total[at]) for at in best if not found.memory[at]}
    reached = association.spread(tx, seeds, messages, _reader(question) | _of_memories(question), len(found))
    gained = {str(one.id): question.recipe.association * one.activation for one in reached}
    return ranking.raised(found, scores, gained)


def _succeeded(tx: Tx, question: Question, found: Candidates, scores: Scored) -> Scored:
    """With current memories before the messages whose statement they superseded. Asks nothing where there are none."""
    outdated = np.flatnonzero(found.retired)
    if not len(outdated) or question.moment != NOW or not found.memory.any():
        return scores
    best = outdated[np.argsort(-scores.total[outdated], kind="stable")[:OUTDATED]]
    rows = tx.execute(*_succeeding([str(key) for key in found.keys[best]]))
    pairs = [(message_key(row.session_id, row.message_id), str(row.id)) for row in rows]
    return ranking.succeeded(found, scores, pairs)


def _succeeding(keys: Sequence[str]) -> Asked:
    """How to ask for the active memories that took the place of what these messages said."""
    pairs = [key.split(candidates.SEPARATOR, 1) for key in keys]
    return _SUCCESSORS, {"sessions": [one for one, _ in pairs], "ids": [one for _, one in pairs]}


def _filters(question: Question) -> Filters:
    return Filters(
        messages="messages" in question.include,
        memories="memories" in question.include,
        statuses=question.moment.statuses(archived=question.include_archived),
        trust=[trust for trust in question.trust if trust != Trust.REJECTED],
        kinds=question.kinds,
        categories=question.categories,
        # An episode retells what its messages say, in more words: unasked, it would stand before them.
        retold=bool(question.kinds or question.categories),
        topics=question.topics,
        tags=question.tags,
        session_id=question.session_id,
        since=question.since,
        until=question.until,
        as_of=question.moment.as_of,
        known_at=question.moment.known_at,
        min_importance=question.min_importance,
        min_similarity=question.min_similarity,
        expired=question.include_archived,
    )


def _reader(question: Question) -> dict[str, Any]:
    """Whose rows, and from when, for the statements that read what is not at hand."""
    return {
        "user": question.user_id,
        "group": question.group_id,
        "session": question.session_id,
        "since": question.since,
        "until": question.until,
        "as_of": question.moment.as_of,
        "known_at": question.moment.known_at,
    }


def _of_memories(question: Question) -> dict[str, Any]:
    """What a memory must be like, for a statement that finds others than those at hand."""
    filters = _filters(question)
    return {
        "statuses": list(filters.statuses),
        "trust": list(filters.trust),
        "archived": filters.expired,
        "kinds": list(filters.kinds) or None,
        "categories": list(filters.categories) or None,
        "retold": filters.retold,
        "topics": list(filters.topics) or None,
        "tags": list(filters.tags) or None,
        "importance": filters.min_importance,
    }


def _passages(tx: Tx, question: Question, asked: Mapping[int, float] | None, vector: Floats | None) -> list[Hit]:
    if asked is None:
        return []
    literal = None if vector is None else vector_literal(vector)
    values = {**_reader(question), "vector": literal, "terms": sparse_literal(asked or {1: 0.0})}
    least = question.min_similarity
    return [
        hit
        for hit in search_passages.hits(tx, values)
        if least is None or (hit.cosine is not None and hit.cosine >= least)
    ]


def _found(tx: Tx, shown: Shown, moment: Moment) -> list[Found]:
    """The ranked hits with their texts and what they cite, in the same order, less what was erased meanwhile."""
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
    """How to ask for messages by key."""
    pairs = [key.split(candidates.SEPARATOR, 1) for key in keys]
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
"""By what superseded it, link by link, and by what fills its slot now."""

_MESSAGES = text("""
    SELECT * FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
""")
