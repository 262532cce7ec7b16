"""How long a tenant keeps messages, tools' results, sessions, events and dispatches.

Every number is in days; null, the default, keeps for ever. `core.expiry` removes what is older.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.errors import Invalid, Problem
from core.storage.db import Tx
from core.tenancy import settings_rows

SETTING: Final = "retention"
"""Name of the row in `tenant_settings`."""

LONGEST_DAYS: Final = 36_500
"""A hundred years: dates stay within the calendar; to keep longer, set null."""

REPEAT_DAYS: Final = 7
"""Least days for which events are kept: that long a source may repeat an event, and it is known as a repeat."""

Days = Annotated[int, Field(strict=True, ge=1, le=LONGEST_DAYS)]


class Retention(BaseModel):
    """Days for which each kind is kept; null: for ever."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages_days: Days | None = Field(None, description="Days after which what was said in a message leaves")
    tool_results_days: Days | None = Field(
        None, description="Days after which results of tools leave, at most `messages_days`; null: as messages"
    )
    sessions_days: Annotated[int, Field(strict=True, ge=0, le=LONGEST_DAYS)] | None = Field(
        None, description="Days after its end for which a session is kept with its messages; 0: it leaves at its end"
    )
    events_days: Annotated[int, Field(strict=True, ge=REPEAT_DAYS, le=LONGEST_DAYS)] | None = Field(
        None, description=f"Days for which events are kept, and repeats of them known; at least {REPEAT_DAYS}"
    )
    dispatches_days: Days | None = Field(
        None,
        description="Days for which finished dispatches and decisions are kept, at most `events_days`; "
        "null: as long as their events",
    )
    dead_letters_days: Days | None = Field(
        None,
        description="Days for which dead letters are kept, at least `dispatches_days`; null: until they are replayed",
    )
    quotes: Literal["keep", "drop"] = Field(
        "keep", description="Whether memories keep their quotes of messages that have left"
    )

    @property
    def traces_days(self) -> int | None:
        """Days for which decisions and finished dispatches are kept: not longer than their events."""
        return self.events_days if self.dispatches_days is None else self.dispatches_days

    @property
    def queries_days(self) -> int | None:
        """Days for which the log tells what was searched for: not longer than what was said."""
        return min((days for days in (self.messages_days, self.sessions_days) if days is not None), default=None)

    @property
    def tools_days(self) -> int | None:
        """Days for which results of tools are kept: not longer than messages."""
        return self.messages_days if self.tool_results_days is None else self.tool_results_days


def get(tx: Tx, tenant_id: str) -> Retention:
    """Return what the tenant has chosen; without a choice everything is kept."""
    return Retention.model_validate(settings_rows.read(tx, tenant_id, SETTING) or {})


def put(tx: Tx, tenant_id: str, chosen: Retention) -> None:
    """Set how long everything is kept; the next sweep goes by it. Invalid: one time contradicts another."""
    check(chosen)
    settings_rows.write(tx, tenant_id, SETTING, chosen.model_dump(mode="json", exclude_defaults=True))


def check(chosen: Retention) -> None:
    """Refuse times of which one contradicts another. Invalid."""
    problems = [
        Problem(f"/{shorter}", f"must be at most `{longer}`, which is {most}: {why}")
        for shorter, longer, why in _ORDER
        if (days := getattr(chosen, shorter)) is not None
        and (most := getattr(chosen, longer)) is not None
        and days > most
    ]
    if problems:
        raise Invalid(problems)


_ORDER: Final = (
    ("tool_results_days", "messages_days", "a tool's result is a message, and leaves with the others"),
    ("dispatches_days", "events_days", "a finished dispatch leaves with its event at the latest"),
    ("dispatches_days", "dead_letters_days", "a dead letter is kept longer than what has succeeded"),
)
