"""Secrets at rest: AES-256-GCM with a key that is not in the database, each bound to its tenant and name."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from core.config import Settings
from core.errors import Misconfigured
from core.storage import key_files

NONCE_BYTES: Final = 12

KEY_FILE: Final = "secrets.key"
"""File in the home for a key in base64, readable by its owner alone; used if the settings give none."""


class Vault:
    """Encrypts and decrypts secrets. The first key encrypts, all decrypt, so that keys can rotate."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._ciphers = [AESGCM(key) for key in keys]

    def seal(self, secret: str, location: str) -> bytes:
        """Encrypt a secret for a location; it cannot be decrypted for another one."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, secret.encode(), location.encode())

    def open(self, sealed: bytes, location: str) -> str:
        """Decrypt what was encrypted for this location. Misconfigured: none of the keys fits."""
        nonce, encrypted = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(nonce, encrypted, location.encode()).decode()
            except InvalidTag:
                continue
        raise Misconfigured(
            "A stored secret cannot be decrypted: its key is not among those of IMPRINT_SECRETS_KEY. "
            "Add that key after the new one, or store the secret again."
        )


def load(settings: Settings) -> Vault:
    """Return the vault with the keys from the settings, else with that of the home, created if missing.

    Misconfigured: a key is malformed, or none can be created.
    """
    if settings.secrets_key is not None:
        return Vault(
            [key_files.decode(key, "IMPRINT_SECRETS_KEY") for key in settings.secrets_key.get_secret_value().split()]
        )
    path = settings.home / KEY_FILE
    try:
        written = key_files.read_or_make(path, lambda: base64.b64encode(os.urandom(key_files.KEY_BYTES)).decode())
    except OSError as error:
        raise Misconfigured(
            f"There is no key for secrets, and none can be made at {path} ({error.strerror}). Set IMPRINT_SECRETS_KEY "
            f"to 32 random bytes in base64 (`openssl rand -base64 32`), the same for all processes."
        ) from error
    return Vault([key_files.decode(written, str(path))])
