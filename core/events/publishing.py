"""Author of a change and publish(): service events in the chain of their cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from uuid_utils.compat import uuid7

from core.events import log
from core.events.log import Announcement, Cause, Emission
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from core.types import Json


@dataclass(frozen=True, slots=True)
class Author:
    """Author of a change: an agent or a key, with rule and cause; a person's change has no cause."""

    name: str
    cause: Cause | None = None
    rule: str | None = None
    rule_version: int | None = None

    def as_json(self) -> Json:
        return {"name": self.name, "rule": self.rule, "rule_version": self.rule_version}


def publish(tx: Tx, tenant_id: str, author: Author, emissions: Sequence[Emission]) -> None:
    """Emit events about changes, in the chain of their cause or, if a person made them, as the beginning of one."""
    run_together(tx, publishing(tenant_id, author, emissions))


def publishing(tenant_id: str, author: Author, emissions: Sequence[Emission]) -> BoundStatement | None:
    """Return the statement by which `publish` does it, to be run together with others; None: there is no event."""
    if author.cause is not None:
        return log.emitting(tenant_id, author.cause, emissions)
    now = datetime.now(UTC)
    begun = [Announcement(str(uuid7()), e.event_type, now, e.payload, e.subject) for e in emissions]
    return log.announcing(tenant_id, begun)
