"""Known memories that the messages of a window may repeat or end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.consolidation import endings, judge
from core.consolidation.pipeline import Consolidation
from core.extraction.informativeness import SPEAKERS
from core.extraction.protocol import Window
from core.inference.sound_vectors import embed_sound
from core.language import sentences
from core.memory import memories
from core.memory.codes import LONGEST
from core.memory.identity import KnownMemory
from core.memory.memories import ACTIVE_SQL, KNOWN, PLACE_SQL, known_of
from core.memory.nearest_vectors import Near
from core.types import Category, Json, Message

MOST: Final = 160
"""Memories that are shown with a window, at most: some 5,000 tokens."""

FEWEST: Final = 20
EACH_MESSAGE: Final = 4
"""Memories that are shown at least, and with each message: a short exchange is not to cost a long prompt."""

EACH: Final = 10
"""Memories by each message, the nearest."""

SLOTS: Final = 10
"""Memories with a slot that are shown in any case, those said last."""

SLOTS_READ: Final = 500
"""Memories with a slot, any, among which those said last are looked for: people have fewer."""

ENDED: Final = 0.4
"""Share of the memories that are shown because a sentence is likely to end them."""

MAY_END: Final = -0.5
"""Log-odds of ending anything from which a sentence is read beside the memories nearest to it: it costs little here."""

SENTENCES: Final = 24
"""Sentences of a window that are read so, the likeliest to end anything: with 20 memories each, two seconds."""

DERIVED: Final = frozenset({Category.EPISODE, Category.PATTERN})
"""Categories of memories that are made of others, and end with these."""

WITHOUT_SLOT: Final = sorted(category.value for category in DERIVED | judge.WITH_OWN_SLOT)
"""Categories whose slot says nothing of a person."""

READ: Final = 200
"""Sentences of a window, the first, that the trained reader reads at all."""

COMPARED_CHARACTERS: Final = 1000
"""Characters of a message that memories are compared with."""


def of_window(consolidation: Consolidation, tenant_id: str, window: Window) -> list[KnownMemory] | None:
    """Return the memories that a window may touch, in the order said; None: the window is of several people.

    They were said in the same group and to the same audience. What one person has told in private is not shown beside
    the words of another, so several people are shown the memories of a group alone. No transaction is open while the
    embedder and the trained reader run.
    """
    users = list(dict.fromkeys(message.user_id for message in window.fresh))
    if len(users) > 1 and window.fresh[0].group_id is None:
        return None
    memories_by_id: dict[UUID, KnownMemory] = {}
    for user_id in users:
        own = [message for message in window.fresh if message.user_id == user_id and message.role in SPEAKERS]
        memories_by_id |= _of_user(consolidation, tenant_id, user_id, own, MOST // len(users))
    return sorted(memories_by_id.values(), key=lambda memory: memory.told_at)


@dataclass(frozen=True, slots=True)
class _Owner:
    """A speaker and the place of their messages: whose memories, said where, are looked for."""

    consolidation: Consolidation
    tenant_id: str
    user_id: str
    scope: Json

    def nearest(self, texts: Sequence[str], each: int) -> tuple[list[Near], dict[UUID, KnownMemory]]:
        """Return the memories nearest to each text, and their contents."""
        vectors = embed_sound(self.consolidation.embedder, texts)
        with self.consolidation.db.tenant(self.tenant_id) as tx:
            near, rows = memories.nearest_active(tx, self.user_id, vectors, each, self.scope)
        every = {memory_id: known_of(row) for memory_id, row in rows.items()}
        own = {memory_id: memory for memory_id, memory in every.items() if memory.category not in DERIVED}
        return [[pair for pair in pairs if pair[0] in own] for pairs in near], own


def _of_user(
    consolidation: Consolidation, tenant_id: str, user_id: str, messages: Sequence[Message], limit: int
) -> dict[UUID, KnownMemory]:
    spoken = [message for message in messages if message.content.strip()]
    if not spoken:
        return {}
    scope = {"group": spoken[0].group_id, "labels": sorted(spoken[0].audience_labels), "anywhere": False}
    owner = _Owner(consolidation, tenant_id, user_id, scope)
    with consolidation.db.tenant(tenant_id) as tx:
        if tx.execute(_ANY, {"user": user_id}).first() is None:
            return {}
        slots = [
            known_of(row)
            for row in tx.execute(_WITH_SLOTS, {"user": user_id, "most": SLOTS, "without": WITHOUT_SLOT, **scope})
        ]
    near, contents = owner.nearest([message.content[:COMPARED_CHARACTERS] for message in spoken], EACH)
    cosines = _best(pair for pairs in near for pair in pairs)
    most = min(limit, FEWEST + EACH_MESSAGE * len(spoken))
    likely = _likely_ended(owner, spoken)[: round(ENDED * most)]
    candidates = [*slots, *likely, *(contents[memory_id] for memory_id in cosines)]
    chosen = {memory.id: memory for memory in candidates}
    return dict(list(chosen.items())[:most])


def _likely_ended(owner: _Owner, messages: Sequence[Message]) -> list[KnownMemory]:
    """Return the memories that the sentences of people are likely to end, the likeliest first, by the trained reader.

    Many are far from what ends them: "no wine since July" and "one glass of Pinot with dinner" share no word.
    """
    reader = owner.consolidation.reader
    sentences_said = [
        sentence for message in messages if message.role == "user" for sentence in sentences.split(message.content)
    ]
    texts = [text for text in dict.fromkeys(sentences_said) if 0 < len(text) <= LONGEST][:READ]
    if reader is None or not texts:
        return []
    ranked = sorted(zip(reader.ends(texts).tolist(), texts, strict=True), reverse=True)[:SENTENCES]
    chosen = [text for log_odds, text in ranked if log_odds >= MAY_END]
    if not chosen:
        return []
    near, contents = owner.nearest(chosen, endings.NEAREST)
    pairs = [
        (text, memory_id)
        for text, ids in zip(chosen, near, strict=True)
        for memory_id, _ in ids
        if len(contents[memory_id].content) <= LONGEST
    ]
    readings = endings.read(reader, [(text, contents[memory_id].content) for text, memory_id in pairs])
    rated = _best((memory_id, readings[text, contents[memory_id].content].likely) for text, memory_id in pairs)
    return [contents[memory_id] for memory_id in rated]


def _best(rated: Iterable[tuple[UUID, float]]) -> dict[UUID, float]:
    """Return the best value of each memory, the best first."""
    best: dict[UUID, float] = {}
    for memory_id, value in rated:
        best[memory_id] = max(value, best.get(memory_id, value))
    return dict(sorted(best.items(), key=lambda pair: -pair[1]))


_ANY = text("SELECT FROM memories WHERE user_id = :user LIMIT 1")

_WITH_SLOTS = text(f"""
    SELECT * FROM (
        SELECT {KNOWN} FROM memories m
        WHERE m.user_id = :user AND m.attribute IS NOT NULL AND m.category <> ALL (:without)
              AND {ACTIVE_SQL} AND {PLACE_SQL}
        LIMIT {SLOTS_READ}) AS read
    ORDER BY coalesce(said_at, occurred_at) DESC, id LIMIT :most
""")
