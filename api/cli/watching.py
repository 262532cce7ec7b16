"""`imprint up`: a program with little in memory, which watches the others.

The fork server imports libraries while a process of its own reads the settings, which ends with the libraries for
commands and settings.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final, Self

from api.cli.shared_modules import APP, ENVIRONMENT, HIDDEN, ROUTER, SHARED
from api.stack import forking, launch
from api.stack.forking import ForkServer
from api.stack.supervisor import Child
from api.stack.up import ListenAddress, RunProcess, StackPlan
from api.stack.up import up as run_stack
from core import interpreter

NAME: Final = "imprint"
"""Name of the process in lists of processes."""


class WantedStack(StackPlan):
    """Stack that another process runs than the one that has read the settings."""

    def run(self, on_ready: Callable[[], None] | None = None, forks: ForkServer | None = None) -> int:
        """Run it until a signal, or until `on_ready` returns; return the exit code."""
        return run_stack(self, _prepare, forks or begin(), on_ready)

    def write(self) -> None:
        """Write it to standard output for the process that runs it."""
        sys.stdout.write(json.dumps(asdict(self)))

    @classmethod
    def read(cls, written: bytes) -> Self:
        """Read what another process has written."""
        values = json.loads(written)
        children = [Child(**child) for child in values.pop("children")]
        http, metrics = (ListenAddress(**values.pop(name)) for name in ("http", "metrics"))
        return cls(**values, http=http, metrics=metrics, children=children)


def begin() -> ForkServer | None:
    """Begin a fork server, where processes can be forked: it needs no settings."""
    return ForkServer(SHARED, ENVIRONMENT, HIDDEN) if forking.is_supported() else None


def main() -> None:
    """Run `imprint up`: read by its arguments what is to run, and run it."""
    gc.freeze()
    gc.enable()
    launch.name_process(NAME)
    forks = begin()
    sys.exit(_read_stack().run(forks=forks))


def _read_stack() -> WantedStack:
    """Let another process read the settings (`api.cli.local_stack.up`); exit as it does if it fails."""
    command = interpreter.module("api.cli.program", *sys.argv[1:])
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)  # noqa: S603 - the command is ours
    return WantedStack.read(done.stdout) if done.stdout else sys.exit(done.returncode)


def _prepare(env: Mapping[str, str], run: RunProcess) -> Mapping[str, str]:
    """Prepare the database in a process of its own; return the URLs of the two roles that own nothing."""
    file = Path(env["IMPRINT_HOME"]) / "run" / "roles.json"
    file.unlink(missing_ok=True)
    try:
        run(Child("prepare", interpreter.module("api.cli.preparation", str(file))), env)
        urls = json.loads(file.read_text())
    finally:
        file.unlink(missing_ok=True)
    return {APP: urls["app"], ROUTER: urls["router"]}
