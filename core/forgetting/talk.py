"""Defines turns of a talk, their passages, and the asker, for finding what a request to forget means. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from core.forgetting.text import TextSpan, find_all, is_word_at, loose, plain, statements

PERSON: Final = "user"
"""Role of messages that a person wrote."""

ASSISTANT: Final = "assistant"

MEMORY: Final = "memory"
"""Role of statements that are memories, not messages."""

SEARCHED: Final = 20_000
"""Characters of a message that are searched by description; values are searched for in all of it."""


@dataclass(frozen=True)
class Turn:
    """A message or a memory: its key, its position in order, who said it and what.

    `alone`: whether the user is the only person in the session, so that the assistant's messages are theirs as well.
    `group_id`: the group that all of it was said to. `cites`: the keys of the messages that a memory rests on.
    """

    key: Any
    position: int
    user_id: str
    speaker: str | None
    role: str
    text: str
    alone: bool = True
    group_id: str | None = None
    cites: frozenset[Any] = frozenset()

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def loose(self) -> str:
        return loose(self.text)

    @cached_property
    def pieces(self) -> Sequence[TextSpan]:
        return statements(self.text[:SEARCHED])


@dataclass(frozen=True, slots=True)
class ForgettingAsker:
    """Person who asks: user, names by which others speak of them, and the group for which they may ask, if any."""

    user_id: str
    names: frozenset[str]
    group_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnSentence:
    """A sentence of a turn."""

    turn: Turn
    span: TextSpan
    plain: str


def asker_of(turn: Turn, group_id: str | None = None) -> ForgettingAsker:
    """Return the asker of a message, with full and first name and the user's id."""
    names = {turn.user_id} | (
        {turn.speaker, turn.speaker.split()[0]} if turn.speaker and turn.speaker.strip() else set()
    )
    return ForgettingAsker(turn.user_id, frozenset(plain(name) for name in names if len(name) > 1), group_id)


class Talk:
    """Turns cut into passages."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.passages = [
            TurnSentence(turn, span, turn.plain[span.start : span.end]) for turn in turns for span in turn.pieces
        ]
        self.alone = all(turn.alone for turn in turns)
        self.speakers = {plain(t.speaker) for t in turns if t.speaker and t.role == PERSON}

    def holding(self, value: str) -> list[Turn]:
        """Return the turns that hold a value as whole words."""
        needle = loose(value)
        return [turn for turn in self.turns if needle in turn.loose and find_all(turn.text, value)]


def mentions(text: str, names: Iterable[str]) -> bool:
    """Return whether a text in `text.plain` form holds one of the names as whole words."""
    for name in names:
        at = text.find(name)
        while at >= 0:
            if is_word_at(text, at, at + len(name)):
                return True
            at = text.find(name, at + 1)
    return False
