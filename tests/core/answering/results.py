"""Results of a search, as a test writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from core.search.candidates import Hit
from core.search.ordering import RankedHit
from core.search.question import SearchResult
from core.types import Message

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def ranked(cosine: float = 0.9, **fields: Any) -> RankedHit:
    return RankedHit(Hit("k", "message", 1.0, cosine, **fields), 1.0, {}, {})


def message(content: str, role: str = "user", **fields: Any) -> Message:
    return Message("s", "m", 1, "e", "ada", role, content, NOW, **fields)


def result(content: str, role: str = "user", **fields: Any) -> SearchResult:
    """A message; `fields`: those of the hit, and the speaker."""
    speaker = fields.pop("speaker", None)
    return SearchResult(ranked(**fields), [], message=message(content, role, speaker=speaker))
