"""Ten memories that say much the same."""

from __future__ import annotations

from typing import Any

from core.memory.changes import Add
from tests.factories import a_memory

RUNS = [f"Ada ran {n} km along the river with {name} in the morning." for n, name in enumerate(
    ("Bob", "Carla", "Ines", "Tom", "Marek", "Olga", "Yusuf", "Kenji", "Nadia", "Lena"), 3
)]  # fmt: skip


def runs(count: int = 10, **fields: Any) -> list[Add]:
    return [a_memory(said, **fields) for said in RUNS[:count]]
