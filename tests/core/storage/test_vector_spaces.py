"""Two models' vectors beside each other: processes with the old and the new one at work on one database."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from core.errors import Misconfigured
from core.index import reembedding
from core.memory import neighbours
from core.storage import schema_version
from core.storage.vector_spaces import EmbeddingModel
from tests.core.storage.two_models import NEW, OLD, Both, found, learn, model, taken
from tests.factories import a_candidate
from tests.samples import TENANT


def test_both_find_by_their_own_vectors_what_either_has_written(both: Both) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    assert found(both.new, "Ada has a cat.", NEW) == {"Ada has a cat.": None}, "by its words alone, as yet"
    assert reembedding.fill(both.new, TENANT, NEW, lambda _: None) == 1
    learn(both.new, "Ada has a dog.", NEW)
    with_new, with_old = found(both.new, "Ada has a cat.", NEW), found(both.old, "Ada has a cat.", OLD)
    assert with_new["Ada has a cat."] == pytest.approx(1, abs=1e-3)
    assert with_new["Ada has a dog."] is not None
    assert with_old["Ada has a cat."] == pytest.approx(1, abs=1e-3)
    assert with_old["Ada has a dog."] is None


def test_the_judge_compares_by_the_vectors_of_its_own_process(both: Both) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    reembedding.fill(both.new, TENANT, NEW, lambda _: None)
    asked = a_candidate("Ada has a cat at home.")
    with both.new.tenant(TENANT) as tx:
        (near,) = neighbours.of(tx, "ada", [asked], NEW.embed([asked.content]))
    assert near[0].similarity == pytest.approx(
        float(NEW.embed(["Ada has a cat."])[0] @ NEW.embed([asked.content])[0]), abs=1e-2
    )


def test_tenants_stay_apart_in_the_second_place(both: Both) -> None:
    learn(both.new, "Ada has a cat.", NEW)
    with both.new.tenant("globex") as tx:
        assert tx.execute(text("SELECT count(*) FROM search_index")).scalar_one() == 0
        assert tx.execute(text("UPDATE search_index SET told = 1")).rowcount == 0


def test_a_process_is_led_to_its_own_place_and_refused_where_it_has_none(both: Both) -> None:
    for embedder in (OLD, NEW):
        schema_version.require_current(both.old, model(embedder))
    with pytest.raises(Misconfigured, match="reembed"):
        schema_version.require_current(both.old, ("hash", 7))
    with pytest.raises(Misconfigured, match="--finish"):
        taken(both.settings, EmbeddingModel("hash", 7))
