"""Protocol of a change that is decided and waits for the transaction that writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from core.events.publishing import Author
from core.storage.db import Tx
from core.types import Json


class Pending(Protocol):
    """A change that is decided, and not written yet."""

    def write(self, tx: Tx, author: Author) -> Json:
        """Write the change; return what was done, as JSON. Conflict: the basis of the decision has changed."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A result with nothing to write."""

    result: Json = field(default_factory=dict)

    def write(self, _tx: Tx, _author: Author) -> Json:
        return self.result


@dataclass(frozen=True, slots=True)
class Effect:
    """A change that a function writes."""

    write: Callable[[Tx, Author], Json]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A change whose result is returned with further fields."""

    label: Json
    change: Pending

    def write(self, tx: Tx, author: Author) -> Json:
        return self.label | self.change.write(tx, author)
