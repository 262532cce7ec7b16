"""Models of flow control and of schedules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, Self

from cronsim import CronSim, CronSimError
from pydantic import Field, field_validator, model_validator

from rules.document.fields import Key, Model, Seconds, TypePattern, Zone, refuse


class Debounce(Model):
    """Waits for a quiet period, then acts once on all collected matches."""

    seconds: Annotated[Seconds, Field(description="Seconds without a match before acting")]
    max_wait_seconds: Annotated[Seconds | None, Field(description="Maximum seconds to wait after the first match")] = (
        None
    )
    max_events: Annotated[
        int | None, Field(ge=1, le=10_000, description="Number of collected matches at which to act at once")
    ] = None
    flush_on: Annotated[
        list[TypePattern], Field(max_length=20, description="Event types with the same key that end the wait at once")
    ] = Field(default_factory=list)
    key: Key = None

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.max_wait_seconds is not None and self.max_wait_seconds < self.seconds:
            raise refuse("the longest wait must not be below `seconds`", "max_wait_seconds")
        return self


class Count(Model):
    """Acts on every n-th match."""

    threshold: Annotated[int, Field(ge=1, le=10_000, description="Number of matches to act on")]
    within_seconds: Annotated[
        Seconds | None, Field(description="Maximum age of a counted match, in seconds; default: unlimited")
    ] = None
    key: Key = None


class Cooldown(Model):
    """Holds matches back for a time after acting."""

    seconds: Annotated[Seconds, Field(description="Seconds after acting during which matches are held back")]
    key: Key = None


class Throttle(Model):
    """Limits how often the rule acts."""

    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum number of actions")]
    per_seconds: Annotated[Seconds, Field(description="Period in seconds")]
    key: Key = None


class Sample(Model):
    """Acts for a fixed share of the keys."""

    ratio: Annotated[float, Field(gt=0, le=1, description="Share of keys, above 0 and up to 1", examples=[0.1])]
    key: Key = None


class Concurrency(Model):
    """Limits how many actions of a key run at the same time."""

    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum concurrent actions")]
    on_conflict: Annotated[
        Literal["queue", "skip", "latest"],
        Field(description="Excess actions: they wait, are dropped, or replace the waiting one"),
    ] = "queue"
    key: Key = None


class Flow(Model):
    """Flow control of a rule, at most one stage of each kind; each has its own keys."""

    debounce: Debounce | None = None
    count: Count | None = None
    cooldown: Cooldown | None = None
    throttle: Throttle | None = None
    sample: Sample | None = None
    concurrency: Concurrency | None = None

    def parts(self) -> dict[str, Debounce | Count | Cooldown | Throttle | Sample | Concurrency]:
        """Return the flows that are set, by name."""
        return {name: part for name, part in self if part is not None}


class Schedule(Model):
    """A schedule, for which the clock fires `clock.ticked`; its `payload.rule` is the rule's name."""

    cron: Annotated[
        str | None, Field(description="Minute, hour, day, month, weekday", examples=["0 3 * * *"], max_length=200)
    ] = None
    every_seconds: Annotated[
        int | None, Field(ge=1, le=366 * 86_400, description="Alternatively: interval in seconds")
    ] = None
    timezone: Annotated[Zone, Field(description="IANA time zone of `cron`", examples=["Europe/Lisbon"])] = "UTC"
    for_each: Annotated[
        Literal["tenant", "user", "session", "source"],
        Field(description="One event for the tenant, or one for each user; an alarm also for each session or source"),
    ] = "tenant"

    @field_validator("cron")
    @classmethod
    def _five_fields(cls, cron: str | None) -> str | None:
        if cron is not None:
            fault = cron_fault(cron)
            if fault:
                raise refuse(fault)
        return cron

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.cron is None) == (self.every_seconds is None):
            raise refuse("give either `cron` or `every_seconds`")
        return self


_NEVER_BEFORE: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - any date of the calendar will do
"""Start of the search for a first due time; it ends after 50 years, and the calendar repeats after 28."""

_CRON: Final = (
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day", "1 to 31, `L` is the last"),
    ("month", "1 to 12 or names such as `jan`"),
    ("weekday", "0 to 7 or names such as `mon`; `mon#1` is the first of the month, `5L` the last Friday"),
)


def cron_fault(cron: str) -> str | None:
    """Return the fault of a five-field cron line, or None."""
    fields = cron.split()
    if len(fields) != len(_CRON):
        return f"a cron line has five fields (minute hour day month weekday), this one has {len(fields)}"
    for index, (field, (name, values)) in enumerate(zip(fields, _CRON, strict=True)):
        alone = [field if other == index else "*" for other in range(len(_CRON))]
        if not _is_cron(alone):
            return f"`{field}` is no {name}; use *, n, n-m, a list with commas, /n for steps ({values})"
    if not _is_cron(fields) or next(CronSim(cron, _NEVER_BEFORE), None) is None:
        return f"`{cron}` never comes: no such day is in these months"
    return None


def _is_cron(fields: Sequence[str]) -> bool:
    try:
        CronSim(" ".join(fields), _NEVER_BEFORE)
    except CronSimError:
        return False
    return True
