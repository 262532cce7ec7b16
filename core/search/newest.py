"""Ranks what holds now before what it outdates: memories before messages, then the newest of contradicting messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import text

from core.index.bm25 import READ
from core.index.resident.encoding import message_key, message_of_key
from core.memory.as_of import NOW
from core.search import ranking, succession, texts
from core.search.candidates import Candidates
from core.search.ordering import RankedPage
from core.search.question import Question
from core.search.ranking import Scores
from core.search.selection import Selection
from core.search.texts import Texts
from core.storage.db import Tx, message_places, run_together
from core.storage.multiquery import BoundStatement
from core.types import Message

OUTDATED = 64
"""Messages with a superseded statement, the best ones, whose successors are looked up."""


def cut(
    tx: Tx,
    question: Question,
    selection: Selection,
    scores: Scores,
    cut_page: Callable[[Scores], RankedPage],
    *,
    with_texts: bool,
) -> tuple[RankedPage, Texts | None]:
    """Return the page on which what holds now ranks first, and texts if they were read.

    Memories rank before messages that they outdate, then the newest of contradicting messages. Both are read at once,
    because raising memories changes no message's rank among messages; without any, no query. What is raised is rare,
    so that the texts of the page as it is are read in the same round trip.
    """
    outdated, alike = _outdated(question, selection.candidates, scores), _alike(question, selection, scores)
    if not outdated and not alike:
        return cut_page(scores), None
    followed_query = _successors_query(outdated) if outdated else None
    page = cut_page(succession.raise_later(scores, []) if alike else scores)
    if with_texts:
        asking = texts.queries(page, question.filters.moment, alike)
        followed, *answers = run_together(tx, followed_query, *asking, meanwhile=lambda: page.ranked, last=True)
        read = texts.of(answers, page)
        spoken = {key: read.messages[key] for key in alike if key in read.messages}
    else:
        followed, message_rows = run_together(tx, followed_query, texts.messages_query(list(alike)) if alike else None)
        read, spoken = None, texts.messages_by_key(message_rows)
    raised = _raise_newest(question, selection.candidates, scores, alike, followed, spoken)
    if not np.array_equal(raised.total, page.scores.total):
        page = cut_page(raised)
    return page, read


def _raise_newest(
    question: Question,
    candidates: Candidates,
    scores: Scores,
    alike: Mapping[str, int],
    followed: Sequence[Any],
    spoken: Mapping[str, Message],
) -> Scores:
    """Raise memories above the messages that they outdate, and of the contradicting messages the newest."""
    pairs = [(message_key(row.session_id, row.message_id), str(row.id)) for row in followed]
    scores = ranking.raise_successors(candidates, scores, pairs) if pairs else scores
    newer = [(alike[earlier], alike[later]) for earlier, later in succession.successors(question.query[:READ], spoken)]
    return succession.raise_later(scores, newer) if alike else scores


def _outdated(question: Question, candidates: Candidates, scores: Scores) -> list[str]:
    """Return the keys of the best messages with a superseded statement, where memories could be raised above them."""
    outdated = np.flatnonzero(candidates.outdated)
    if not len(outdated) or question.filters.moment != NOW or not candidates.memory.any():
        return []
    best = outdated[np.argsort(-scores.total[outdated], kind="stable")[:OUTDATED]]
    return [str(key) for key in candidates.keys[best]]


def _alike(question: Question, selection: Selection, scores: Scores) -> dict[str, int]:
    """Return the places of the best messages that resemble each other, by key."""
    if question.method != "hybrid":
        return {}
    best = succession.best_messages(selection.candidates, scores)
    some = succession.alike(selection.candidates, best, selection.vectors(np.array(best, dtype=np.int64)))
    return {str(selection.candidates.keys[position]): position for position in some}


def _successors_query(keys: Sequence[str]) -> BoundStatement:
    """Return the statement that finds the active memories which superseded what these messages said."""
    return _SUCCESSORS, message_places(map(message_of_key, keys))


_SUCCESSORS = text("""
    WITH RECURSIVE outdated AS (
        SELECT e.session_id, e.message_id, m.id, m.user_id, m.group_id, m.subject, m.attribute
        FROM evidence e JOIN memories m ON m.id = e.memory_id AND m.status = 'superseded'
        WHERE (e.session_id, e.message_id) IN (
            SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
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
