"""Regular expressions compiled at first use: those of the languages' tables would take a second at import."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


class _LazyRegex:
    """Proxy for a compiled pattern: the first attribute access compiles it, later ones use it."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a proxy for `re.compile(pattern, flags)` that compiles at first use."""
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))
