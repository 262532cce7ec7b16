"""Sliding windows over messages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.extraction.protocol import Window
from core.types import Message

AT_ONCE = 8
"""Windows that are put to a model in one run: as many answers are paid for in vain when it refuses the next one, and as
much of a session waits for them. The rest follows in a run of its own."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Messages of a window, and from the beginning of one window to that of the next."""

    messages: int = 10
    stride: int = 5

    @property
    def overlap(self) -> int:
        """Messages of a window that the one before it has read already."""
        return max(self.messages - self.stride, 0)

    @property
    def step(self) -> int:
        """Fresh messages of every window that has others before it."""
        return min(self.messages, self.stride)

    @property
    def at_once(self) -> int:
        """Messages that fit into `AT_ONCE` windows."""
        return self.messages + (AT_ONCE - 1) * self.step


USUAL = Sizes()


def cut(before: Sequence[Message], fresh: Sequence[Message], sizes: Sizes) -> Iterator[Window]:
    """Windows over `fresh`, in order; what was said `before` them fills the first one up from the front.

    Where nothing was said before, the first window is fresh as a whole.
    """
    messages = [*before, *fresh]
    end = len(before)
    while end < len(messages):
        start = max(end - sizes.overlap, 0)
        upto = min(start + sizes.messages, len(messages))
        yield Window(messages[start:end], messages[end:upto])
        end = upto
