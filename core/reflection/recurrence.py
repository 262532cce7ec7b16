"""Recurring themes: their days, rhythm and sentence. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from core.language import clock_times, languages
from core.language.lazy_regex import either
from core.reflection import themes
from core.reflection.themes import Mention
from core.types import Json

DAYS: Final = 4
"""Minimum number of different days of a pattern."""

SPAN: Final = timedelta(days=7)
"""Minimum time from the first day to the last: four days of a journey are no habit."""

LATE: Final = timedelta(days=14)
"""Up to this delay the day of the event counts; after it, the day on which it was mentioned."""

MOSTLY: Final = 0.75
"""Share of days from which a weekday, or of weeks or months in the span from which a rate, is a rhythm."""

OFTEN: Final = 0.15
"""Share of the days with any memory of someone from which a theme is frequent."""

RARELY: Final = 0.1
"""Below this share, and without a rhythm, it is not notable."""

MONTH: Final = timedelta(days=28)
"""Minimum span for "most weeks"."""

CITED: Final = 4
"""Maximum memories that a pattern cites: with twice as many it displaces better answers."""

USUAL: Final = 0.2
"""Share of days from which a weekday is one of the usual ones, if these cover most days."""

NAMED: Final = 2
"""Minimum statements that name an hour for it to belong to a pattern."""

ONE: Final = 0.5
"""Share of common memories from which two themes are the same."""


class Utterance(NamedTuple):
    """An occasion on which something was said: the words, the time, and the role of the speaker.

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
    """A theme with its sentence. `members`: ids of the memories that mention it, those to cite first.

    `times`: what, and when, as values: `activity`, `often`, `days_of_week`, `hours`.
    """

    theme: str
    content: str
    members: Sequence[UUID]
    cited_count: int
    days: Sequence[date]
    times: Json


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
        return -len(self.all_days()), -sum(mention.doing for mention in self.mentions), -len(self.mentions)


def recurrences(
    statements: Sequence[DatedStatement], subject: str, names: Collection[str] = (), known_themes: Collection[str] = ()
) -> list[Recurrence]:
    """Return recurring themes in statements about `subject`: `known_themes` first, then by frequency.

    Of two themes that share half of their statements only the first is returned. `names` of people are no themes.
    """
    themes_by_stem = _themes(statements, subject, names)
    ranked = sorted(themes_by_stem.items(), key=lambda item: (item[0] not in known_themes, *item[1].rank(), item[0]))
    selected: list[Recurrence] = []
    for stem, theme in ranked:
        member_ids = {member.id for member in theme.members}
        if all(
            len(member_ids & set(other.members)) < ONE * min(len(member_ids), len(other.members)) for other in selected
        ):
            selected += _recurrence(stem, theme, subject)
    return selected


def _themes(statements: Sequence[DatedStatement], subject: str, names: Collection[str]) -> dict[str, _Theme]:
    mentioned: defaultdict[str, list[tuple[Mention, DatedStatement]]] = defaultdict(list)
    over: dict[str, datetime] = {}
    days = {statement.id: _days(statement) for statement in statements}
    active = len({day for several in days.values() for day in several})
    people = themes.name_words(subject, names)
    for statement in sorted(statements, key=lambda statement: (statement.occurred_at, statement.id)):
        own = any(occasion.own for occasion in statement.occasions)
        for mention in themes.mentions(statement.content, subject, people) if days[statement.id] else ():
            if own or mention.doing:  # Others may tell what someone does, and not what they speak of.
                mentioned[mention.stem].append((mention, statement))
        over |= dict.fromkeys(themes.denied_stems(statement.content), statement.occurred_at)
    notable = {}
    for stem, pairs in mentioned.items():
        members = [statement for _, statement in pairs]
        theme = _Theme(
            [mention for mention, _ in pairs],
            members,
            {statement.id: days[statement.id] for statement in members},
            active,
        )
        ended = stem in over and over[stem] >= max(statement.occurred_at for statement in members)
        if not ended and _is_notable(theme):
            notable[stem] = theme
    return notable


