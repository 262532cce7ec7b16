"""Ownership of the two vector columns by embedding models.

Which column a process works with, it reads from the database when it starts, by the name of its own model. A tenant
with a model of its own (`core.tenancy.embedding`) names the models of both columns of its own rows. The second column
is visible in the schema `second`, in which `search_index` is a view of the same rows with that column as `embedding`;
nothing else refers to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from sqlalchemy import text

from core.errors import Misconfigured
from core.storage.db import Tx

FIRST: Final = "first"
SECOND: Final = "second"

SCHEMAS: Final[Mapping[str, str]] = {FIRST: "public", SECOND: "second"}

OTHER: Final[Mapping[str, str]] = {FIRST: SECOND, SECOND: FIRST}

NAMES: Final[Mapping[str, str]] = {FIRST: "embedding", SECOND: "embedding.second"}
"""Prefixes of the rows of `deployment` that name the model of each vector column."""


class EmbeddingModel(NamedTuple):
    """An embedding model: its name, and the length of its vectors."""

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension})"


def models_by_place(tx: Tx) -> dict[str, EmbeddingModel]:
    """Return the model of each column of vectors; a column that is not named is free."""
    stored = {row.name: row.value for row in tx.execute(_FACTS)}
    return {
        column: EmbeddingModel(stored[f"{name}.model"], int(stored[f"{name}.dimension"]))
        for column, name in NAMES.items()
        if f"{name}.model" in stored
    }


def of(tx: Tx, model: EmbeddingModel) -> str | None:
    """Return the column with a model's vectors, or None."""
    return next((column for column, held in models_by_place(tx).items() if held == model), None)


def reserve(tx: Tx, model: EmbeddingModel) -> str:
    """Return the column of a model's vectors, reserving a free one if needed; as the owner.

    Misconfigured: both are taken.
    """
    held = models_by_place(tx)
    mine = next((column for column, other in held.items() if other == model), None)
    column = mine or next((column for column in NAMES if column not in held), None)
    if column is None:
        others = " and ".join(str(other) for other in held.values())
        raise Misconfigured(f"There are vectors of {others}. Finish that change first: imprint memory reembed --finish")
    for part, value in zip(("model", "dimension"), map(str, model), strict=True):
        tx.execute(_NAME, {"name": f"{NAMES[column]}.{part}", "value": value})
    return column


def release(tx: Tx, column: str) -> EmbeddingModel | None:
    """Release a column, as the owner, so that no process finds its vectors; return their model."""
    held = models_by_place(tx)
    if len(held) < len(NAMES):
        return None
    tx.execute(_FORGET, {"names": [f"{NAMES[column]}.model", f"{NAMES[column]}.dimension"]})
    return held[column]


_FACTS = text("SELECT name, value FROM deployment WHERE name LIKE 'embedding.%'")

_NAME = text("""
    INSERT INTO deployment (name, value) VALUES (:name, :value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
""")

_FORGET = text("DELETE FROM deployment WHERE name = ANY(:names)")
