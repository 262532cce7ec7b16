"""Objects imported when they are used: modules that many processes never need."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any


def load(reference: str) -> Any:
    """Import the object named by `module:name`."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def load_entry(reference: str) -> Any:
    """Import the object that a process has been started for.

    Modules leave next to nothing to collect, and live as long as the process: the garbage collector neither runs while
    they are imported nor looks at them afterwards.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return load(reference)
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
