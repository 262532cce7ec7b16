"""Sliding windows over messages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.extraction.protocol import Window
from core.types import Message

AT_ONCE = 8
"""Windows sent to a model in one run: as many answers are lost if it refuses the next one, and as much of a
session waits for them. The rest follows in another run.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Messages per window, and from the start of one window to the start of the next."""

    messages: int = 10
    stride: int = 5

    @property
    def overlap(self) -> int:
        """Messages of a window that the previous one has read already."""
        return max(self.messages - self.stride, 0)

    @property
    def step(self) -> int:
        """Fresh messages of every window with an earlier one."""
        return min(self.messages, self.stride)

    @property
    def at_once(self) -> int:
        """Messages that fit into `AT_ONCE` windows."""
        return self.messages + (AT_ONCE - 1) * self.step


USUAL = Sizes()


def cut(before: Sequence[Message], fresh: Sequence[Message], sizes: Sizes) -> Iterator[Window]:
    """Return the windows over `fresh` in order; messages from `before` fill the first one from the front.

    Without earlier messages, the first window is entirely fresh.
    """
    messages = [*before, *fresh]
    end = len(before)
    while end < len(messages):
        start = max(end - sizes.overlap, 0)
        upto = min(start + sizes.messages, len(messages))
        yield Window(messages[start:end], messages[end:upto])
        end = upto
