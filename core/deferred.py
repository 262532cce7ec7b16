"""Objects imported when they are used: modules that many processes never need."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any


def load(place: str) -> Any:
    """Import the object named by `module:name`.

    Modules leave next to nothing to collect, and live as long as the process: the collector neither runs while they
    are imported nor looks at them afterwards.
    """
    module, _, name = place.partition(":")
    enabled = gc.isenabled()
    gc.disable()
    try:
        return getattr(import_module(module), name)
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
