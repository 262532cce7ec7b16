"""Settle tokens: positions in the log, encrypted per tenant, because plain ones would show how busy other tenants are.

AES-SIV (RFC 5297): the same position gives the same token, and a changed one or another tenant's is refused.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from core.config import Settings
from core.errors import Invalid, Problem
from core.storage import service_key

PLACE_BYTES: Final = 8


class SettleTokens:
    """Makes and reads tokens with one key. For many threads."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESSIV(key)

    def of(self, tenant_id: str, seq: int) -> str:
        """Return the token of a position in the log, for this tenant."""
        position = seq.to_bytes(PLACE_BYTES, "big")
        return base64.urlsafe_b64encode(self._cipher.encrypt(position, [tenant_id.encode()])).decode()

    def seq(self, tenant_id: str, token: str) -> int:
        """Return the position in a token of this tenant. Invalid: it is forged, damaged or of another tenant."""
        try:
            sealed = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
            return int.from_bytes(self._cipher.decrypt(sealed, [tenant_id.encode()]), "big")
        except (binascii.Error, InvalidTag, ValueError):
            detail = "is not a settle token; use the one that POST /v1/events answered"
            raise Invalid([Problem("/token", detail)]) from None


def load(settings: Settings) -> SettleTokens:
    """Return the tokens of this installation; all its processes make the same."""
    return SettleTokens(service_key.derive(settings, "settle tokens"))
