"""Recurring themes: days, rhythm, sentence. Pure."""

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


class Occasion(NamedTuple):
    """One time that something was said: in which words, when, and by what kind of speaker.

    `told`: the message's time; None: there is no message, and the memory's own time counts. `own`: whoever it is about
    said it.
    """

    quote: str
    told: datetime | None
    role: str | None
    own: bool = True


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory as it is read here: all that it says, of when, and the occasions on which it was said."""

    id: UUID
    content: str
    occurred_at: datetime
    occasions: Sequence[Occasion]


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A theme with its sentence. `members`: ids of the memories it comes in, those to be cited first."""

    theme: str
    content: str
    members: Sequence[UUID]
    cited: int
    days: Sequence[date]


@dataclass(frozen=True, slots=True)
class _Theme:
    """A theme as it is found: its mentions, the statements, their days. `active`: days on which anything is known."""

    mentions: Sequence[Mention]
    members: Sequence[Statement]
    days: Mapping[UUID, Collection[date]]
    own: Collection[UUID]
    active: int

    def done(self) -> list[date]:
        """The days on which the subject did it, not only spoke of it."""
        pairs = zip(self.mentions, self.members, strict=True)
        return sorted({day for mention, member in pairs if mention.doing for day in self.days[member.id]})

    def rank(self) -> tuple[int, ...]:
        """What comes on more days, is done and not only spoken of, and comes in more words goes first."""
        return -len(self.all_days()), -len(self.done()), -len(self.mentions)

    def share(self, days: Sequence[date]) -> float:
        return len(days) / self.active

    def told(self) -> list[date]:
        """The days on which the subject spoke of it."""
        return sorted({day for member, days in self.days.items() if member in self.own for day in days})

    def all_days(self) -> list[date]:
        return sorted({day for days in self.days.values() for day in days})


def recurrences(
    statements: Sequence[Statement], subject: str, names: Collection[str] = (), known: Collection[str] = ()
) -> list[Recurrence]:
    """What comes again in statements about `subject`, what is `known` (themes) first, then what comes most often.

    Two themes of the same statements are one. `names` of people are no themes.
    """
    found = _themes(statements, subject, names)
    ranked = sorted(found.items(), key=lambda item: (item[0] not in known, *item[1].rank(), item[0]))
    forms = Counter(word.casefold() for one in statements for word in re.findall(r"[^\W\d_]+", one.content))
    kept: list[Recurrence] = []
    for theme, one in ranked:
        mine = {member.id for member in one.members}
        if all(len(mine & set(other.members)) < ONE * min(len(mine), len(other.members)) for other in kept):
            kept += _recurrence(theme, one, subject, forms)
    return kept


def _themes(statements: Sequence[Statement], subject: str, names: Collection[str]) -> dict[str, _Theme]:
    mentioned: defaultdict[str, list[tuple[Mention, Statement]]] = defaultdict(list)
    over: dict[str, datetime] = {}
    days = {one.id: _days(one) for one in statements}
    active = len({day for several in days.values() for day in several})
    people = themes.named(subject, names)
    for one in sorted(statements, key=lambda one: (one.occurred_at, one.id)):
        for mention in themes.mentions(one.content, subject, people) if days[one.id] else ():
            mentioned[mention.stem].append((mention, one))
        over |= dict.fromkeys(themes.denied(one.content), one.occurred_at)
    found = {}
    for stem, pairs in mentioned.items():
        members = [one for _, one in pairs]
        own = {one.id for one in members if any(occasion.own for occasion in one.occasions)}
        theme = _Theme(
            [mention for mention, _ in pairs], members, {one.id: days[one.id] for one in members}, own, active
        )
        ended = stem in over and over[stem] >= max(one.occurred_at for one in members)
        if not ended and _is_notable(theme):
            found[stem] = theme
    return found


def _is_notable(theme: _Theme) -> bool:
    days = _said_days(theme)
    return _comes_again(days) and (theme.share(days) >= RARELY or bool(_rate(days)))


def _said_days(theme: _Theme) -> list[date]:
    """The days that are told of: of what was done, where it was done often enough; else of what was spoken of."""
    done = theme.done()
    return done if _comes_again(done) else theme.told()


def _comes_again(days: Sequence[date]) -> bool:
    return len(days) >= DAYS and days[-1] - days[0] >= SPAN


def _days(one: Statement) -> frozenset[date]:
    """The days it tells of. Of an assistant counts what it says anew; of tools, nothing."""
    said: set[str] = set()
    days = set()
    for occasion in one.occasions:
        line = " ".join(occasion.quote.split())
        if occasion.role in _OTHERS or (occasion.role == "assistant" and line in said):
            continue
        said.add(line)
        days.add((occasion.told or one.occurred_at).astimezone(UTC).date())
    happened = one.occurred_at.astimezone(UTC).date()
    if len(days) == 1 and not _VAGUE.search(one.content) and timedelta() <= min(days) - happened <= LATE:
        return frozenset({happened})
    return frozenset(days)


def _recurrence(theme: str, one: _Theme, subject: str, forms: Collection[str]) -> Iterator[Recurrence]:
    name = themes.name(one.mentions)
    if name is None:
        return
    done = one.done()
    verb = (_verb_zh if has_han(name) else _verb)(one, name, forms) if _comes_again(done) else None
    days = done if verb else one.told()
    if not _comes_again(days):  # What was done has no verb to say it with, and was not spoken of often enough.
        return
    word = _chinese if has_han(name) else _english
    cited = _spread(one)
    rest = [member.id for member in one.members if member.id not in set(cited)]
    content = word(one, name, subject, days, verb)
    yield Recurrence(theme, content, [*cited, *rest], len(cited), days)


