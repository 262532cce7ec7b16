"""Recurring themes: their days, rhythm and sentence. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from core.language.terms import has_han
from core.reflection import themes
from core.reflection.themes import Mention

DAYS: Final = 4
"""Different days on which something comes at the least to be a pattern."""

SPAN: Final = timedelta(days=7)
"""From the first of them to the last at the least: four days of a journey are no habit."""

LATE: Final = timedelta(days=14)
"""Told so long after it happened, the day on which it happened counts; told later, the day of telling."""

MOSTLY: Final = 0.75
"""Share of the days that makes a rhythm of a weekday, of weekends, of mornings; of the weeks or months in its span."""

OFTEN: Final = 0.15
"""Share of the days on which anything is known of someone that is often."""

RARELY: Final = 0.1
"""Below this share, and without a rhythm, it is nothing of note."""

MONTH: Final = timedelta(days=28)
"""Span from which on "most weeks" says something."""

CITED: Final = 4
"""Memories that a pattern cites at the most: with twice as many it takes the place of what answers better."""

ONE: Final = 0.5
"""Share of its memories that two themes have in common if they are one."""


class Utterance(NamedTuple):
    """One time that something was said: the words, the time, and the role of the speaker.

    `said_at`: the message's time; None: there is no message, and the memory's own time counts. `own`: its subject said
    it.
    """

    quote: str
    said_at: datetime | None
    role: str | None
    own: bool = True


@dataclass(frozen=True, slots=True)
class DatedStatement:
    """A memory with its time and the occasions on which it was said."""

    id: UUID
    content: str
    occurred_at: datetime
    occasions: Sequence[Utterance]


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A theme with its sentence. `members`: ids of the memories it comes in, those to be cited first."""

    theme: str
    content: str
    members: Sequence[UUID]
    cited_count: int
    days: Sequence[date]


@dataclass(frozen=True, slots=True)
class _Theme:
    """The mentions of one theme, their statements, and the days of each. `active`: days on which anything is known."""

    mentions: Sequence[Mention]
    members: Sequence[DatedStatement]
    days: Mapping[UUID, Collection[date]]
    active: int

    def all_days(self) -> list[date]:
        return sorted({day for days in self.days.values() for day in days})

    def share(self) -> float:
        return len(self.all_days()) / self.active

    def rank(self) -> tuple[int, ...]:
        """Sort key: themes of more days go first, then what is done more often, then what is mentioned more often."""
        return -len(self.all_days()), -sum(one.doing for one in self.mentions), -len(self.mentions)


def recurrences(
    statements: Sequence[DatedStatement], subject: str, names: Collection[str] = (), known: Collection[str] = ()
) -> list[Recurrence]:
    """Return recurring themes in statements about `subject`: `known` ones first, then by frequency.

    Of two themes that share half of their statements only the first is returned. `names` of people are no themes.
    """
    found = _themes(statements, subject, names)
    ranked = sorted(found.items(), key=lambda item: (item[0] not in known, *item[1].rank(), item[0]))
    selected: list[Recurrence] = []
    for theme, one in ranked:
        member_ids = {member.id for member in one.members}
        if all(
            len(member_ids & set(other.members)) < ONE * min(len(member_ids), len(other.members)) for other in selected
        ):
            selected += _recurrence(theme, one, subject)
    return selected


def _themes(statements: Sequence[DatedStatement], subject: str, names: Collection[str]) -> dict[str, _Theme]:
    mentioned: defaultdict[str, list[tuple[Mention, DatedStatement]]] = defaultdict(list)
    over: dict[str, datetime] = {}
    days = {one.id: _days(one) for one in statements}
    active = len({day for several in days.values() for day in several})
    people = themes.name_words(subject, names)
    for one in sorted(statements, key=lambda one: (one.occurred_at, one.id)):
        own = any(occasion.own for occasion in one.occasions)
        for mention in themes.mentions(one.content, subject, people) if days[one.id] else ():
            if own or mention.doing:  # Others may tell what someone does, and not what they speak of.
                mentioned[mention.stem].append((mention, one))
        over |= dict.fromkeys(themes.denied_stems(one.content), one.occurred_at)
    found = {}
    for stem, pairs in mentioned.items():
        members = [one for _, one in pairs]
        theme = _Theme([mention for mention, _ in pairs], members, {one.id: days[one.id] for one in members}, active)
        ended = stem in over and over[stem] >= max(one.occurred_at for one in members)
        if not ended and _is_notable(theme):
            found[stem] = theme
    return found


