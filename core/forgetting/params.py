"""Parameters that a rule gives to the agent `memory_forgetter`, and their faults. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

LONGEST_SECONDS: Final = 30 * 86_400
"""Longest window: what was to be forgotten is not kept for longer."""


class MayAsk(StrEnum):
    """Set of people who may have values forgotten that a group was told: whom they concern, or each member."""

    CONCERNED = "concerned"
    MEMBERS = "members"


class Mode(StrEnum):
    """How a recognised request is carried out: so that it can be undone, once a person has approved it, or for good."""

    UNDO = "undo"
    APPROVE = "approve"
    AT_ONCE = "at_once"


def fault(params: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the name of a parameter that cannot be obeyed and what is wrong with it; None if there is none."""
    for name, choices in (("may_ask", MayAsk), ("mode", Mode)):
        value = params.get(name)
        if value is not None and value not in set(choices):
            return name, f"{value!r:.100} is none of {', '.join(f'`{choice}`' for choice in choices)}"
    seconds = params.get("undo_seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds <= LONGEST_SECONDS:
        return "undo_seconds", f"{seconds!r:.100} is no whole number from 0 to {LONGEST_SECONDS} (30 days)"
    return None
