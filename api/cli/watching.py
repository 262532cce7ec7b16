"""The process of `imprint up` once the settings are read: a program with little in memory, which watches the others.

Run as `api.cli.watching DESCRIPTOR up`, it reads from a file descriptor what to run. `imprint up` replaces itself by
it: the process and its id stay, the libraries for commands and settings do not.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NoReturn, Self

from api.cli.shared_modules import APP, ROUTER
from api.stack import forking, launch
from api.stack.supervisor import Child
from api.stack.up import ListenAddress, RunProcess
from api.stack.up import up as run_stack
from core import interpreter

NAME: Final = "imprint"
"""Name of the process in lists of processes."""


@dataclass(frozen=True, slots=True)
class WantedStack:
    """Stack to run: `env` is added to the environment, the URLs are those of servers elsewhere."""

    env: Mapping[str, str]
    home: str
    http: ListenAddress
    metrics: ListenAddress
    quiet: bool
    small: bool
    database_url: str | None
    broker_url: str | None
    children: Sequence[Child]
    shared: Sequence[str]

    def run(self, on_ready: Callable[[], None] | None = None) -> int:
        """Run it until a signal, or until `on_ready` returns; return the exit code."""
        begun = forking.begun()
        return run_stack(
            settings_env={**os.environ, **self.env},
            home=Path(self.home),
            http=self.http,
            metrics=self.metrics,
            quiet=self.quiet,
            database_url=self.database_url,
            broker_url=self.broker_url,
            prepare=_prepare,
            children=self.children,
            shared=self.shared,
            on_ready=on_ready,
            small=self.small,
            begun=begun,
        )

    def become(self) -> NoReturn:
        """Replace this process by one that runs it. Its URLs pass through a pipe, because all see a command line."""
        ours, theirs = os.pipe()
        os.write(theirs, json.dumps(asdict(self)).encode())  # It fits: what is long, the environment, stays.
        os.close(theirs)
        os.set_inheritable(ours, True)
        command = interpreter.module("api.cli.watching", str(ours), "up")
        os.execv(command[0], command)  # noqa: S606 - this program needs no shell

    @classmethod
    def read(cls, descriptor: int) -> Self:
        """Read what another process has written by `become`."""
        with open(descriptor, "rb") as pipe:
            values = json.load(pipe)
        children = [Child(**child) for child in values.pop("children")]
        http, metrics = (ListenAddress(**values.pop(name)) for name in ("http", "metrics"))
        return cls(**values, http=http, metrics=metrics, children=children)


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


if __name__ == "__main__":
    launch.name_process(NAME)
    sys.exit(WantedStack.read(int(sys.argv[1])).run())
