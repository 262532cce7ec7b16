from __future__ import annotations

import pytest
from sqlalchemy import text

from core.index.resident import vectors
from core.search import filters, query
from core.storage.db import Database
from tests.core.index.resident.kept import WORDS, answered, cold, living, view
from tests.core.search.searching import EMBEDDER, contents, remember, search
from tests.questions import question as a_question
from tests.samples import TENANT


def test_the_least_likeness_holds_in_a_large_store_whose_vectors_are_rounded(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(24):
        remember(app, f"Ada has {WORDS[n % 6]} and {WORDS[n % 5]} number {n}.")
    asked = {"min_similarity": 0.3, "limit": 5}
    small, total = answered(app, "tea and rain", **asked), considered(app, "tea and rain", 0.3)
    cold(app)
    for module, name, value in (
        (vectors, "SIGNS_FROM", 10),
        (vectors, "SIGN_CANDIDATES", 8),
        (filters, "READ_ALL", 10),
    ):
        monkeypatch.setattr(module, name, value)
    assert view(app).segments[0].columns.vectors.signs is not None
    large = answered(app, "tea and rain", **asked)
    assert [(key, sources) for key, _, sources in large] == [(key, sources) for key, _, sources in small]
    assert [score for _, score, _ in large] == pytest.approx([score for _, score, _ in small], abs=0.002)
    assert considered(app, "tea and rain", 0.3) == total
    assert 5 < total < 24


def considered(app: Database, words: str, least: float) -> int:
    return query.search(app, TENANT, a_question(words, min_similarity=least), EMBEDDER).total


def test_what_comes_upon_a_large_layer_is_compared_beside_it(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((vectors, "SIGNS_FROM", 20), (filters, "READ_ALL", 10), (filters, "ARM_LIMIT", 12)):
        monkeypatch.setattr(module, name, value)
    for n in range(30):
        remember(app, f"Ada has {WORDS[n % 6]} number {n}.")
    view(app)
    remember(app, "Ada sails to Lisbon with a violin.")
    layers = view(app).segments
    assert [len(one) for one in layers] == [30, 1]
    assert [one.columns.vectors.signs is None for one in layers] == [False, True]
    kept = answered(app, "Who sails with a violin?", limit=3)
    cold(app)
    assert answered(app, "Who sails with a violin?", limit=3) == kept
    assert contents(search(app, "Who sails with a violin?", method="vector"))[0] == "Ada sails to Lisbon with a violin."


def test_what_goes_from_a_lower_layer_is_gone(app: Database) -> None:
    for n in range(30):
        remember(app, f"Ada has tea number {n}.")
    view(app)
    for n in range(30, 36):
        remember(app, f"Ada has tea number {n}.")
    seen = view(app)
    assert [len(layer) for layer in seen.segments] == [30, 6]
    key = str(seen.keys[0])
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM search_index WHERE ref = :id"), {"id": key})
    assert key not in living(view(app))
