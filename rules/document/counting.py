"""Models of counts: what an alarm counts over time before its conditions are evaluated."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag

from rules.document.fields import EVENT_TYPE, THIRTY_DAYS, Model, refuse
from rules.expressions import paths

MAX_COUNTS: Final = 6
MAX_TYPES: Final = 20
MAX_NAME: Final = 500

MAX_COUNTED: Final = 100_000
"""Rows that one count looks through at most."""


def _exact_type(text: str) -> str:
    if not EVENT_TYPE.fullmatch(text) or "*" in text:
        raise refuse("write each counted type in full, such as `message.added`; a count takes no wildcards")
    return text


ExactType = Annotated[str, AfterValidator(_exact_type)]
ExactTypes = Annotated[
    Annotated[ExactType, Tag("<one>")]
    | Annotated[Annotated[list[ExactType], Field(min_length=1, max_length=MAX_TYPES)], Tag("<many>")],
    Discriminator(lambda value: "<many>" if isinstance(value, list) else "<one>"),
]
Within = Annotated[
    int,
    Field(ge=1, le=THIRTY_DAYS, description="Seconds before the due time that are counted", examples=[3600]),
]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
CountName = Annotated[str, StringConstraints(pattern=f"^{paths.COUNT_NAME}$")]

Per = Annotated[
    CountName | None,
    Field(description="Another count to divide by; unknown where that one is 0", examples=["searches"]),
]


class EventCount(Model):
    """Accepted events of some types."""

    of: Annotated[Literal["events"], Field(description="Kind of the count")]
    event_type: Annotated[
        ExactTypes,
        Field(description="Type, or a list of types, without wildcards", examples=["message.added"]),
    ]
    within_seconds: Within
    source: Annotated[Name | None, Field(description="Only events of this source", examples=["support-bot"])] = None
    user_id: Annotated[Name | None, Field(description="Only events of this user", examples=["ada"])] = None
    session_id: Annotated[Name | None, Field(description="Only events of this session", examples=["s1"])] = None
    sum: Annotated[
        str | None,
        Field(
            pattern=r"^payload\.[^.\[\]{}]{1,100}$",
            description="Number in the payload to add up instead of counting events; others count as 0",
            examples=["payload.searches"],
        ),
    ] = None
    per: Per = None

    @property
    def types(self) -> list[str]:
        """Return the types as a list."""
        return [self.event_type] if isinstance(self.event_type, str) else list(self.event_type)


class MemoryCount(Model):
    """Memories that were created, by the source of the events that they cite."""

    of: Annotated[Literal["memories"], Field(description="Kind of the count")]
    within_seconds: Within
    source: Annotated[
        Name | None, Field(description="Only memories with evidence from this source", examples=["support-bot"])
    ] = None
    user_id: Annotated[Name | None, Field(description="Only memories of this user", examples=["ada"])] = None
    per: Per = None


class DispatchCount(Model):
    """Dispatches with a status."""

    of: Annotated[Literal["dispatches"], Field(description="Kind of the count")]
    status: Annotated[
        Literal["dead", "held", "open"],
        Field(description="`dead`: given up; `held`: waits for an approval or its turn; `open`: has not ended"),
    ]
    within_seconds: Annotated[
        Within | None,
        Field(description="Only those that became dead, or were made, so many seconds before", examples=[3600]),
    ] = None
    target: Annotated[Name | None, Field(description="Only those of this agent", examples=["memory_extractor"])] = None
    rule: Annotated[Name | None, Field(description="Only those of this rule", examples=["extract_while_chatting"])] = (
        None
    )
    per: Per = None


class BudgetShare(Model):
    """Part of today's model budget that is used: 0 to 1 and above; unknown without a budget."""

    of: Annotated[Literal["budget"], Field(description="Kind of the count")]
    per: Per = None


AnyCount = EventCount | MemoryCount | DispatchCount | BudgetShare


def is_plain(count: AnyCount) -> bool:
    """Return whether it counts all the rows that it looks through, so that it can end at MAX_COUNTED."""
    narrowing = ["per", "sum", "source", "user_id", "session_id", "target", "rule"]
    if isinstance(count, DispatchCount):
        narrowing.append("within_seconds")
    return not isinstance(count, BudgetShare) and all(getattr(count, name, None) is None for name in narrowing)


def _kind(value: object) -> str | None:
    kind = value.get("of") if isinstance(value, dict) else getattr(value, "of", None)
    return kind if isinstance(kind, str) else None


Counted = Annotated[
    Annotated[EventCount, Tag("events")]
    | Annotated[MemoryCount, Tag("memories")]
    | Annotated[DispatchCount, Tag("dispatches")]
    | Annotated[BudgetShare, Tag("budget")],
    Discriminator(_kind),
]
Counts = Annotated[dict[CountName, Counted], Field(min_length=1, max_length=MAX_COUNTS)]
