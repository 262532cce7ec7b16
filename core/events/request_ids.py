"""Ids of repeatable requests, derived from idempotency key, caller, owner and interface.

The digests are keyed, so an id cannot be predicted and taken in advance, and no two users, interfaces or tenants
share one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Final, Literal

from uuid_utils import uuid7

from core.config import Settings
from core.storage import service_key
from core.types import Json

Via = Literal["http", "batch", "bulk", "bulk job", "mcp"]
"""The interface through which a request came."""

HEX_DIGITS: Final = 40
"""Hex digits of a digest: 160 bits make collisions negligible."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one tenant through one interface. `key`: the client's idempotency key."""

    secret: bytes
    tenant_id: str
    via: Via
    key: str | None

    def id_of(self, user_id: str, index: int = 0) -> str:
        """Return the id of the event of a request for this user; `index` in a batch. Without a key, a new id."""
        if self.key is None:
            return str(uuid7())
        return f"stated-{self._digest([self.via, user_id, self.key, index])}"

    def fingerprint(self, request: Json) -> str:
        """Return what distinguishes requests with the same key, without their content."""
        return self._digest(request)

    def _digest(self, value: object) -> str:
        serialized = json.dumps([self.tenant_id, value], sort_keys=True, ensure_ascii=False)
        return hmac.new(self.secret, serialized.encode(), hashlib.sha256).hexdigest()[:HEX_DIGITS]


def of(settings: Settings, tenant_id: str, via: Via, key: str | None) -> Requests:
    """Return the requests of a tenant through an interface under a key."""
    return Requests(service_key.derive(settings, "requests"), tenant_id, via, key)
