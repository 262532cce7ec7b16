"""Seals: signatures by which an installation knows memories that it exported as pinned or confirmed itself. Pure.

Whoever writes an archive can call a statement confirmed. Only what this installation signed, for the same tenant and
user, and in the same words, comes back with the authority that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.memory import receipts
from core.memory.receipts import Signer
from core.types import Category, Json, Trust

SEALED: Final = ("category", "content", "structured", "attribute", "value", "trust", "pinned")
"""Fields of a memory's line that its seal covers."""

PURPOSE: Final = "archived memory"
"""Told in what is signed, so that no other signature of the same key passes for a seal."""


@dataclass(frozen=True, slots=True)
class Seals:
    """Seals of one user's memories."""

    signer: Signer
    tenant_id: str
    user_id: str

    def sealed(self, row: Mapping[str, Any]) -> Json:
        """Return the line of a memory, with a seal if it is pinned or a confirmed instruction."""
        return {**row, "seal": self.signer.sign(self._body(row))} if has_authority(row) else dict(row)

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether the line of a memory has the seal of this installation."""
        seal = row.get("seal")
        return isinstance(seal, str) and receipts.verify(self._body(row), seal, self.signer.public_key)

    def _body(self, row: Mapping[str, Any]) -> Json:
        fields = {name: row[name] for name in SEALED}
        return {"purpose": PURPOSE, "tenant": self.tenant_id, "user": self.user_id, **fields}


def has_authority(row: Mapping[str, Any]) -> bool:
    """Return whether a memory speaks with the system's voice, or is kept from fading."""
    return bool(row["pinned"]) or (row["category"] == Category.INSTRUCTION and row["trust"] == Trust.CONFIRMED)
