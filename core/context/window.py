"""The message window, moved in blocks. Pure.

A window that moves with every message would change its own beginning each time, and no model's cache could use what it
has read. So the conversation is divided into blocks of tokens, and the window begins with one: it grows from half of
its allowance to all of it, and then drops half at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from core.types import Message

BLOCKS: Final = 2
"""Blocks in the allowance of recent messages. More of them would fill it better and move it more often."""


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """Tokens that may be shown, and those of a block, which must not change during a session."""

    allowed: int
    block: int


def fit_window(
    messages: Sequence[Message], ends: Sequence[int], size: TokenWindow, cost: Callable[[Message], int]
) -> Sequence[Message]:
    """Return the newest messages that fit; none if the last one alone does not.

    `ends`: cumulative tokens of the session, which define the blocks; `cost`: tokens of a message
    takes as it is shown.
    """
    spent, first = 0, len(messages)
    while first > 0 and (spent := spent + cost(messages[first - 1])) <= size.allowed:
        first -= 1
    if first in (0, len(messages)):
        return messages[first:]
    # A block that began before what fits is let go whole; where one block is all there is, what fits is shown.
    broken = ends[first - 1] // size.block
    start = next((index for index in range(first, len(messages)) if ends[index] // size.block > broken), first)
    return messages[start:]
