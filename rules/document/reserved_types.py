"""Types of event that the service alone may announce: a rule's `emit` publishes under the source of the service."""

from __future__ import annotations

from typing import Final

from core.events import parsing
from rules.document.targets import EMITTED

TYPES: Final = frozenset(EMITTED) - parsing.PAYLOADS.keys()
"""What others publish as well, such as `session.ended`, says nothing that its payload cannot show to be wrong."""


def refusal(event_type: str) -> str:
    """Return why a rule may not emit this type and what to do instead; None: it may."""
    return f"only the service itself announces `{event_type}`; choose a type of your own, such as `my.{event_type}`"
