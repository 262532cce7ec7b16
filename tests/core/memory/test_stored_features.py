"""Features of words that are stored beside them: the same as if the words were read, and gone with them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from bench.talks import messages_of, talk_of
from core.covering import LONG
from core.memory import known_set, stored_features, updates
from core.memory.feature_cache import ReadMemory, UserFeatures
from core.memory.identity import KnownMemory
from core.storage.db import Database
from tests.core.consolidation.samples import a_known
from tests.factories import a_memory, carry_out
from tests.samples import TENANT

SAID = [
    "Ada keeps three rabbits in the garden of house 12.",
    "Ada said: “On Friday 3rd at 5pm I paid $300 to my brother Tom.”",
    "小红说：“我妈妈周五下午三点去北京，花了三百块。”",
    "Ada lives in Lisbon and works in the harbour, near Bob's house.",
    "",
    "so " * 2_000,
]
PIN = (2, "4117ba3647117e17")
"""Version and digest of the features of these conversations: a change of one needs a change of the other."""

TALKS = ("en-a", "zh-a")


def features_of(*memories: KnownMemory, stored: bool) -> known_set.Places:
    read = {
        str(one.id): ReadMemory(1, one, stored_features.encoded(one.content) if stored else None) for one in memories
    }
    found = UserFeatures().take(list(read), read)
    assert found is not None
    return found


def assert_alike(contents: Sequence[str]) -> None:
    memories = [a_known(one, attribute="home.city" if at % 2 else None) for at, one in enumerate(contents)]
    text, stored = features_of(*memories, stored=False), features_of(*memories, stored=True)
    for name in known_set.FEATURES.names or ():
        assert text[name].tolist() == stored[name].tolist(), name


def test_they_are_those_of_the_text() -> None:
    assert_alike(SAID)


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_whatever_the_text(contents: list[str]) -> None:
    assert_alike(contents)


def test_other_features_of_the_same_words_have_another_version() -> None:
    """Whoever changes what is computed raises `VERSION`, so that no process compares new features with old ones."""
    seen = hashlib.sha256()
    for name in TALKS:
        talk = talk_of(name)
        for message in (one for session in talk["sessions"] for one in messages_of(talk, session)):
            seen.update(_digests(message.content))
    assert (stored_features.VERSION, seen.hexdigest()[:16]) == PIN, "raise VERSION and pin both"


def _digests(content: str) -> bytes:
    """Return the features of a content without the cover of this process."""
    head = stored_features.decoded([stored_features.encoded(content)]).heads[0]
    whole = np.array([head[name] for name in stored_features.COVERED], dtype=np.uint64)
    return repr(LONG.lifted(whole).tolist()).encode()


@pytest.mark.parametrize("stored", [None, b"", b"\0" * 80])
def test_what_is_of_no_or_another_version_is_as_if_it_were_not_there(stored: bytes | None) -> None:
    memory = a_known(SAID[0])
    found = UserFeatures().take([str(memory.id)], {str(memory.id): ReadMemory(1, memory, stored)})
    assert found is not None
    assert found.tobytes() == features_of(memory, stored=True).tobytes()


def stored_of(app: Database, memory_id: UUID) -> bytes | None:
    with app.tenant(TENANT) as tx:
        row = tx.execute(text("SELECT features FROM memories WHERE id = :id"), {"id": memory_id}).one()
    return None if row.features is None else bytes(row.features)


def test_they_are_written_with_the_memory_and_leave_with_its_words(app: Database) -> None:
    tea, rabbits = a_memory("Ada drinks green tea."), a_memory("Ada keeps rabbits.")
    carry_out(app, tea, rabbits)
    assert stored_of(app, tea.id) == stored_features.encoded("Ada drinks green tea.")
    with app.tenant(TENANT) as tx:
        before = tx.execute(updates._AT_VERSION, {"id": tea.id, "version": 1}).one()
        updates.write_fields(tx, before, {"content": "Ada drinks black tea."})
        tx.execute(text("UPDATE memories SET content = '', status = 'erased' WHERE id = :id"), {"id": rabbits.id})
    assert stored_of(app, tea.id) is None
    assert stored_of(app, rabbits.id) is None


def test_the_history_of_a_memory_has_none(app: Database) -> None:
    carry_out(app, a_memory("Ada drinks green tea."))
    with app.tenant(TENANT) as tx:
        (snapshot,) = tx.execute(text("SELECT snapshot FROM memory_versions")).scalars()
    assert "features" not in snapshot
