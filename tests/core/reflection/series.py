"""Memories of things done again and again, each with evidence of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from core.inference.embedders import HashEmbedder
from core.memory.changes import Add
from core.reflection import generalization, patterns
from core.storage.db import Database
from core.types import Category, Evidence, Json
from tests.factories import NOW, PERSON, a_memory
from tests.samples import TENANT

RUNS = [f"Ada went running by the river with {name}." for name in ("Bob", "Carla", "Ines", "Tom", "Olga", "Marek")]


def said(content: str, place: int = 0, **fields: Any) -> Add:
    quote = (Evidence(f"s{place}", f"m{place}", f"e{place}", content),)
    plain = {"evidence": quote, "occurred_at": NOW + timedelta(days=3 * place), "category": Category.EVENT}
    return a_memory(content, **(plain | fields))


def in_turn(contents: Sequence[str], first: int = 0, **fields: Any) -> list[Add]:
    return [said(content, place, **fields) for place, content in enumerate(contents, first)]


EMBEDDER = HashEmbedder()


TOKYO = [
    "The Tokyo office of Initech has 40 people.",
    "The Tokyo office of Initech opened in 2019.",
    "The Tokyo office of Initech is led by Kenji.",
    "The Tokyo office of Initech closes at 6 pm.",
]


def found(app: Database, wording: Any = generalization.by_rules, since: str | None = None, user: str = "ada") -> Json:
    looked = patterns.find(app, TENANT, user, EMBEDDER, wording, since)
    with app.tenant(TENANT) as tx:
        return looked.write(tx, PERSON)


def drawn(app: Database) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text("SELECT * FROM memories WHERE level > 0 ORDER BY id")))
