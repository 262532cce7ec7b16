from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from core.consolidation.pipeline import Consolidation
from core.events.publishing import Author
from core.extraction import known_memories
from core.extraction import session as extraction
from core.extraction.protocol import Reading, Window
from core.extraction.session import SessionReader
from core.inference.embedders import HashEmbedder
from core.memory import writer
from core.memory.changes import Add, Owner
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Candidate, Category, Ended, Evidence, Message, Relations, Shown, Topic
from tests.core.extraction.windows_of import messages
from tests.samples import NOON, TENANT, accept, said

PERSON = Author("key:test")


@pytest.fixture
def consolidation(app: Database) -> Consolidation:
    return Consolidation(app, HashEmbedder())


def remember(app: Database, *contents: str, owner: Owner = Owner("ada"), **fields: object) -> None:
    """Store statements as memories."""
    vectors = HashEmbedder().embed(list(contents))
    adds = [
        Add(replace(Candidate(content, Category.FACT, Topic.OTHER, "Ada", (), NOON), **fields), "New.", vector)  # type: ignore[arg-type]
        for content, vector in zip(contents, vectors, strict=True)
    ]
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, owner, adds, PERSON)


def shown(consolidation: Consolidation, *fresh: Message) -> list[str]:
    return [memory.content for memory in known_memories.of_window(consolidation, TENANT, Window([], fresh)) or ()]


def message(content: str, **fields: object) -> Message:
    (plain,) = messages(1, 1)
    return replace(plain, content=content, **{"user_id": "ada", "role": "user", **fields})  # type: ignore[arg-type]


def test_who_has_no_memory_is_shown_none(consolidation: Consolidation) -> None:
    assert shown(consolidation, message("I moved to Porto.")) == []


def test_the_nearest_memories_of_each_message_are_shown(app: Database, consolidation: Consolidation) -> None:
    remember(app, *(f"Ada owns book number {n}." for n in range(60)), "Ada has a cat named Tom.")
    contents = shown(consolidation, message("My cat Tom is ill."), message("hello"))
    assert "Ada has a cat named Tom." in contents
    assert len(contents) <= 2 * known_memories.EACH


def test_no_more_are_shown_than_a_prompt_holds(app: Database, consolidation: Consolidation) -> None:
    remember(app, *(f"Ada owns book number {n}." for n in range(90)))
    asked = [message(f"I sold book number {n}.") for n in range(90)]
    assert len(shown(consolidation, *asked)) <= known_memories.MOST


def test_memories_with_a_slot_are_shown_whatever_is_said(app: Database, consolidation: Consolidation) -> None:
    remember(app, *(f"Ada owns book number {n}." for n in range(60)))
    remember(app, "Ada lives in Berlin.", attribute="home.city", value="Berlin")
    assert "Ada lives in Berlin." in shown(consolidation, message("The book was long."))


def test_memories_of_others_groups_and_audiences_are_not_shown(app: Database, consolidation: Consolidation) -> None:
    remember(app, "Bob has a cat named Tom.", owner=Owner("bob"))
    remember(app, "The team has a cat named Tom.", owner=Owner("ada", "team"))
    remember(app, "Finance has a cat named Tom.", audience_labels=("finance",))
    remember(app, "Ada has a cat named Tom.")
    assert shown(consolidation, message("My cat Tom is ill.")) == ["Ada has a cat named Tom."]
    assert shown(consolidation, message("My cat Tom is ill.", audience_labels=("finance",))) == [
        "Finance has a cat named Tom."
    ]


def test_beside_the_words_of_several_people_only_what_was_said_in_their_group_is_shown(
    app: Database, consolidation: Consolidation
) -> None:
    remember(app, "Ada has a cat named Tom.")
    remember(app, "Bob likes the cat Tom.", owner=Owner("bob"))
    remember(app, "The team has a cat named Tom.", owner=Owner("bob", "team"))
    cat = "The cat Tom is ill."
    both = message(cat), message(cat, user_id="bob")
    assert known_memories.of_window(consolidation, TENANT, Window([], both)) is None
    in_group = [replace(said, group_id="team") for said in both]
    assert shown(consolidation, *in_group) == ["The team has a cat named Tom."]


