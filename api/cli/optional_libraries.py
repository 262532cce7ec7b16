"""Libraries that others import where they find them, and that no process of `imprint up` uses by way of those.

Hidden while the others are imported, they cost nothing: some 10 MB of a stack and 0.2 s of a start. billiard asks for a
signal by ctypes then, in place of cffi's parser of C; structlog writes tracebacks without rich; httpx has no command,
kombu no YAML, Celery no memory dump.
"""

from __future__ import annotations

import sys
from typing import Final

OPTIONAL: Final = ("cffi", "psutil", "pygments", "rich", "yaml")


def hide() -> None:
    """Let imports of these fail, unless they have been imported already."""
    for name in OPTIONAL:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]


def show() -> None:
    """Let them be imported again."""
    for name in OPTIONAL:
        if name in sys.modules and sys.modules[name] is None:
            del sys.modules[name]
