"""Names of secrets, and the mask shown in place of their values."""

from __future__ import annotations

from typing import Final

NAME: Final = r"^[a-z0-9][a-z0-9_.-]{0,99}$"

MASK: Final = "••••••••"
"""Mask of fixed length, so that it does not show the length of a value."""
