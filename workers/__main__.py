"""`python -m workers router|clock|router-and-clock|worker|together`: the background processes, without the API."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from typing import Final

import structlog

from core import exposition, logs, metrics
from core.config import Settings, unknown
from core.errors import ImprintError, Misconfigured
from core.extraction import extractor_setting
from workers import clock, processes, scheduling, together

logger = structlog.get_logger()

PROCESSES: Final[Mapping[str, Callable[..., None]]] = {
    "router": processes.run_router,
    "clock": clock.run_clock,
    "router-and-clock": scheduling.run_router_and_clock,
    "worker": processes.run_worker,
    "together": together.run_together,
}


def main(argv: list[str] | None = None) -> int:
    """Run one process until it is stopped; if it cannot start, print one line and return 1."""
    parser = argparse.ArgumentParser(prog="python -m workers", description=__doc__)
    parser.add_argument("process", choices=sorted(PROCESSES))
    parser.add_argument("--queue", choices=["cpu", "io"], default="io", help="a worker's queue")
    parser.add_argument("--concurrency", type=int, help="a worker's processes")
    parser.add_argument("--idle", type=int, help="a worker's processes that stay without work; default: all")
    arguments = parser.parse_args(argv)
    names = {"worker": f"worker-{arguments.queue}", "together": "workers", "router-and-clock": "router"}
    name = names.get(arguments.process, arguments.process)
    try:
        settings = Settings()
        logs.configure(settings.log_level, settings.log_format, name)
        for sentence in unknown():
            logger.warning("settings.unknown", detail=sentence)
        extractor_setting.require(settings)
        _listen(settings, forks=arguments.process == "worker")
        run = PROCESSES[arguments.process]
        if arguments.process == "worker":
            run(settings, arguments.queue, arguments.concurrency, arguments.idle)
        else:
            run(settings)
    except ImprintError as error:
        print(error.detail, file=sys.stderr)  # noqa: T201 - the one line a person must see
        return 1
    return 0


def _listen(settings: Settings, *, forks: bool) -> None:
    """Serve this process's metrics on their own port; under `imprint up` the API serves those of all processes."""
    if not settings.metrics_port:
        return
    if forks and metrics.SHARED_FOLDER not in os.environ:
        raise Misconfigured(
            f"A worker's processes keep their metrics in files, and {metrics.SHARED_FOLDER} names no folder for them. "
            "Start it with `imprint worker`, or set IMPRINT_METRICS_PORT to 0."
        )
    exposition.listen(settings.metrics_host, settings.metrics_port)


if __name__ == "__main__":
    sys.exit(main())
