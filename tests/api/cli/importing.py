"""Programs that import what the fork server of a stack does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TAKE_IN = """
import os, signal, sys
from api.cli.shared_modules import HIDDEN, SHARED
from api.stack.fork_server import MARK, _take_in
for entry in SHARED:
    if entry != MARK:
        _take_in(entry, HIDDEN)
"""


def told(root: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", TAKE_IN + program], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
