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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_of_a_closed_folder_sees_what_may_be_executed_there(tmp_path: Path) -> None:
    (program := tmp_path / "closed/program").parent.mkdir(mode=0o700)
    program.touch(mode=0o755)
    process.furnish_home(tmp_path / "home")
    look = [sys.executable, "-c", f"import os; print(os.getuid(), os.access({str(program)!r}, os.X_OK))"]
    account = process.OsAccount(65534, 65534, passage=True)
    run = process.spawn(tmp_path / "home", "looking", look, dict(os.environ), account=account)
    wait_until(lambda: not run.alive())
    assert process.log_file(tmp_path / "home", "looking").read_text() == "65534 True\n"
    run.end(signal.SIGTERM, 0.0)
