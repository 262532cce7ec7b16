"""Programs that import what the fork server of a stack does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TAKE_IN = """
import os, signal, sys
from api.cli.optional_libraries import OPTIONAL
from api.cli.shared_modules import SHARED
from api.stack.fork_marks import HOME, MARK
from api.stack.fork_server import _take_in
def take_in(places):
    for place in places:
        if place not in {HOME, MARK}:
            _take_in(place)
"""


def told(root: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", TAKE_IN + program], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
