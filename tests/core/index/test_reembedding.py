from __future__ import annotations

import pytest

from core.errors import Misconfigured
from core.index import reembedding
from core.storage import schema_version, vector_spaces
from core.storage.vector_spaces import EmbeddingModel
from tests.core.storage.two_models import NEW, OLD, Both, found, learn, left, model, taken
from tests.samples import TENANT, accept, said
from tests.works import at_work


def test_messages_are_filled_in_as_well_and_nothing_is_made_twice(both: Both) -> None:
    accept(both.old, said("I live in Lisbon."))
    with at_work(both.settings) as works:
        works.settle()
    learn(both.old, "Ada sings.", OLD)
    pages: list[int] = []
    assert reembedding.fill(both.new, TENANT, NEW, pages.append) == sum(pages) == 2
    assert reembedding.fill(both.new, TENANT, NEW, pages.append) == 0


def test_when_it_is_finished_the_old_vectors_go_and_their_place_is_free_again(both: Both) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    reembedding.fill(both.new, TENANT, NEW, lambda _: None)
    assert left(both.settings, vector_spaces.FIRST) == model(OLD)
    assert reembedding.clear(both.old, TENANT) == 1
    assert found(both.new, "Ada has a cat.", NEW)["Ada has a cat."] == pytest.approx(1, abs=1e-3)
    with pytest.raises(Misconfigured):
        schema_version.require_current(both.new, model(OLD))
    assert left(both.settings, vector_spaces.SECOND) is None, "the only ones are not given up"
    assert taken(both.settings, EmbeddingModel("hash", 7)) == vector_spaces.FIRST
