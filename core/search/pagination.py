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
from core.search.candidates import Type
from core.types import Json

SEAL_BYTES: Final = 12
"""Bytes of the checksum that ties a cursor to its question. It prevents mistakes; forging one gains nothing."""

LONGEST: Final = 4096
"""Characters of a cursor: the longest session and message ids in base64, and the rest."""

T = TypeVar("T")


class _Hit(Protocol):
    @property
    def type(self) -> str: ...

    @property
    def key(self) -> str: ...


class RankedResult(Protocol):
    """A ranked result."""

    @property
    def hit(self) -> _Hit: ...

    @property
    def score(self) -> float: ...


@dataclass(frozen=True, slots=True)
class RankPlace:
    """End of a page: its last result and that one's score."""

    type: str
    key: str
    score: float


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the ranking of a question, and the time at which its first page was requested."""

    position: RankPlace
    now: datetime


def place_of(result: RankedResult) -> RankPlace:
    """Return the place of a result."""
    return RankPlace(result.hit.type, result.hit.key, result.score)


def page_start(ranked: Sequence[RankedResult], position: RankPlace | None) -> int:
    """Return the index of the first result behind a place.

    If the named result is gone: the first with a lower score.
    """
    if position is None:
        return 0
    matches = (
        index
        for index, result in enumerate(ranked, 1)
        if (result.hit.type, result.hit.key) == (position.type, position.key)
    )
    lesser = (index for index, result in enumerate(ranked) if result.score < position.score)
    return next(matches, next(lesser, len(ranked)))


def cap_per_key(ranked: Sequence[T], key_of: Callable[[T], str | None], most: int) -> list[T]:
    """Keep at most so many results of each session (or group), in order; results of none stay."""
    seen: Counter[str | None] = Counter()
    kept = []
    for result in ranked:
        key = key_of(result)
        seen[key] += 1
        if key is None or seen[key] <= most:
            kept.append(result)
    return kept


def encode(cursor: Cursor, question: Json) -> str:
    """Encode a cursor for this question alone; `question`: everything that decides the ranking."""
    position = cursor.position
    holds = [position.type, position.key, position.score, cursor.now.astimezone(UTC).isoformat()]
    payload = json.dumps(holds, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(_seal(payload, question) + payload.encode()).decode().rstrip("=")


def decode(text: str, question: Json) -> Cursor:
    """Decode a cursor. Invalid at `/after`: it is malformed, or belongs to another question."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        payload = raw[SEAL_BYTES:].decode()
        kind, key, score, now = json.loads(payload)
        cursor = Cursor(RankPlace(str(kind), str(key), float(score)), datetime.fromisoformat(now).astimezone(UTC))
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise Invalid([Problem("/after", _NONE)]) from None
    if kind not in get_args(Type) or cursor.now.year not in YEARS:
        raise Invalid([Problem("/after", _NONE)])
    if raw[:SEAL_BYTES] != _seal(payload, question) or not math.isfinite(cursor.position.score):
        raise Invalid([Problem("/after", _OTHER)])
    return cursor


def _seal(payload: str, question: Json) -> bytes:
    sealed = json.dumps([payload, question], sort_keys=True)
    return blake2b(sealed.encode(), digest_size=SEAL_BYTES).digest()


_NONE = "this is no cursor: send `next` of an answer as it came, or leave `after` out to begin"

_OTHER = (
    "this cursor belongs to another question: go on with the query, the filters and the recipe it came from, "
    "or leave `after` out to begin"
)
