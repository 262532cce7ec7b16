"""A module that notes whether the garbage collector runs while it is imported."""

from __future__ import annotations

import gc
from typing import Final

SEEN: Final = gc.isenabled()
