"""Processes of the service, forked from one that has imported what they need, as under `imprint up`."""

from __future__ import annotations

import atexit
import functools
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

from api.cli.shared_modules import ENVIRONMENT, HIDDEN, SHARED
from api.stack.forking import ForkServer
from api.stack.process import Process, furnish_home
from core import metrics


@contextmanager
def forked(environment: Mapping[str, str], *arguments: str, home: Path | None = None) -> Iterator[Process]:
    """A module with arguments as a process, ended with the block. `home`: where its log stays."""
    with nullcontext(str(home)) if home else tempfile.TemporaryDirectory() as folder:
        furnish_home(Path(folder))
        env = {**environment, metrics.SHARED_FOLDER: folder}
        process = _forks().spawn(Path(folder), "forked", arguments, env)
        try:
            yield process
        finally:
            process.end(signal.SIGTERM, 30.0)


@functools.cache
def _forks() -> ForkServer:
    forks = ForkServer(SHARED, ENVIRONMENT, HIDDEN)
    atexit.register(forks.stop)
    return forks
