"""A stack that the tests run, and a fork server with modules of its own."""

from __future__ import annotations

import os
from pathlib import Path

from api.stack import process
from api.stack.fork_server import LATER
from api.stack.forking import ForkServer

HEAVY = "import os\nPID = os.getpid()\nCALLED = []\n\ndef call():\n    CALLED.append(os.getpid())\n"
PROGRAM = """
import os, sys, time
import heavy
print("imported by", heavy.PID, "called by", heavy.CALLED, "arguments", sys.argv[1:], "own", os.environ.get("OWN"))
if sys.argv[1] == "fail":
    sys.exit("FATAL: it lacks its key")
if sys.argv[1] == "stay":
    time.sleep(600)
"""


def begun(tmp_path: Path, *modules: str, heavy: str = HEAVY, rest_s: float | None = None) -> ForkServer:
    """A server that imports modules of this folder, which is the home of its processes."""
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(heavy)
    (tmp_path / "program.py").write_text(PROGRAM)
    made = ForkServer(modules, {"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}, ["colorsys"])
    made.rest_s = rest_s
    return made


def spawn(
    server: ForkServer, tmp_path: Path, name: str, *words: str, when: bytes = LATER, **env: str
) -> process.Process:
    return server.spawn(tmp_path, name, ["program", *words], {**os.environ, **env}, when)
