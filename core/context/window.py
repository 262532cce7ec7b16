"""The message window, moved in blocks. Pure.

A window that moves with every message would change its own beginning each time, and no model's cache could use what it
has read. So the conversation is divided into blocks of tokens, and the window begins with one: it grows from half of
its room to all of it, and then drops a block at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from core.types import Message

SMALLEST: Final = 16
"""Tokens of the smallest block; each next one is twice as long, so that its borders are borders of all smaller ones."""


def fit_window(
    messages: Sequence[Message], ends: Callable[[], Sequence[int]], room: int, cost: Callable[[Message], int]
) -> Sequence[Message]:
    """Return the newest messages that fit into `room` tokens; none if the last one alone does not.

    `ends`: cumulative costs in the session, which define the blocks; `cost`: tokens of a message as it is shown. More
    room never shows less: the window is the longest one of those that any smaller room has.
    """
    first = _first(messages, room, cost)
    if first in (0, len(messages)):
        return messages[first:]
    borders = ends()
    starts = (_start(borders, _first(messages, most, cost), block) for block, most in _blocks(room))
    return messages[min(starts, default=first) :]


def _first(messages: Sequence[Message], room: int, cost: Callable[[Message], int]) -> int:
    """Return the position of the first of the newest messages that fit."""
    spent, first = 0, len(messages)
    while first > 0 and (spent := spent + cost(messages[first - 1])) <= room:
        first -= 1
    return first


def _blocks(room: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks of at most half the room, each with the room up to which the next block is not used."""
    sizes = takewhile(lambda block: 2 * block <= room, (SMALLEST << power for power in range(room.bit_length())))
    return ((block, min(room, 4 * block - 1)) for block in sizes)


def _start(ends: Sequence[int], first: int, block: int) -> int:
    """Return where the first whole block begins; within a single block that of the first message that fits."""
    if first in (0, len(ends)):
        return first
    broken = ends[first - 1] // block
    return next((index for index in range(first, len(ends)) if ends[index] // block > broken), first)
