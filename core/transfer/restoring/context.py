"""Context of the restoring of every file: the import, its user, and what has become of the lines so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self
from uuid import UUID

from core.config import Settings
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.embedders import Embedder
from core.memory import receipts
from core.sessions.restoration import Fate
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.transfer.seals import Seals
from core.types import Json

ERASED: Final = "was erased for this user"
ELSEWHERE: Final = "its session or its id belongs to another user of the tenant"


@dataclass(frozen=True, slots=True)
class Context:
    """An import that is restored. `author`: with the event that asked for it, which is also the `cause` of all."""

    db: Database
    embedder: Embedder
    settings: Settings
    tenant_id: str
    user_id: str
    import_id: UUID
    author: Author
    cause: Cause
    limits: TenantLimits

    @property
    def seals(self) -> Seals | None:
        """The seals of this installation; None where it has no key."""
        signer = receipts.signer_of(self.settings)
        return None if signer is None else Seals(signer, self.tenant_id, self.user_id)


@dataclass(slots=True)
class LineTally:
    """Tally of the lines so far. `lines`: of each file."""

    lines: dict[str, int] = field(default_factory=dict)
    restored: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, report: Json) -> Self:
        return cls(
            report.get("lines", {}), *(Counter(report.get(name, {})) for name in ("restored", "known", "left_out"))
        )

    def count(self, file: str, fate: Fate | str) -> None:
        """Count a line; a fate that is not `restored` or `known` is the reason for which it is left out."""
        if fate == "restored":
            self.restored[file] += 1
        elif fate == "known":
            self.known[file] += 1
        else:
            self.left_out[f"{file}: {ELSEWHERE if fate == 'of another' else fate}"] += 1

    def as_json(self) -> Json:
        counted = {name: dict(getattr(self, name)) for name in ("restored", "known", "left_out")}
        return {"lines": self.lines, **counted}


@dataclass(frozen=True, slots=True)
class ErasedUntil:
    """Times of the erasures of a user and of groups: what was said until then is not restored."""

    user: datetime | None
    groups: Mapping[str, datetime]

    def covers(self, at: datetime, group_id: str | None) -> bool:
        """Return whether something said at a time, in a group or none, was erased."""
        times = (self.user, self.groups.get(group_id) if group_id is not None else None)
        return any(until is not None and at <= until for until in times)
