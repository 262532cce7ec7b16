"""A notifier: `spool:/a/file.jsonl` collects notices for whoever reads that file."""

from __future__ import annotations

import json
from pathlib import Path

from core.config import Settings
from core.errors import Later
from workers.delivery.notifiers import Notice


class Spool:
    """Writes one line for each notice."""

    def __init__(self, settings: Settings) -> None:
        """`settings`: those of the installation; this notifier needs none of them."""

    def send(self, notice: Notice) -> None:
        """Append it, unless an attempt that seemed to fail did it before."""
        path = Path(notice.address.partition(":")[2])
        line = json.dumps({"id": str(notice.id), "subject": notice.subject, "text": notice.text}, ensure_ascii=False)
        try:
            written = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            if line not in written:
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
        except OSError as error:
            raise Later(f"{path} could not be written: {error.strerror}.") from error
