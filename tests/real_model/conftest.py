"""A real language model behind a real endpoint, as small as one can be had from the package index."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

START_SECONDS = 120
PYTHON = Path(os.environ.get("IMPRINT_TEST_MODEL_PYTHON", ".venv-model/bin/python"))


@pytest.fixture(scope="session")
def endpoint_url(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of the endpoint."""
    python, folder = root / PYTHON, tmp_path_factory.mktemp("model")
    if not python.exists():
        pytest.skip("no model is installed; `make model` installs one and runs these tests")
    address = folder / "address"
    with (folder / "log").open("wb") as log:
        command = [python, Path(__file__).with_name("serve.py"), address]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        try:
            yield f"{_address(address, process, folder / 'log')}/v1"
        finally:
            if process.stdin:
                process.stdin.close()
            process.kill()
            process.wait()


def _address(file: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and (found := file.read_text("utf-8")):
            return found
        time.sleep(0.1)
    raise AssertionError(f"The model did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")
