"""Questions with their filters written in one line."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from core.search.filters import Filters
from core.search.question import Question

FILTERS = {field.name for field in fields(Filters)}


def question(words: str, user: str | None = "ada", **asked: Any) -> Question:
    """Return a question; filters may be named beside its other fields."""
    filters = {name: asked.pop(name) for name in FILTERS & asked.keys()}
    return Question(words, user, filters=Filters(**filters), **asked)
