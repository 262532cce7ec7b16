"""Prompt texts, one Markdown file each, named with their version."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def load(name: str) -> str:
    """Return the prompt `name`, such as `judge.v1`."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
