"""An extractor: order numbers, beside all that the built-in rules read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.config import Settings
from core.extraction import rule_extractor
from core.extraction.configured_extractor import RuleExtractor
from core.extraction.protocol import Reading, Window
from core.inference.client import OnCall
from core.types import Candidate, Category, Evidence, Message, Topic

ORDER = re.compile(r"\b[A-Z]-\d{3,8}\b")


def orders(text: str) -> list[str]:
    """The order numbers in a text, each once, as they come."""
    return list(dict.fromkeys(ORDER.findall(text)))


class Orders:
    """Reads `A-1042` where the user says it. It stands on the offline rules rather than in their place."""

    name = "orders"
    prompt = None

    def __init__(self, settings: Settings) -> None:
        """`settings`: those of the installation; this extractor needs none of them."""

    def read(self, window: Window, on_call: OnCall) -> Reading:
        """What the fresh messages say; those before them were read already."""
        said = RuleExtractor().read(window, on_call).candidates
        return Reading([*said, *(one for message in window.fresh for one in _of(message))])


def _of(message: Message) -> Iterator[Candidate]:
    who = rule_extractor.speaker_of(message)
    if who is None:  # an assistant, a tool or a system: what they say is not the user's
        return
    for number in orders(message.content):
        quote = Evidence(message.session_id, message.id, message.event_id, message.content)
        yield Candidate(
            content=f"{who} has spoken of order {number}.",
            category=Category.FACT,
            topic=Topic.OTHER,
            subject=who,
            evidence=(quote,),
            occurred_at=message.occurred_at,
            importance=0.6,
            confidence=0.9,
            structured={"attribute": "order.number", "values": [number], "negated": False},
        )
