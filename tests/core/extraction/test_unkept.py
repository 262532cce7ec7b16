"""Sentences that were not worth keeping, until a later one ends them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from sqlalchemy import text

from core.consolidation.pipeline import Consolidation
from core.events.publishing import Author
from core.extraction import session as extraction
from core.extraction import unkept
from core.extraction.protocol import Reading, Window
from core.extraction.session import SessionReader
from core.index import reembedding, search_index
from core.inference.client import Call, OnCall
from core.inference.embedders import Floats, HashEmbedder
from core.search import query
from core.search.question import Question
from core.sessions import hidden_messages, sessions
from core.storage.db import Database
from core.types import Candidate, Category, Evidence, Topic
from core.undo import undo
from tests.samples import TENANT, accept, said

THURSDAYS = "Mrs Geddes has me on Thursday evenings for my lesson."
MONDAYS = "My lesson with Mrs Geddes is on Mondays now."
AUTHOR = Author("key:test")
EMBEDDER = HashEmbedder()
EARLY, LATE = "2026-11-21T12:00:00+00:00", "2026-12-05T12:00:00+00:00"


class Judge:
    """Says that what names Mondays ends what names Thursdays."""

    def ends(self, texts: Sequence[str]) -> Floats:
        return _log_odds("Mondays" in content for content in texts)

    def over(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return _log_odds("Mondays" in new and "Thursday" in old for new, old in pairs)

    def which(self, text: str, earlier: Sequence[str]) -> Floats:
        return self.over([(text, each) for each in earlier])

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        return _log_odds(False for _ in sentences)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Keeps the messages that hold some words."""

    words: str
    prompt: str | None = None
    name: str = "keeping"

    def read(self, window: Window, _on_call: OnCall) -> Reading:
        return Reading(
            [
                Candidate(
                    message.content,
                    Category.FACT,
                    Topic.OTHER,
                    "ada",
                    (Evidence(message.session_id, message.id, message.event_id, message.content),),
                    message.occurred_at,
                )
                for message in window.fresh
                if self.words in message.content
            ]
        )


@pytest.fixture
def consolidation(app: Database) -> Consolidation:
    return Consolidation(app, EMBEDDER, reader=Judge())


def test_a_sentence_that_was_not_kept_is_stored_as_what_was_true_once_a_later_one_ends_it(
    app: Database, consolidation: Consolidation
) -> None:
    tell(app, consolidation, "s1", f"I've started the fiddle. {THURSDAYS}", EARLY)
    assert stored(app) == {}
    tell(app, consolidation, "s2", MONDAYS, LATE)
    assert stored(app) == {f"Ada said on 21 November 2026: “{THURSDAYS}”": "superseded", MONDAYS: "active"}
    with app.tenant(TENANT) as tx:
        quoted = tx.execute(text("SELECT session_id, quote FROM evidence WHERE session_id = 's1'")).one()
        relation = tx.execute(text("SELECT relation FROM relations")).scalar_one()
    assert tuple(quoted) == ("s1", THURSDAYS)
    assert relation == "supersedes"


def test_a_message_that_says_more_than_what_ended_is_over_in_part(app: Database, consolidation: Consolidation) -> None:
    told = f"I've started the fiddle, and my neighbours have begun to greet me with some reserve. {THURSDAYS}"
    tell(app, consolidation, "s1", told, EARLY)
    tell(app, consolidation, "s2", MONDAYS, LATE)
    results = query.search(app, TENANT, Question("fiddle lesson", "ada"), EMBEDDER).results
    marks = {r.message.content: (r.superseded, r.partly_superseded) for r in results if r.message}
    assert marks == {told: (False, True), MONDAYS: (False, False)}


def test_what_has_not_been_read_yet_is_not_unkept(app: Database, consolidation: Consolidation) -> None:
    tell(app, consolidation, "s1", THURSDAYS, EARLY, read=False)
    tell(app, consolidation, "s2", MONDAYS, LATE)
    assert stored(app) == {MONDAYS: "active"}


