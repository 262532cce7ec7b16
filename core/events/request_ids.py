"""Ids of repeatable requests, made of idempotency key, caller, owner and entry point.

Keyed, so that no id can be foreseen and taken in advance, and no two users, entry points or tenants share one.
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

Via = Literal["http", "batch", "mcp"]
"""The door that a request came through."""

HEX_DIGITS: Final = 40
"""160 bits of a digest: as many as make no two alike."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Names the requests of one tenant that came through one door. `key`: what the caller called the request."""

    secret: bytes
    tenant_id: str
    via: Via
    key: str | None

    def id_of(self, user_id: str, place: int = 0) -> str:
        """The id of the event of a request for this user; `place` in a batch. Without a key, one that never was."""
        if self.key is None:
            return str(uuid7())
        return f"stated-{self._digest([self.via, user_id, self.key, place])}"

    def fingerprint(self, asked: Json) -> str:
        """Return what distinguishes requests with the same key, without their content."""
        return self._digest(asked)

    def _digest(self, value: object) -> str:
        said = json.dumps([self.tenant_id, value], sort_keys=True, ensure_ascii=False)
        return hmac.new(self.secret, said.encode(), hashlib.sha256).hexdigest()[:HEX_DIGITS]


def of(settings: Settings, tenant_id: str, via: Via, key: str | None) -> Requests:
    """The requests that a tenant sends through a door under a key."""
    return Requests(service_key.derive(settings, "requests"), tenant_id, via, key)