def _spread(one: _Theme) -> list[UUID]:
    """The members to cite: one of a day, the shortest that says it, from the first day to the last at even steps."""
    by_day: dict[date, Statement] = {}
    for member in sorted(one.members, key=lambda member: (len(member.content), member.id)):
        for day in one.days[member.id]:
            by_day.setdefault(day, member)
    ordered = list(dict.fromkeys(by_day[day].id for day in sorted(by_day)))
    if len(ordered) <= CITED:
        return ordered
    step = (len(ordered) - 1) / (CITED - 1)
    return [ordered[round(place * step)] for place in range(CITED)]


def _english(one: _Theme, name: str, subject: str, days: Sequence[date], verb: str | None) -> str:
    counted = f"on {len(days)} days from {days[0]} to {days[-1]}"
    rate, weekday, clock = _rate(days), _weekday(days), _clock(one.members)
    if weekday is not None and rate in {"day", "week"} and not verb:
        return f"{subject}, most {_WEEKDAYS[weekday]}s: {' '.join([name, *clock])} ({counted})."
    rhythm = [f"mostly on {_WEEKDAYS[weekday]}s"] if weekday is not None else ["mostly at weekends"] * _weekends(days)
    rhythm += [f"mostly {part}" for part in _part_of_day(one.members, _PARTS)] + clock
    verb = verb or f"talks about {themes.thing(one.mentions, name)}"
    # What was done in most months may have been told of in most: a journey is told more than once.
    often = rate and (rate != "month" or verb.startswith("talks"))
    said = f"{subject} {verb} most {rate}s" if often else f"{subject} often {verb}"
    if not often and one.share(days) < OFTEN:
        said = f"{subject} {verb} now and then"
    return f"{', '.join([said, *rhythm])}: {counted}."


def _verb(one: _Theme, name: str, forms: Collection[str]) -> str | None:
    if name.endswith("ing") and 2 * sum(m.going for m in one.mentions) >= sum(m.doing for m in one.mentions):
        return f"goes {name}"
    verb = themes.base(name, forms)
    return themes.third_person(verb) if verb else None


def _verb_zh(one: _Theme, name: str, _forms: Collection[str]) -> str:
    verbs = Counter(mention.before for mention in one.mentions if mention.doing)
    return min(verbs, key=lambda verb: (-verbs[verb], verb)) + name


def _chinese(one: _Theme, name: str, subject: str, days: Sequence[date], verb: str | None) -> str:
    weekday = _weekday(days)
    rhythm = [f"多在周{'一二三四五六日'[weekday]}"] if weekday is not None else ["多在周末"] * _weekends(days)
    rhythm += [f"多在{part}" for part in _part_of_day(one.members, _PARTS_ZH)]
    rate = _rate(days)
    often = _OFTEN_ZH[rate] if rate or one.share(days) >= OFTEN else "不时"
    said = "，".join([f"{subject}{often}{verb or f'说到{name}'}", *rhythm])
    return f"{said}：{days[0]}至{days[-1]}共{len(days)}天。"


def _rate(days: Sequence[date]) -> str:
    """The shortest of day, week and month of which most in its span have one of the days; empty: none."""
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
    """The weekday on which it mostly is, in as many weeks as a pattern needs days."""
    day, count = Counter(one.weekday() for one in days).most_common(1)[0]
    return day if count >= max(DAYS, MOSTLY * len(days)) else None


def _weekends(days: Sequence[date]) -> bool:
    count = [one for one in days if one.weekday() >= _SATURDAY]
    return len({one.isocalendar()[:2] for one in count}) >= DAYS and len(count) >= MOSTLY * len(days)


def _part_of_day(members: Sequence[Statement], parts: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The part of the day that most of them name; the hour of a message says nothing where no zone is known."""
    counts = {part: sum(bool(form.search(one.content)) for one in members) for part, form in parts.items()}
    return [part for part, count in counts.items() if count >= max(DAYS - 1, MOSTLY * len(members))]


def _clock(members: Sequence[Statement]) -> list[str]:
    """The hour that most of them name, as they name it."""
    named = Counter(match[0].lower() for one in members for match in _CLOCK.finditer(one.content))
    return [said for said, count in named.items() if count >= MOSTLY * len(members)]


_SATURDAY = 5
_OTHERS = frozenset({"system", "tool"})
_OFTEN_ZH = {"day": "几乎每天", "week": "几乎每周", "month": "几乎每月", "": "经常"}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_VAGUE = re.compile(r"\b(?:week|weekend|month|year|about|in [A-Z][a-z]+ \d{4}|in \d{4})\b|周|个?月(?!\d)|年(?!\d)")
"""What names no day: then the day on which it was told counts."""

_CLOCK = re.compile(
    r"\bat (?:\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\b\.?)?(?![\d:%])|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|noon|midnight)\b",
    re.IGNORECASE,
)
_PARTS: Mapping[str, re.Pattern[str]] = {
    "in the morning": re.compile(r"\bmornings?\b", re.IGNORECASE),
    "in the afternoon": re.compile(r"\bafternoons?\b", re.IGNORECASE),
    "in the evening": re.compile(r"\b(?:evenings?|tonight)\b", re.IGNORECASE),
    "at night": re.compile(r"\bnights?\b", re.IGNORECASE),
}
_PARTS_ZH: Mapping[str, re.Pattern[str]] = {
    "早上": re.compile("早上|早晨|清晨|上午"),
    "下午": re.compile("下午"),
    "晚上": re.compile("晚上|今晚|昨晚|傍晚"),
}
