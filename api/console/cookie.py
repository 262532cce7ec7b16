"""The cookie of a browser that has logged in: its API key, sealed with a key of the service."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import json
import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NAME: Final = "imprint_console"

PATH: Final = "/console"
"""The cookie is sent to the console alone, never to the API."""

SECONDS: Final = 12 * 3600
"""Lifetime of a login: a working day. A revoked key ends it at once."""

LONGEST: Final = 2_000
"""Characters of a cookie that are looked at."""

_NONCE: Final = 12


@dataclass(frozen=True, slots=True)
class Login:
    """An API key that a browser has shown, the token that its requests must repeat, and the id of its logout."""

    key: str
    csrf: str
    id: str


class Sealer:
    """Seals and opens cookies. Of a login, only its end is stored on the server."""

    def __init__(self, secret: bytes) -> None:
        """`secret`: 32 bytes, the same in every process of the installation."""
        self._secret = secret
        self._cipher = AESGCM(secret)

    def seal(self, key: str) -> str:
        """Return the value of the cookie for an API key."""
        nonce = os.urandom(_NONCE)
        content = json.dumps([key, int(time.time())]).encode()
        return urlsafe_b64encode(nonce + self._cipher.encrypt(nonce, content, NAME.encode())).decode()

    def open(self, value: str) -> Login | None:
        """Return the login of a cookie; None if it is not one of this installation, or has expired."""
        if len(value) > LONGEST:
            return None
        try:
            raw = urlsafe_b64decode(value)
            key, since = json.loads(self._cipher.decrypt(raw[:_NONCE], raw[_NONCE:], NAME.encode()))
        except (binascii.Error, ValueError, InvalidTag):
            return None
        return (
            Login(key, self._token(raw), f"logout@{hashlib.sha256(raw).hexdigest()[:32]}")
            if time.time() - since < SECONDS
            else None
        )

    def _token(self, raw: bytes) -> str:
        return hmac.digest(self._secret, b"csrf " + raw, hashlib.sha256).hex()[:32]
