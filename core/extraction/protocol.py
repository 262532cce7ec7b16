"""Extractor protocol: Window in, Reading out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.config import Settings
from core.inference.client import OnCall
from core.memory.identity import KnownMemory
from core.types import Candidate, Message


@dataclass(frozen=True, slots=True)
class Window:
    """Messages read at once: the new ones, and earlier ones as context.

    `memories`: known ones that the new messages may repeat or end; None: nobody has looked for them.
    """

    before: Sequence[Message]
    fresh: Sequence[Message]
    memories: Sequence[KnownMemory] | None = None


@dataclass(frozen=True, slots=True)
class ExtractedUnit:
    """A part of a conversation on one topic: its messages by id, and their summary.

    `prompt`: name and version of the prompt that a model summarised it by; None: rules did.
    """

    message_ids: Sequence[str]
    subject: str
    summary: str
    narrative: str
    keywords: Sequence[str] = ()
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Candidates of a window; also `units` if the extractor summarises the conversation.

    `refused`: statements that were read and cannot be kept, such as those that rest on nothing in the window.
    """

    candidates: Sequence[Candidate]
    units: Sequence[ExtractedUnit] = ()
    refused: int = 0


class Extractor(Protocol):
    """Reader of windows.

    Every candidate cites messages of `window.fresh`, the one that says it first. One with `relations` is judged by
    these alone. Later: it cannot answer now. Never: it will not answer for this window, which the caller skips while
    the other windows continue.
    """

    @property
    def name(self) -> str:
        """Return the name used by the setting `extractor`."""

    @property
    def prompt(self) -> str | None:
        """Name and version of the prompt it reads by; None: by rules.

        An extractor with a prompt pays for every window: it gets small windows, and only those that say something new.
        One without gets everything new at once, and decides itself what is worth keeping.
        """

    def read(self, window: Window, on_call: OnCall) -> Reading:
        """Return the statements of the window's fresh messages worth keeping."""


Open = Callable[[Settings], Extractor]
"""Factory of an extractor from the settings; a package registers it under the entry points `imprint.extractors`."""
