"""Waiting for a service that runs as processes of its own."""

from __future__ import annotations

import subprocess
import time

import httpx

from tests.patience import PATIENCE_SECONDS


def is_ready(port: int | str) -> bool:
    """Return whether a service listens there and is ready."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2).is_success
    except httpx.TransportError:
        return False


def wait_until_ready(process: subprocess.Popen[str] | subprocess.Popen[bytes], port: int | str) -> None:
    """Wait for a service that `process` starts; fail if it ends before."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_ready(port):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until, "it is not ready in time"
        time.sleep(0.1)
