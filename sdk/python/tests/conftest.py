"""A running stack for the tests of the adapters, which have an environment of their own."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import string
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.register_assert_rewrite("echoes")

IMPRINT = Path(__file__).parents[3] / ".venv/bin/imprint"
SECONDS = 120


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Where a stack answers, and the key to it."""
    home = tmp_path_factory.mktemp("imprint")
    port, metrics = _free_port(), _free_port()
    own = {"IMPRINT_HOME": str(home), "IMPRINT_HTTP_PORT": str(port), "IMPRINT_METRICS_PORT": str(metrics)}
    process = subprocess.Popen([IMPRINT, "up", "--quiet"], env={**os.environ, **own, "IMPRINT_EMBEDDING": "hash"})
    try:
        url = f"http://127.0.0.1:{port}"
        _await(f"{url}/readyz")
        yield url, (home / "run/api.key").read_text().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.fixture
def user() -> str:
    """A user whom nobody knows. Of letters: digits in a name may look like a phone number in a standing instruction."""
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(20))


def _await(url: str) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            if httpx.get(url, timeout=2).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError("The stack did not become ready.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
