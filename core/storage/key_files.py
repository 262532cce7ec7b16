"""Keys of 32 bytes in base64. An installation generates them once, in its home, readable only by their owner."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from core.errors import Misconfigured

KEY_BYTES: Final = 32


def read_or_make(path: Path, make: Callable[[], str]) -> str:
    """Return the key in a file, created if missing. OSError: it can be neither read nor written."""
    if not path.exists():
        _put(path, make())
    return path.read_text().strip()


def decode(encoded: str, where: str, kind: str = "a key") -> bytes:
    """Return the bytes of a key. Misconfigured: what stands there (`where`) is not of this kind."""
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise Misconfigured(
            f"{where} is not {kind} of {KEY_BYTES} bytes in base64; `openssl rand -base64 32` generates one."
        )
    return raw


def _put(path: Path, key: str) -> None:
    """Write a new key atomically; if another process was first, its key stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(f"{key}\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