def test_undoing_the_ending_keeps_both(app: Database, consolidation: Consolidation) -> None:
    tell(app, consolidation, "s1", THURSDAYS, EARLY)
    tell(app, consolidation, "s2", MONDAYS, LATE)
    with app.tenant(TENANT) as tx:
        change = tx.execute(text("SELECT change_id FROM relations WHERE relation = 'supersedes'")).scalar_one()
    undo.carry_out(app, EMBEDDER, TENANT, change, AUTHOR)
    assert set(stored(app).values()) == {"active"}


def test_a_sentence_that_a_memory_quotes_is_judged_as_that_memory(app: Database, consolidation: Consolidation) -> None:
    tell(app, consolidation, "s1", THURSDAYS, EARLY, keep="Thursday")
    tell(app, consolidation, "s2", MONDAYS, LATE)
    assert stored(app) == {THURSDAYS: "superseded", MONDAYS: "active"}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"role": "assistant"}, {}),
        ({"user": "bob"}, {}),
        ({"group_id": "friends"}, {}),
        ({}, {"group_id": "friends"}),
        ({"audience_labels": ["health"]}, {}),
    ],
    ids=["of an assistant", "of another user", "of a group", "in private", "to another audience"],
)
def test_it_is_the_same_persons_to_the_same_audience(
    app: Database, consolidation: Consolidation, earlier: dict[str, object], later: dict[str, object]
) -> None:
    tell(app, consolidation, "s1", THURSDAYS, EARLY, **earlier)
    tell(app, consolidation, "s2", MONDAYS, LATE, **later)
    assert stored(app) == {MONDAYS: "active"}


def test_what_is_hidden_said_later_or_not_ended_is_left_alone(app: Database, consolidation: Consolidation) -> None:
    tell(app, consolidation, "s1", THURSDAYS, EARLY, id="hidden")
    with app.tenant(TENANT) as tx:
        hidden_messages.hide(tx, TENANT, "s1", message_of(app, "s1"), AUTHOR)
    tell(app, consolidation, "s3", "On Thursday evenings there is football.", "2026-12-24T12:00:00+00:00")
    tell(app, consolidation, "s4", "The dog leaves the room when I play.", EARLY)
    tell(app, consolidation, "s2", MONDAYS, LATE)
    assert stored(app) == {MONDAYS: "active"}


def test_without_a_reader_nothing_is_looked_for(app: Database) -> None:
    blind = Consolidation(app, EMBEDDER)
    tell(app, blind, "s1", THURSDAYS, EARLY)
    tell(app, blind, "s2", MONDAYS, LATE)
    assert stored(app) == {MONDAYS: "active"}


def test_at_most_so_many_are_judged(
    app: Database, consolidation: Consolidation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unkept, "NEAREST", 0)
    tell(app, consolidation, "s1", THURSDAYS, EARLY)
    tell(app, consolidation, "s2", MONDAYS, LATE)
    assert stored(app) == {MONDAYS: "active"}


def tell(
    app: Database,
    consolidation: Consolidation,
    session: str,
    content: str,
    time: str,
    keep: str = "Mondays",
    read: bool = True,
    **more: object,
) -> None:
    """Say something in a session, index it, and extract what holds the words `keep`."""
    accept(app, said(content, session=session, time=time, **more))
    with app.tenant(TENANT) as tx:
        (row,) = sessions.find_unindexed(tx, [session])
        search_index.put_messages(tx, TENANT, [(row, search_index.plan(row, search_index.unindexed_messages(tx, row)))])
    reembedding.fill(app, TENANT, EMBEDDER)
    if not read:
        return
    extracted = extraction.extract_new(consolidation, TENANT, session, SessionReader(Keeping(keep), no_call), limit=9)
    with app.tenant(TENANT) as tx:
        extracted.write(tx, AUTHOR)


def stored(app: Database) -> dict[str, str]:
    with app.tenant(TENANT) as tx:
        return {row.content: row.status for row in tx.execute(text("SELECT content, status FROM memories"))}


def message_of(app: Database, session: str) -> str:
    with app.tenant(TENANT) as tx:
        return str(tx.execute(text("SELECT id FROM messages WHERE session_id = :id"), {"id": session}).scalar_one())


def no_call(call: Call) -> None:
    raise AssertionError(call)


def _log_odds(holds: Iterable[bool]) -> Floats:
    return np.array([5.0 if value else -5.0 for value in holds], dtype=np.float32)
