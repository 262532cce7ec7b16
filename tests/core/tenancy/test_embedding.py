from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.errors import Conflict
from core.storage.db import Database
from core.storage.vector_spaces import EmbeddingModel
from core.tenancy import embedding
from core.tenancy.embedding import TenantEmbedding
from tests.samples import TENANT

ONE, TWO, THREE = (EmbeddingModel(name, 384) for name in ("one", "two", "three"))
LATER = datetime(2026, 12, 1, tzinfo=UTC)
FILLING = TenantEmbedding(ONE, "first", TWO, "filling")


def test_what_is_written_is_read(app: Database) -> None:
    switched = FILLING.switched(LATER)
    with app.tenant(TENANT) as tx:
        assert embedding.read(tx, TENANT) is None
        embedding.write(tx, TENANT, switched)
        assert embedding.read(tx, TENANT, lock=True) == switched
        embedding.forget(tx, TENANT)
        assert embedding.read(tx, TENANT) is None
    assert (switched.model, switched.schema, switched.other, switched.other_schema) == (TWO, "second", ONE, "public")


def test_a_change_can_be_given_up_and_taken_back() -> None:
    given_up = FILLING.asking(ONE, LATER)
    assert given_up == replace(FILLING, state="leaving", until=LATER)
    assert given_up.asking(TWO, LATER) == FILLING


@pytest.mark.parametrize("state", ["clearing", "filling", "leaving", "removing"])
def test_a_third_model_waits(state: embedding.State) -> None:
    with pytest.raises(Conflict, match="two"):
        replace(FILLING, state=state).asking(THREE, LATER)


def test_vectors_that_are_being_removed_are_not_taken_back() -> None:
    with pytest.raises(Conflict, match="removed"):
        replace(FILLING, state="removing").asking(TWO, LATER)