def test_what_is_derived_from_others_is_not_shown(app: Database, consolidation: Consolidation) -> None:
    remember(app, "Ada talks of her cat Tom.", category=Category.EPISODE)
    remember(app, "Ada often talks of her cat Tom.", category=Category.PATTERN)
    assert shown(consolidation, message("My cat Tom is ill.")) == []


@dataclass(frozen=True, slots=True)
class Ending:
    """A paid extractor: every message is a statement, and ends all that it is shown."""

    name: str = "ending"
    prompt: str = "ending.v1"
    shown: list[Sequence[KnownMemory] | None] = field(default_factory=list)

    def read(self, window: Window, _on_call: object) -> Reading:
        self.shown.append(window.memories)
        related = Relations(ends=tuple(Ended(Shown(memory.id, memory.version)) for memory in window.memories or ()))
        return Reading([replace(_statement(m), relations=related) for m in window.fresh])


def _statement(m: Message) -> Candidate:
    cited = (Evidence(m.session_id, m.id, m.event_id, m.content),)
    return Candidate(m.content, Category.FACT, Topic.OTHER, "ada", cited, m.occurred_at)


def test_a_paid_extractor_is_shown_what_is_known_and_ends_it(app: Database, consolidation: Consolidation) -> None:
    reader, extractor = _reader()
    for session, content in (("s1", "I live in Berlin."), ("s2", "We got the keys in Porto.")):
        accept(app, said(content, session=session))
        with app.tenant(TENANT) as tx:
            extraction.extract_new(consolidation, TENANT, session, reader, limit=99).write(tx, PERSON)
    assert [[memory.content for memory in known or ()] for known in extractor.shown] == [[], ["I live in Berlin."]]
    with app.tenant(TENANT) as tx:
        rows = tx.exec_driver_sql("SELECT content, status FROM memories ORDER BY content").all()
    assert [tuple(row) for row in rows] == [
        ("I live in Berlin.", "superseded"),
        ("We got the keys in Porto.", "active"),
    ]


def test_of_a_long_session_one_window_is_read_before_its_results_are_written(
    app: Database, consolidation: Consolidation
) -> None:
    reader, extractor = _reader()
    accept(app, *(said(f"Ada keeps {n} bees in a hive.") for n in range(2, 50)))
    first = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert (first.read_from, first.read_to, first.more, len(extractor.shown)) == (0, 40, True, 1)


def _reader() -> tuple[SessionReader, Ending]:
    extractor = Ending()
    return SessionReader(extractor, lambda _: None, least_novelty=0), extractor


@dataclass(frozen=True, slots=True)
class Knowing:
    """A trained reader that knows what ends which memory."""

    ended: str

    def ends(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([1.0 if "stopped" in text else -5.0 for text in texts], dtype=np.float32)

    def over(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.array([5.0 if earlier == self.ended else -5.0 for _, earlier in pairs], dtype=np.float32)

    def which(self, text: str, earlier: Sequence[str]) -> NDArray[np.float32]:
        return self.over([(text, each) for each in earlier])

    def leans(self, sentences: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.full(len(sentences), -5.0, dtype=np.float32)


def test_what_a_sentence_is_likely_to_end_is_shown_however_little_they_share(
    app: Database, consolidation: Consolidation
) -> None:
    wine = "Ada has a glass of Pinot with dinner."
    remember(app, wine, *(f"I stopped at {n}." for n in range(known_memories.EACH + 3)))
    stopped = message("Hello. I stopped at dinner.")
    assert wine not in shown(consolidation, stopped)
    assert wine in shown(replace(consolidation, reader=Knowing(wine)), stopped)
    assert wine not in shown(replace(consolidation, reader=Knowing(wine)), replace(stopped, role="assistant"))