def _is_notable(theme: _Theme) -> bool:
    days = theme.all_days()
    return _comes_again(days) and (theme.share() >= RARELY or bool(_rate(days)))


def _comes_again(days: Sequence[date]) -> bool:
    return len(days) >= DAYS and days[-1] - days[0] >= SPAN


def _days(one: DatedStatement) -> frozenset[date]:
    """Return the days that a statement tells of. An assistant counts with what it says first, a tool not at all."""
    lines_seen: set[str] = set()
    days = set()
    for occasion in one.occasions:
        line = " ".join(occasion.quote.split())
        if occasion.role in _OTHERS or (occasion.role == "assistant" and line in lines_seen):
            continue
        lines_seen.add(line)
        days.add((occasion.said_at or one.occurred_at).astimezone(UTC).date())
    happened = one.occurred_at.astimezone(UTC).date()
    if len(days) == 1 and not _VAGUE.search(one.content) and timedelta() <= min(days) - happened <= LATE:
        return frozenset({happened})
    return frozenset(days)


def _recurrence(theme: str, one: _Theme, subject: str) -> Iterator[Recurrence]:
    name = themes.name(one.mentions)
    if name is None:
        return
    days = one.all_days()
    often = _rate(days) or ("often" if one.share() >= OFTEN else "rarely")
    cited_ids = _spread(one)
    rest = [member.id for member in one.members if member.id not in set(cited_ids)]
    content = (_chinese if has_han(name) else _english)(subject, name, often, days)
    yield Recurrence(theme, content, [*cited_ids, *rest], len(cited_ids), days)


def _english(subject: str, name: str, often: str, days: Sequence[date]) -> str:
    weekday = _weekday(days)
    rhythm = [_OFTEN[often]] if weekday is None else [_OFTEN[often], f"mostly on {_WEEKDAYS[weekday]}s"]
    return f"{', '.join([subject, *rhythm])}: {name} (on {len(days)} days from {days[0]} to {days[-1]})."


def _chinese(subject: str, name: str, often: str, days: Sequence[date]) -> str:
    weekday = _weekday(days)
    rhythm = "" if weekday is None else f"，多在周{'一二三四五六日'[weekday]}"
    return f"{subject}{_OFTEN_ZH[often]}{rhythm}：{name}（{days[0]}至{days[-1]}共{len(days)}天）。"


def _spread(one: _Theme) -> list[UUID]:
    """Return the members to cite: one of a day, the shortest, from the first day to the last at even steps."""
    by_day: dict[date, DatedStatement] = {}
    for member in sorted(one.members, key=lambda member: (len(member.content), member.id)):
        for day in one.days[member.id]:
            by_day.setdefault(day, member)
    ordered = list(dict.fromkeys(by_day[day].id for day in sorted(by_day)))
    if len(ordered) <= CITED:
        return ordered
    step = (len(ordered) - 1) / (CITED - 1)
    return [ordered[round(step_number * step)] for step_number in range(CITED)]


def _rate(days: Sequence[date]) -> str:
    """Return the shortest of day, week and month most of which, within the span, have one of the days; empty: none."""
    first, last = days[0], days[-1]
    weeks = {_monday(day) for day in days}
    months = {day.year * 12 + day.month for day in days}
    if len(days) >= MOSTLY * ((last - first).days + 1):
        return "day"
    if last - first >= MONTH and len(weeks) >= max(DAYS, MOSTLY * ((_monday(last) - _monday(first)).days // 7 + 1)):
        return "week"
    return "month" if len(months) >= max(DAYS, MOSTLY * (max(months) - min(months) + 1)) else ""


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _weekday(days: Sequence[date]) -> int | None:
    """Return the usual weekday, if it occurs in as many weeks as a pattern needs days."""
    day, count = Counter(one.weekday() for one in days).most_common(1)[0]
    return day if count >= max(DAYS, MOSTLY * len(days)) else None


_OTHERS = frozenset({"system", "tool"})
_OFTEN = {
    "day": "most days",
    "week": "most weeks",
    "month": "most months",
    "often": "often",
    "rarely": "now and then",
}
_OFTEN_ZH = {"day": "几乎每天", "week": "几乎每周", "month": "几乎每月", "often": "经常", "rarely": "不时"}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_VAGUE = re.compile(r"\b(?:week|weekend|month|year|about|in [A-Z][a-z]+ \d{4}|in \d{4})\b|周|个?月(?!\d)|年(?!\d)")
"""What names no day: then the day on which it was told counts."""
