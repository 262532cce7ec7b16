"""Users that are erased by a command."""

from __future__ import annotations

USER = "yolanda"
