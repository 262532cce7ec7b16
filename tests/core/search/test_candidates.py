from __future__ import annotations

import numpy as np

from core.index.resident.encoding import SEPARATOR
from core.search import candidates
from core.search.candidates import Hit

MESSAGE = Hit(f"s1{SEPARATOR}m1", "message", 0.5, 0.25, "s1", 3, at=7.0, role="user", speaker="Ada", asks=True)
MEMORY = Hit("memory-1", "memory", 0.1, None, cites=(MESSAGE.key, "not here"))


def test_a_hit_comes_back_as_it_was_put_in() -> None:
    found = candidates.of([MESSAGE, MEMORY])
    message, memory = found.hit(0), found.hit(1)
    assert (message.key, message.session_id, message.position, message.cosine) == (MESSAGE.key, "s1", 3, 0.25)
    assert (message.role, message.at, message.asks) == ("user", 7.0, True)
    assert (memory.type, memory.session_id, memory.cosine) == ("memory", None, None)


def test_a_memory_cites_only_the_messages_that_are_there() -> None:
    found = candidates.of([MESSAGE, MEMORY])
    assert found.hit(1).cites == (MESSAGE.key,)
    assert found.citations.tolist() == [[1, 0]]


def test_sessions_and_speakers_are_numbered_on_from_those_that_are_known() -> None:
    known = {"s0": 0}
    found = candidates.of([MESSAGE], known, {"Bob": 0})
    assert found.session_ids == {"s0": 0, "s1": 1}
    assert found.speaker.tolist() == [1]
    assert known == {"s0": 0}


def test_without_hits_every_column_is_empty() -> None:
    found = candidates.of([])
    assert len(found) == 0
    assert found.citations.shape == (0, 2)
    assert found.cosine.dtype == np.float64
