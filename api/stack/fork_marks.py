"""Marks among the modules of a fork server."""

from __future__ import annotations

from typing import Final

MARK: Final = "/"
"""Stands behind the modules that an early process needs (`fork_server.EARLY`)."""

HOME: Final = "~"
"""Stands before the modules that read the environment: a server that began ahead waits there for its home."""
