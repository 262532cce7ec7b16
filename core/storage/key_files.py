"""Keys that an installation generates once and stores in its home, readable only by their owner."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def read_or_make(path: Path, make: Callable[[], str]) -> str:
    """Return the key in a file, created if missing. OSError: it can be neither read nor written."""
    if not path.exists():
        _put(path, make())
    return path.read_text().strip()


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
