"""Memories of things done again and again, each with evidence of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from core.memory.changes import Add
from core.types import Category, Evidence
from tests.factories import NOW, a_memory

RUNS = [f"Ada went running by the river with {name}." for name in ("Bob", "Carla", "Ines", "Tom", "Olga", "Marek")]


def said(content: str, place: int = 0, **fields: Any) -> Add:
    quote = (Evidence(f"s{place}", f"m{place}", f"e{place}", content),)
    plain = {"evidence": quote, "occurred_at": NOW + timedelta(days=3 * place), "category": Category.EVENT}
    return a_memory(content, **(plain | fields))


def in_turn(contents: Sequence[str], first: int = 0, **fields: Any) -> list[Add]:
    return [said(content, place, **fields) for place, content in enumerate(contents, first)]
