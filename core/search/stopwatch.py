"""Times of the stages of a search."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds by stage, in the order in which they ended."""

    ms: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        """Note the time since the last stage ended as that of this one."""
        now = time.perf_counter()
        self.ms[stage] = self.ms.get(stage, 0.0) + round((now - self._last) * 1000, 3)
        self._last = now