def _is_notable(theme: _Theme) -> bool:
    days = theme.all_days()
    comes_again = len(days) >= DAYS and days[-1] - days[0] >= SPAN
    return comes_again and (theme.share() >= RARELY or bool(_rate(days)))


def _days(statement: DatedStatement) -> frozenset[date]:
    """Return the days that a statement refers to. An assistant counts with its first statement, a tool not at all."""
    lines_seen: set[str] = set()
    days = set()
    for occasion in statement.occasions:
        line = " ".join(occasion.quote.split())
        if occasion.role in _OTHERS or (occasion.role == "assistant" and line in lines_seen):
            continue
        lines_seen.add(line)
        days.add((occasion.said_at or statement.occurred_at).astimezone(UTC).date())
    happened = statement.occurred_at.astimezone(UTC).date()
    if len(days) == 1 and not _VAGUE.search(statement.content) and timedelta() <= min(days) - happened <= LATE:
        return frozenset({happened})
    return frozenset(days)


def _recurrence(stem: str, theme: _Theme, subject: str) -> Iterator[Recurrence]:
    name = themes.name(theme.mentions)
    if name is None:
        return
    days = theme.all_days()
    often = _rate(days) or ("often" if theme.share() >= OFTEN else "rarely")
    cited_ids = _spread(theme)
    rest = [member.id for member in theme.members if member.id not in set(cited_ids)]
    content = _wording(subject, name, often, days)
    times: Json = {"activity": name, "often": often, "days_of_week": _weekdays(days), "hours": _hours(theme.members)}
    yield Recurrence(stem, content, [*cited_ids, *rest], len(cited_ids), days, times)


def _wording(subject: str, name: str, often: str, days: Sequence[date]) -> str:
    phrases, weekday = languages.phrases(languages.by_script(name)).recurrence, _weekday(days)
    return phrases.recurs.format(
        subject=subject,
        often=phrases.often[often],
        weekday="" if weekday is None else phrases.on_weekday.format(weekday=phrases.weekdays[weekday]),
        name=name,
        days=len(days),
        first=days[0],
        last=days[-1],
    )


def _spread(theme: _Theme) -> list[UUID]:
    """Return the members to cite: one per day, the shortest, spread evenly from the first day to the last."""
    by_day: dict[date, DatedStatement] = {}
    for member in sorted(theme.members, key=lambda member: (len(member.content), member.id)):
        for day in theme.days[member.id]:
            by_day.setdefault(day, member)
    ordered = list(dict.fromkeys(by_day[day].id for day in sorted(by_day)))
    if len(ordered) <= CITED:
        return ordered
    step = (len(ordered) - 1) / (CITED - 1)
    return [ordered[round(step_number * step)] for step_number in range(CITED)]


def _weekdays(days: Sequence[date]) -> list[str]:
    """Return the usual weekdays, if most of the days fall on them; each comes twice at least."""
    counts = Counter(day.weekday() for day in days)
    usual = sorted(day for day, count in counts.items() if count >= max(2, USUAL * len(days)))
    covered = sum(counts[day] for day in usual) >= MOSTLY * len(days)
    return [_WEEKDAYS[day].lower() for day in usual] if covered else []


def _hours(members: Sequence[DatedStatement]) -> list[int]:
    """Return the hours of the day that half of the statements with an hour name; not those at which they were said."""
    named = [hours for statement in members if (hours := clock_times.hours(statement.content))]
    counts = Counter(hour for hours in named for hour in hours)
    return sorted(hour for hour, count in counts.items() if count >= max(NAMED, len(named) / 2))


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
    day, count = Counter(day.weekday() for day in days).most_common(1)[0]
    return day if count >= max(DAYS, MOSTLY * len(days)) else None


_OTHERS = frozenset({"system", "tool"})

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_VAGUE = either(language.activities.vague for language in languages.ALL if language.activities)
"""Time expressions without a day, for which the day of the mention counts."""
