"""Event types that only the service may announce, because a rule's `emit` publishes under the service's source."""

from __future__ import annotations

from typing import Final

from core.events import parsing
from rules.document.targets import EMITTED

TYPES: Final = frozenset(EMITTED) - parsing.PAYLOADS.keys()
"""Types that clients publish as well, such as `session.ended`, are not reserved: a false one can be recognized by its
payload.
"""


def refusal(event_type: str) -> str:
    """Return why a rule may not emit this type and what to do instead; None: it may."""
    return f"only the service itself announces `{event_type}`; choose a type of your own, such as `my.{event_type}`"
