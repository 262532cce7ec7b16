"""The mark of a home that a restore fills (`restoring.json`): what is half restored may hold what was erased."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.errors import Misconfigured

FILE: Final = "restoring.json"


def mark(home: Path, put: Sequence[str]) -> None:
    """Mark a home before anything is put there. `put`: the keys that the restore puts, as paths in the home."""
    with (home / FILE).open("w") as written:
        json.dump({"put": list(put)}, written)
        written.flush()
        os.fsync(written.fileno())


def is_marked(home: Path) -> bool:
    """Return whether a restore was begun and has not ended."""
    return (home / FILE).exists()


def marked(home: Path) -> list[str]:
    """Return the keys that the restore puts; none if it was killed before it put any."""
    try:
        return [str(name) for name in json.loads((home / FILE).read_text())["put"]]
    except (ValueError, KeyError, TypeError):
        return []


def unmark(home: Path) -> None:
    """Remove the mark: the home is whole, or empty again."""
    (home / FILE).unlink(missing_ok=True)


def require_whole(home: Path) -> None:
    """Misconfigured: a restore was begun and has not ended."""
    if is_marked(home):
        raise Misconfigured(
            f"{home} is half restored: `imprint restore` did not end. Run it again, it begins anew; "
            "or set IMPRINT_HOME to another folder."
        )
