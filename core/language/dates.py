"""Date expressions of a text, resolved against the time of its message by the tables of its language."""

from __future__ import annotations

from datetime import UTC, datetime

from core.language.calendar import DateMention
from core.language.parts import Dates

LONGEST_READ = 4_000
"""Characters searched for dates: each match scans all of them, so the cost is quadratic."""


def find(text: str, said_at: datetime, forms: Dates | None) -> list[DateMention]:
    """Return the dates in the first LONGEST_READ characters of `text`, in order, without overlaps."""
    if forms is None:
        return []
    mentions = forms.find(text[:LONGEST_READ], wall_clock(said_at))
    kept: list[DateMention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def wall_clock(moment: datetime) -> datetime:
    """Return what the clock of a moment's time zone shows, as a time in UTC: a day is stored as its midnight in UTC."""
    return moment.replace(tzinfo=UTC)


def written_out(text: str, mentions: list[DateMention]) -> str:
    """Return `text` with each date in a form that does not depend on when it was said."""
    for mention in reversed(mentions):
        text = text[: mention.start] + mention.text + text[mention.end :]
    return text


def made_absolute(text: str, said_at: datetime, forms: Dates | None) -> str:
    """Return a text that was said at this time with each of its dates as `written_out` has it."""
    return written_out(text, find(text, said_at, forms))
