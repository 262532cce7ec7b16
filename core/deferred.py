"""Objects imported when they are used: modules that many processes never need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(reference: str) -> Any:
    """Import the object named by `module:name`."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
