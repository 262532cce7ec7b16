"""Packages with plug-ins, as if they were installed."""

from __future__ import annotations

from collections.abc import Callable

from core.config import Settings

Publish = Callable[..., None]


def with_embedding(name: str) -> Settings:
    return Settings(embedding="hash").model_copy(update={"embedding": name})
