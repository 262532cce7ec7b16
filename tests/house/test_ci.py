"""The run of continuous integration has a browser or fails: what it does not run must not look green."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.browser import engine

PROGRAMS = ("bash", "dirname", "env")
"""What `.ci/run` calls beside what these tests put beside it."""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: what the script needs, and a make that writes down what it was called with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in PROGRAMS:
        (folder / name).symlink_to(shutil.which(name) or name)
    program(folder / "make", f'echo "browser=$NEEDS_BROWSER $*" >> {tmp_path}/made')
    program(folder / "id", "echo 0")
    return folder


def program(path: Path, line: str) -> None:
    path.write_text(f"#!{shutil.which('bash')}\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run(root: Path, programs: Path) -> tuple[int, str, list[str]]:
    """Return exit code, message, and each call of make."""
    environment = {"PATH": str(programs)}
    ended = subprocess.run([root / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False)
    calls = programs.parent / "made"
    return ended.returncode, ended.stderr, calls.read_text().splitlines() if calls.exists() else []


def test_without_a_browser_and_without_apt_it_fails_before_the_tests(root: Path, programs: Path) -> None:
    code, message, calls = run(root, programs)
    assert (code, calls) == (1, [])
    assert "need chromium" in message


def test_an_installation_that_brings_no_browser_fails_it(root: Path, programs: Path) -> None:
    program(programs / "apt-get", "true")
    code, message, calls = run(root, programs)
    assert (code, calls) == (1, ["browser= --no-print-directory chromium"])
    assert "need chromium" in message


def test_a_browser_is_there_and_needed_when_the_tests_begin(root: Path, programs: Path) -> None:
    program(programs / "chromium", "true")
    assert run(root, programs) == (0, "", ["browser=1 test"])


def test_a_test_of_the_console_without_a_browser_is_skipped(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv(engine.NEEDED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no chromium"):
        engine.require()


def test_it_fails_where_a_browser_is_needed(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv(engine.NEEDED, "1")
    with pytest.raises(pytest.fail.Exception, match="no chromium"):
        engine.require()
