"""Notifier that appends notices to a file: `spool:/a/file.jsonl`."""

from __future__ import annotations

import json
from pathlib import Path

from imprint.plugins import Later, Notice, Settings


class Spool:
    """Writes one line for each notice."""

    def __init__(self, settings: Settings) -> None:
        """Take the settings of the installation; this notifier needs none of them."""

    def send(self, notice: Notice) -> None:
        """Append the notice, unless an attempt that seemed to fail has done so."""
        path = Path(notice.address.partition(":")[2])
        line = json.dumps({"id": str(notice.id), "subject": notice.subject, "text": notice.text}, ensure_ascii=False)
        try:
            written = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            if line not in written:
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
        except OSError as error:
            raise Later(f"{path} could not be written: {error.strerror}.") from error
