"""Names of rules that belong together: a rule, and the one in shadow mode that may replace it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SUFFIX: Final = ".shadow"
LONGEST: Final = 100
"""Characters of a rule's name."""


def shadow_of(name: str) -> str | None:
    """Return the name under which an edit of a rule runs in shadow mode; None: it is one, or would be too long."""
    shadow = name + SUFFIX
    return None if name.endswith(SUFFIX) or len(shadow) > LONGEST else shadow


def original_of(name: str) -> str | None:
    """Return the rule beside which a rule in shadow mode runs, by its name."""
    return name.removesuffix(SUFFIX) if name.endswith(SUFFIX) else None


def counterparts_first(name: str, others: Iterable[str]) -> list[str]:
    """Return the rules that one may be compared with, that which belongs to it first."""
    own = {shadow_of(name), original_of(name)}
    return sorted((other for other in others if other != name), key=lambda other: (other not in own, other))
