"""Cursors. Pure."""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final, Protocol, TypeVar, get_args

from core.errors import Invalid, Problem
from core.events.parsing import YEARS
from core.search.resident.candidates import Type
from core.types import Json

SEAL_BYTES: Final = 12
"""By which a cursor is known to belong to its question. It guards against mistakes: nobody gains by forging one."""

LONGEST: Final = 4096
"""Characters of a cursor: a session's and a message's id at their longest, in base 64, and what else it holds."""

T = TypeVar("T")


class _Hit(Protocol):
    @property
    def type(self) -> str: ...

    @property
    def key(self) -> str: ...


class Placed(Protocol):
    """What stands in a ranking."""

    @property
    def hit(self) -> _Hit: ...

    @property
    def score(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: its last result, and how well that did."""

    type: str
    key: str
    score: float


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the ranking of a question, and the moment that was now when its first page was asked for."""

    place: Place
    now: datetime


def place_of(one: Placed) -> Place:
    """Where a result stands."""
    return Place(one.hit.type, one.hit.key, one.score)


def begin(ranked: Sequence[Placed], place: Place | None) -> int:
    """From which on a whole ranking stands behind a place.

    Where the result is gone that it names, from the first that scores less.
    """
    if place is None:
        return 0
    named = (at for at, one in enumerate(ranked, 1) if (one.hit.type, one.hit.key) == (place.type, place.key))
    lesser = (at for at, one in enumerate(ranked) if one.score < place.score)
    return next(named, next(lesser, len(ranked)))


def capped(ranked: Sequence[T], session_of: Callable[[T], str | None], most: int) -> list[T]:
    """At most so many of each session, in the same order; what belongs to no session stays."""
    seen: Counter[str | None] = Counter()
    kept = []
    for one in ranked:
        session = session_of(one)
        seen[session] += 1
        if session is None or seen[session] <= most:
            kept.append(one)
    return kept


def written(cursor: Cursor, question: Json) -> str:
    """A cursor as text, for this question alone; `question`: all that decides what is found in which order."""
    place = cursor.place
    holds = [place.type, place.key, place.score, cursor.now.astimezone(UTC).isoformat()]
    held = json.dumps(holds, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(_seal(held, question) + held.encode()).decode().rstrip("=")


def read(said: str, question: Json) -> Cursor:
    """The cursor that a text is; Invalid at `/after`: it is none, or that of another question."""
    try:
        raw = base64.b64decode(said + "=" * (-len(said) % 4), altchars=b"-_", validate=True)
        held = raw[SEAL_BYTES:].decode()
        kind, key, score, now = json.loads(held)
        cursor = Cursor(Place(str(kind), str(key), float(score)), datetime.fromisoformat(now).astimezone(UTC))
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise Invalid([Problem("/after", _NONE)]) from None
    if kind not in get_args(Type) or cursor.now.year not in YEARS:
        raise Invalid([Problem("/after", _NONE)])
    if raw[:SEAL_BYTES] != _seal(held, question) or not math.isfinite(cursor.place.score):
        raise Invalid([Problem("/after", _OTHER)])
    return cursor


def _seal(held: str, question: Json) -> bytes:
    said = json.dumps([held, question], sort_keys=True)
    return blake2b(said.encode(), digest_size=SEAL_BYTES).digest()


_NONE = "this is no cursor: send `next` of an answer as it came, or leave `after` out to begin"

_OTHER = (
    "this cursor belongs to another question: go on with the query, the filters and the recipe it came from, "
    "or leave `after` out to begin"
)
