"""A query and its other wordings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.inference.embedders import HashEmbedder
from core.search import wordings
from core.search.question import Method, Question
from core.storage.db import Database
from tests.samples import TENANT, accept, said
from tests.works import Works


@pytest.fixture
def mother(app: Database, works: Works) -> None:
    accept(app, said("My mother Evelyn paints.", speaker="Ada"))
    works.settle()


@pytest.mark.usefixtures("mother")
def test_a_question_has_the_other_names_of_whom_it_mentions(app: Database) -> None:
    asked = wordings.with_wordings(app, TENANT, Question("Where does my mother live?", "ada"))
    assert asked.wordings == ("Where does Evelyn live?",)
    assert wordings.with_wordings(app, TENANT, asked) is asked


@pytest.mark.parametrize(
    ("query", "user", "method"),
    [
        ("Where do I live?", "ada", "hybrid"),
        ("Where does my mother live?", "bob", "hybrid"),
        ("Where does my mother live?", None, "hybrid"),
        ("Where does my mother live?", "ada", "vector"),
        (" ", "ada", "hybrid"),
    ],
)
@pytest.mark.usefixtures("mother")
def test_other_questions_have_none(app: Database, query: str, user: str | None, method: Method) -> None:
    assert wordings.with_wordings(app, TENANT, Question(query, user, method=method)).wordings == ()


def test_the_vector_of_several_wordings_is_their_mean_of_length_one() -> None:
    embedder = HashEmbedder()
    first, second = embedder.embed_queries(["Where does my mother live?", "Where does Evelyn live?"])
    plain = Question("Where does my mother live?", "ada")
    mean = wordings.vector(embedder, replace(plain, wordings=("Where does Evelyn live?",)))
    assert np.allclose(mean, (first + second) / np.linalg.norm(first + second), atol=1e-6)
    assert np.array_equal(wordings.vector(embedder, plain), first)
