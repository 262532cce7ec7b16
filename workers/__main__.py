"""`python -m workers router|clock|worker`: the processes of this side, without the doors."""

from __future__ import annotations

import argparse
import os
import sys

from prometheus_client import CollectorRegistry, multiprocess, start_http_server

from core import log
from core.config import Settings
from core.errors import ImprintError
from workers import processes


def main(argv: list[str] | None = None) -> int:
    """Run one process until told to stop; exit code 1 and one line if it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m workers", description=__doc__)
    parser.add_argument("process", choices=["router", "clock", "worker"])
    parser.add_argument("--queue", choices=sorted(processes.CONCURRENCY), default="io", help="a worker's queue")
    parser.add_argument("--concurrency", type=int, help="a worker's processes")
    asked = parser.parse_args(argv)
    settings = Settings()
    name = f"worker-{asked.queue}" if asked.process == "worker" else asked.process
    log.configure(settings.log_level, settings.log_format, name)
    try:
        _listen(settings)
        if asked.process == "router":
            processes.run_router(settings)
        elif asked.process == "clock":
            processes.run_clock(settings)
        else:
            processes.run_worker(settings, asked.queue, asked.concurrency)
    except ImprintError as error:
        print(error.detail, file=sys.stderr)  # noqa: T201 - the one line a person must see
        return 1
    return 0


def _listen(settings: Settings) -> None:
    """Show this process's metrics on their own port; under one supervisor the API shows everyone's, and the port is 0."""
    if settings.metrics_port:
        registry = CollectorRegistry()
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            multiprocess.MultiProcessCollector(registry)
            start_http_server(settings.metrics_port, settings.metrics_host, registry)
        else:
            start_http_server(settings.metrics_port, settings.metrics_host)


if __name__ == "__main__":
    sys.exit(main())
