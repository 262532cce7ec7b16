"""Folder in which the processes of one program count, so that its listener adds them up."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"


def emptied() -> str:
    """Return the configured folder or a new one, without counts of an earlier run: process ids recur."""
    folder = Path(os.environ.get(VARIABLE) or tempfile.mkdtemp(prefix="imprint-metrics-"))
    folder.mkdir(parents=True, exist_ok=True)
    for counted in folder.glob("*.db"):
        counted.unlink()
    return str(folder)


@contextmanager
def shared() -> Iterator[None]:
    """Let processes started meanwhile count in one folder: that configured, else a new one, removed at the end."""
    if os.environ.get(VARIABLE):
        yield
        return
    begin()
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner:  # Forked processes come by here as well.
            end()


def begin() -> None:
    """Let the metrics be imported for processes that will count in a folder which is not known yet.

    Each of them opens files of its own where its environment says.
    """
    os.environ[VARIABLE] = tempfile.mkdtemp(prefix="imprint-metrics-")


def end() -> None:
    """Remove the folder of `begin`."""
    shutil.rmtree(os.environ.pop(VARIABLE), ignore_errors=True)
