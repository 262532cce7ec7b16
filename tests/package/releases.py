"""Keys of a release, and commands."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

VERSION = "0.1.0"


@dataclass(frozen=True, slots=True)
class Keys:
    """Files of a pair of keys, PEM."""

    private: Path
    public: Path


def run(*command: str | Path, folder: Path, code: int = 0, **more: str) -> str:
    """Run a command; its output, both streams together."""
    environment = {**os.environ, **more}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
