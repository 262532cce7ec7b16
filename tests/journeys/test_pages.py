"""The commands that the pages about operating print are run as they stand there, in their order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.readiness import wait_until_ready

PAGES = ("settings", "operations", "backups", "mirror")
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


@dataclass
class Terminal:
    """A shell whose `imprint up` runs on in the background, one at a time."""

    env: dict[str, str]
    folder: Path
    last: ExitStack
    up: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def type(self, line: str) -> None:
        words = line.split("#", 1)[0].strip()
        if words.startswith("export "):
            name, _, value = words.removeprefix("export ").partition("=")
            self.env[name] = value.replace("~", self.env["HOME"])
        elif words.endswith("imprint up"):
            self.stop()
            self.start(**dict(setting.split("=", 1) for setting in words.replace("~", self.env["HOME"]).split()[:-2]))
        elif words:
            done = subprocess.run(["bash", "-c", line], env=self.env, cwd=self.folder, capture_output=True, check=False)
            assert done.returncode == 0, f"{line}\n{(done.stdout + done.stderr).decode()}"

    def start(self, **settings: str) -> None:
        process = subprocess.Popen(["imprint", "up", "--quiet"], env=self.env | settings, cwd=self.folder)
        self.up.append(process)
        self.last.callback(self.stop)
        wait_until_ready(process, self.env["IMPRINT_HTTP_PORT"])

    def stop(self) -> None:
        for process in self.up:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            process.wait(60)
        self.up.clear()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_runs_as_printed(page: str, root: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall((root / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    assert blocks
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IMPRINT_", "PROMETHEUS_"))}
    own = {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "IMPRINT_HTTP_PORT": str(free_port()),
        "IMPRINT_METRICS_PORT": "0",
        "IMPRINT_EMBEDDING": "hash",
    }
    with ExitStack() as last:
        terminal = Terminal(kept | own, tmp_path, last)
        lines = [line for block in blocks for line in block.splitlines()]
        if not any("imprint up" in line for line in lines[:2]):
            terminal.start()
        for line in lines:
            terminal.type(line)
