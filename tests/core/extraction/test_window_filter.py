from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.consolidation.pipeline import Consolidation
from core.extraction import window_filter
from core.extraction.protocol import Window
from core.extraction.window_filter import SkipReason
from core.inference.embedders import HashEmbedder
from core.memory.changes import Owner
from core.storage.db import Database
from core.types import Message
from tests.factories import EMBEDDER, NOON, a_memory, carry_out
from tests.samples import TENANT

KNOWN = "Ada plays chess on Sunday with Bob."


class Counting(HashEmbedder):
    """An embedder that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().embed(texts)


def window(*contents: str, number: int = 1, **fields: Any) -> Window:
    messages = [
        Message("s1", f"m{number}-{n}", n, "e1", fields.get("user", "ada"), "user", content, NOON, "Ada",
                fields.get("group"))
        for n, content in enumerate(contents, 1)
    ]  # fmt: skip
    return Window([], messages)


def sifted(app: Database, *windows: Window, least: float = 0.35) -> list[SkipReason | None]:
    consolidation = Consolidation(app, EMBEDDER)
    return window_filter.sift(consolidation, TENANT, windows, least_characters=10, least_novelty=least)


@pytest.fixture
def chess(app: Database) -> None:
    carry_out(app, a_memory(KNOWN))


@pytest.mark.usefixtures("chess")
def test_a_window_is_skipped_for_saying_nothing_or_nothing_new_and_read_otherwise(app: Database) -> None:
    trivial, known, new = window("ok, thanks!"), window(KNOWN, number=2), window("I moved to Porto.", number=3)
    assert sifted(app, trivial, known, new) == [SkipReason.TRIVIAL, SkipReason.KNOWN, None]


@pytest.mark.usefixtures("chess")
def test_a_window_is_as_new_as_the_newest_of_its_messages(app: Database) -> None:
    assert sifted(app, window(KNOWN, "I moved to Porto.")) == [None]


@pytest.mark.usefixtures("chess")
def test_a_correction_and_a_standing_wish_are_read_however_much_of_them_is_known(app: Database) -> None:
    assert sifted(app, window(f"No, that is wrong: {KNOWN}"), window(f"Remember: {KNOWN}", number=2)) == [None, None]


@pytest.mark.usefixtures("chess")
def test_what_is_known_of_one_user_or_in_one_group_is_new_of_another(app: Database) -> None:
    carry_out(app, a_memory("Bob has a boat."), owner=Owner("bob"))
    assert sifted(app, window(KNOWN, user="bob"), window(KNOWN, number=2, group="crew")) == [None, None]


def test_of_a_user_without_memories_nothing_is_embedded(app: Database) -> None:
    embedder = Counting()
    consolidation = Consolidation(app, embedder)
    found = window_filter.sift(consolidation, TENANT, [window(KNOWN)], least_characters=10, least_novelty=0.35)
    assert (found, embedder.asked) == ([None], [])


@pytest.mark.usefixtures("chess")
def test_without_a_bound_for_novelty_nothing_is_compared(app: Database) -> None:
    assert sifted(app, window(KNOWN), window("ok, thanks!", number=2), least=0) == [None, SkipReason.TRIVIAL]


@pytest.mark.usefixtures("chess")
def test_of_a_long_message_the_beginning_alone_is_embedded(app: Database) -> None:
    embedder = Counting()
    long = f"{KNOWN} And more of it. " * 200
    window_filter.sift(Consolidation(app, embedder), TENANT, [window(long)], least_characters=10, least_novelty=0.35)
    assert [len(one) for one in embedder.asked] == [window_filter.EMBEDDED_CHARACTERS]


def test_by_words_alone_only_what_says_nothing_is_skipped() -> None:
    assert window_filter.sift_by_words([window("ok, thanks!"), window(KNOWN)], 10) == [SkipReason.TRIVIAL, None]
