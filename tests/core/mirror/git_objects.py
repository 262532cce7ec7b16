"""What a git repository holds."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def everything(root: Path) -> str:
    """All that git keeps, whether anything leads to it or not."""
    objects = run(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    return "".join(
        subprocess.run(["git", "cat-file", "-p", name], cwd=root, capture_output=True, check=True).stdout.decode(
            errors="replace"
        )
        for name in objects
    )
