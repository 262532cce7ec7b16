"""Facts about one event that conditions can read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from core.types import Event, Json


class Missing:
    """The type of MISSING: there is no such field. JSON null is None and is not missing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


def json_value(value: Any) -> Any:
    """Return the value of a field as JSON: null where it is missing, and a time as text."""
    if value is MISSING:
        return None
    return value.isoformat() if isinstance(value, datetime) else value


Lookup = Callable[[str], Any]
Similarity = Callable[[str, str], float]
OnMismatch = Callable[[str, str], None]


def nothing(_name: str) -> Missing:
    """Lookup without any values: every looked-up name is missing."""
    return MISSING


class Facts:
    """An event and what can be looked up about it. Lives as long as the decision on that event.

    `now` is the reference time of `older_than`, `newer_than`, `starts_at` and `ends_at`: by default the event's own
    time, so that a decision can be explained and replayed later with the same outcome. `look_up(name)` returns the
    value of a name in `paths.LOOKED_UP`, MISSING or None if there is none; it is called at most once per name.
    `similarity(text, meaning)` is the cosine of two texts; without it `means` is a mismatch. `on_mismatch(field, op)`
    is called for each leaf that was false because its types did not fit.
    """

    __slots__ = ("_answers", "_look_up", "_on_mismatch", "_similarity", "event", "item", "now", "payload")

    def __init__(
        self,
        event: Event,
        look_up: Lookup = nothing,
        *,
        now: datetime | None = None,
        similarity: Similarity | None = None,
        on_mismatch: OnMismatch | None = None,
    ) -> None:
        self.event = event
        self.payload: Json = event.payload
        self.now = now or event.time
        self.item: Any = MISSING
        self._look_up = look_up
        self._similarity = similarity
        self._on_mismatch = on_mismatch
        self._answers: dict[str, Any] = {}

    def lookup(self, name: str) -> Any:
        """Return the value of a looked-up name, requested at most once per event; MISSING if there is none."""
        if name not in self._answers:
            value = self._look_up(name)
            self._answers[name] = MISSING if value is None else value
        return self._answers[name]

    def similarity(self, text: str, meaning: str) -> float | None:
        """Return the similarity of a text to a meaning, -1 to 1; None where it cannot be computed."""
        return None if self._similarity is None else self._similarity(text, meaning)

    def mismatch(self, field: str, op: str) -> None:
        """Count a leaf whose types did not fit."""
        if self._on_mismatch is not None:
            self._on_mismatch(field, op)
