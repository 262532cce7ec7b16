"""A real stack where files lie about that are named like modules: none of them is imported, by whatever starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.readiness import wait_until_ready

PROGRAM = Path(sys.executable).with_name("imprint")
LIBRARIES = ("http", "queue", "json", "socket", "typing", "celery", "celeryconfig", "numpy", "httpx", "psycopg", "pip")
OURS = ("core", "workers", "api", "rules")
STARTUP = ("sitecustomize", "usercustomize")


def lay(folder: Path, *names: str) -> Path:
    """Write modules with these names, each of which shadows the real one and leaves a mark when it is imported."""
    folder.mkdir(exist_ok=True)
    for name in names:
        text = "import pathlib\npathlib.Path(__file__).with_suffix('.imported').touch()\n"
        (folder / f"{name}.py").write_text(text)
    return folder


def imported(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.imported"))


def environment(root: Path, home: Path) -> dict[str, str]:
    """Return the environment of a command; by PYTHONPATH it finds this tree, even if another one is installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IMPRINT_", "PROMETHEUS_"))}
    ports = {"IMPRINT_HTTP_PORT": str(free_port()), "IMPRINT_METRICS_PORT": "0"}
    return kept | ports | {"IMPRINT_HOME": str(home), "IMPRINT_EMBEDDING": "hash", "PYTHONPATH": str(root)}


@contextmanager
def up(folder: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run `imprint up` in a folder, and end it."""
    process = subprocess.Popen([PROGRAM, "up", "--quiet"], env=env, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all, so that its database is made once."""
    return tmp_path_factory.mktemp("home").resolve()


def test_a_stack_comes_up_among_files_named_like_modules_and_imports_none(
    root: Path, home: Path, tmp_path: Path
) -> None:
    folder, env = lay(tmp_path / "project", *LIBRARIES, *OURS, *STARTUP), environment(root, home)
    with up(folder, env) as process:
        wait_until_ready(process, env["IMPRINT_HTTP_PORT"])
    assert process.returncode == 0
    assert imported(folder) == []


@pytest.mark.parametrize("module", ["workers", "api.cli.main"])
def test_a_module_that_is_run_by_name_imports_nothing_from_the_folder(
    module: str, root: Path, home: Path, tmp_path: Path
) -> None:
    folder, env = lay(tmp_path / "project", *LIBRARIES, "core", "rules"), environment(root, home)
    command = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()
    assert imported(folder) == []


def test_a_library_that_cannot_be_imported_ends_the_start_and_is_said(root: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ValueError('it has gone bad')\n")
    env = environment(root, home)
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    command = [PROGRAM, "up", "--quiet"]
    done = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    reason, sentence = done.stderr.splitlines()[-2:]
    assert reason == "ValueError: it has gone bad"
    assert sentence.endswith("waits for the fork server, which has ended (exit 1).")
