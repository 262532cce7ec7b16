"""`imprint serve`: the HTTP API. Light to import: where its processes count must be known before the metrics are.

`python -m api.cli.serve` does the same without the libraries for commands.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import Final

from api.cli import metrics_folder
from core import deferred
from core.config import Settings
from core.errors import ImprintError

MOST: Final = 4
"""Processes by default at most: each takes memory, and the database works beside them."""


def serve() -> None:
    """Run the HTTP API, in as many processes as IMPRINT_API_PROCESSES says; SIGHUP replaces them one by one.

    Example: imprint serve
    """
    settings = Settings()
    processes = count(settings)
    with metrics_folder.shared() if processes > 1 else nullcontext():
        deferred.load("api.cli.serving:run")(settings, processes)


def count(settings: Settings) -> int:
    """Return the number of processes: as set, else one for each core. One where libraries do not survive a fork."""
    if sys.platform != "linux":
        return 1
    return settings.api_processes or min(MOST, len(os.sched_getaffinity(0)))


def main() -> int:
    """Run it; if it cannot start, print one line and return 1."""
    try:
        serve()
    except ImprintError as error:
        sys.stderr.write(f"Error: {error.detail}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
