from __future__ import annotations

import pytest

from api.cli.commands.memories.reembed import reembed
from core.index import reembedding
from core.inference.embedders import HashEmbedder
from core.storage import db, vector_spaces
from tests.core.storage.two_models import NEW, OLD, Both, both, found, learn, left, model
from tests.samples import TENANT

__all__ = ["both"]


def test_what_a_late_process_left_in_a_place_is_not_taken_for_vectors_of_the_next_model(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(both.old, "Ada has a cat.", OLD)
    reembedding.fill(both.new, TENANT, NEW, lambda _: None)
    assert left(both.settings, vector_spaces.FIRST) == model(OLD)
    reembedding.clear(both.old, TENANT)
    learn(both.old, "Ada sings.", HashEmbedder(7))
    monkeypatch.setenv("IMPRINT_HOME", str(both.settings.home))
    monkeypatch.setenv("IMPRINT_DATABASE_URL", db.owner_url(both.settings).render_as_string(hide_password=False))
    monkeypatch.setenv("IMPRINT_EMBEDDING", "hash")
    reembed()
    assert found(both.old, "Ada sings.", OLD)["Ada sings."] == pytest.approx(1, abs=1e-3)
