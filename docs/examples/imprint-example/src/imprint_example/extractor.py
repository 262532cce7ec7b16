"""Extractor of order numbers, in addition to what the built-in rules extract."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imprint.plugins import (
    Candidate,
    Category,
    Evidence,
    Message,
    OnCall,
    Reading,
    RuleExtractor,
    Settings,
    Topic,
    Window,
    speaker_of,
)

ORDER = re.compile(r"\b[A-Z]-\d{3,8}\b")


def orders(text: str) -> list[str]:
    """Return the distinct order numbers in a text, in order of appearance."""
    return list(dict.fromkeys(ORDER.findall(text)))


class Orders:
    """Extracts `A-1042` from what users say. It extends the built-in rules instead of replacing them."""

    name = "orders"
    prompt = None

    def __init__(self, settings: Settings) -> None:
        """Take the settings of the installation; this extractor needs none of them."""

    def read(self, window: Window, on_call: OnCall) -> Reading:
        """Return the statements of the fresh messages; those before them were read already."""
        by_rules = RuleExtractor().read(window, on_call).candidates
        return Reading([*by_rules, *(one for message in window.fresh for one in _order_candidates(message))])


def _order_candidates(message: Message) -> Iterator[Candidate]:
    speaker = speaker_of(message)
    if speaker is None:  # an assistant, a tool or a system
        return
    for number in orders(message.content):
        quote = Evidence(message.session_id, message.id, message.event_id, message.content)
        yield Candidate(
            content=f"{speaker} has spoken of order {number}.",
            category=Category.FACT,
            topic=Topic.OTHER,
            subject=speaker,
            evidence=(quote,),
            occurred_at=message.occurred_at,
            importance=0.6,
            confidence=0.9,
            structured={"attribute": "order.number", "values": [number], "negated": False},
        )
