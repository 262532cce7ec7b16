from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from api.stack import process
from tests.patience import wait_until


def test_a_log_that_has_grown_too_long_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process.furnish_home(tmp_path)
    monkeypatch.setattr(process, "LOG_BYTES_KEPT", 4)
    log = process.log_file(tmp_path, "clock")
    log.write_text("old words\n")
    run = process.spawn(tmp_path, "clock", [sys.executable, "-c", "print('new words')"], dict(os.environ))
    wait_until(lambda: not run.alive())
    assert log.read_text() == "new words\n"
    assert log.with_suffix(".log.1").read_text() == "old words\n"
    run.end(signal.SIGTERM, 0.0)
