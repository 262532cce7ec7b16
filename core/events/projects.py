"""Groups of projects: what is said about a repository belongs to it. Pure."""

from __future__ import annotations

import re
from typing import Final

PROJECT_CHARACTERS: Final = 100


def group_of(path: str) -> str | None:
    """Return the group of a project, by the path, the address or the name of its repository; None: it has none.

    The last part of the path, so that everybody who works on a repository shares it, wherever they keep it.
    """
    last = re.split(r"[/\\:]", path.rstrip("/\\"))[-1].removesuffix(".git").lower()
    name = re.sub(r"[^\w.-]+", "-", last).strip("-.")[:PROJECT_CHARACTERS]
    return f"project:{name}" if name else None
