"""The embedding model of a tenant, and its change to another.

A tenant without a row here has the model of the installation. Otherwise the row names the model of its vectors, the
column they are in (`core.storage.vector_spaces`), and, during a change, the model in the other column.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, Self

from sqlalchemy import text

from core.errors import Conflict
from core.storage.db import Tx
from core.storage.vector_spaces import OTHER, SCHEMAS, EmbeddingModel
from core.tenancy import settings_rows
from core.types import Json

SETTING: Final = "embedding"
"""Name of the row in `tenant_settings`."""

State = Literal["settled", "clearing", "filling", "leaving", "removing"]
"""`clearing`, `filling`: the other column is emptied, then gets the vectors of the next model, which then takes over.
`leaving`: the other column has those of the model before, for work that began with it. `removing`: they are deleted.
"""


@dataclass(frozen=True, slots=True)
class TenantEmbedding:
    """Model and column of a tenant's vectors; `other`: the model of the other column; `until`: when it is removed."""

    model: EmbeddingModel
    place: str
    other: EmbeddingModel | None = None
    state: State = "settled"
    until: datetime | None = None

    @property
    def schema(self) -> str:
        """Schema of the vectors that are used."""
        return SCHEMAS[self.place]

    @property
    def other_schema(self) -> str:
        """Schema of the other column."""
        return SCHEMAS[OTHER[self.place]]

    def asking(self, requested: EmbeddingModel, until: datetime) -> Self:
        """Return the state after a request for a model. `until`: when vectors that nobody wants are removed.

        Conflict: the vectors of a third model are in the other column.
        """
        if requested == self.model:
            given_up = self.state in {"clearing", "filling"}
            return replace(self, state="leaving", until=until) if given_up else self
        if self.other is None:
            return replace(self, other=requested, state="clearing")
        if requested != self.other or self.state == "removing":
            left = self.state in {"leaving", "removing"}
            doing = "removed, which a worker does after the longest running job" if left else "made"
            raise Conflict(f"The vectors of {self.other.name} are being {doing}. Ask again when that is over.")
        return replace(self, state="filling", until=None) if self.state == "leaving" else self

    def switched(self, until: datetime) -> Self:
        """Return the state after the other model has taken over. `until`: when the vectors before it are removed."""
        if self.other is None:
            return self
        return replace(self, model=self.other, place=OTHER[self.place], other=self.model, state="leaving", until=until)

    def settled(self) -> Self:
        """Return the state after the other column has been emptied."""
        return replace(self, other=None, state="settled", until=None)


def parse(value: Json | None) -> TenantEmbedding | None:
    """Return what is stored; None: the tenant has the model of the installation."""
    if not value:
        return None
    other, until = value.get("other"), value.get("until")
    return TenantEmbedding(
        EmbeddingModel(*value["model"]),
        value["place"],
        EmbeddingModel(*other) if other else None,
        value["state"],
        datetime.fromisoformat(until) if until else None,
    )


def read(tx: Tx, tenant_id: str, *, lock: bool = False) -> TenantEmbedding | None:
    """Return the tenant's model; None: that of the installation. `lock`: nobody else changes it in the meantime."""
    return parse(settings_rows.read(tx, tenant_id, SETTING, lock=lock))


def write(tx: Tx, tenant_id: str, chosen: TenantEmbedding) -> None:
    """Store the model of a tenant."""
    value: dict[str, Any] = asdict(chosen) | {"until": chosen.until and chosen.until.isoformat()}
    settings_rows.write(tx, tenant_id, SETTING, value)


def forget(tx: Tx, tenant_id: str) -> None:
    """Give a tenant the model of the installation, whose vectors it has."""
    tx.execute(_DELETE, {"tenant": tenant_id, "name": SETTING})


_DELETE = text("DELETE FROM tenant_settings WHERE tenant_id = :tenant AND name = :name")
