"""When a home was backed up last, and where to: `run/backup.json`, which `imprint doctor` reads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

FILE: Final = Path("run") / "backup.json"


@dataclass(frozen=True, slots=True)
class BackupMade:
    """A backup: when it was complete, and its folder."""

    at: datetime
    folder: str


def record(home: Path, folder: Path) -> None:
    """Record that a backup is complete now."""
    path = home / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"at": datetime.now(UTC).isoformat(), "folder": str(folder.absolute())}) + "\n")


def last(home: Path) -> BackupMade | None:
    """Return the last backup; None: none was recorded."""
    try:
        record_of_last = json.loads((home / FILE).read_text())
        return BackupMade(datetime.fromisoformat(record_of_last["at"]), str(record_of_last["folder"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
