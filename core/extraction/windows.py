"""Windows over messages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.extraction.protocol import Window
from core.types import Message


@dataclass(frozen=True, slots=True)
class Sizes:
    """Size of a window: its new messages and their characters, at most, and the earlier ones that are read with them.

    A message that is longer by itself is a window. 24,000 characters are some 6,000 tokens, so that a small model can
    read them with all that it is told.
    """

    fresh: int = 40
    before: int = 6
    characters: int = 24_000


USUAL = Sizes()


def cut(before: Sequence[Message], fresh: Sequence[Message], sizes: Sizes) -> Iterator[Window]:
    """Return the windows over `fresh` in order; messages from `before` stand before those of the first one."""
    messages = [*before, *fresh]
    end = len(before)
    while end < len(messages):
        new = first(messages[end:], sizes)
        yield Window(messages[max(end - sizes.before, 0) : end], new)
        end += len(new)


def first(fresh: Sequence[Message], sizes: Sizes) -> Sequence[Message]:
    """Return the new messages of the first window over some."""
    characters = 0
    for count, message in enumerate(fresh[: sizes.fresh]):
        characters += len(message.content)
        if count and characters > sizes.characters:
            return fresh[:count]
    return fresh[: sizes.fresh]
