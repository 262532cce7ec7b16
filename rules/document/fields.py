"""Value types shared by the parts of a rule, with their validation and error messages."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from rules.expressions import paths
from rules.expressions.times import parse_time

MAX_TEXT = 10_000
THIRTY_DAYS = 30 * 86_400
EVENT_TYPE: Final = re.compile(r"[A-Za-z0-9_.:/*-]{1,200}")


class Model(BaseModel):
    """Base of every part of a rule: unknown fields are refused, nothing is coerced, instances are frozen."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def refuse(detail: str, at: str = "") -> PydanticCustomError:
    """Return an error that becomes a Problem with this detail, at the key `at` below the place where it is raised."""
    return PydanticCustomError("rule", "{detail}", {"detail": detail, "at": at})


def _path(text: str) -> str:
    try:
        paths.parse_path(text)
    except paths.BadPath as error:
        raise refuse(str(error)) from error
    return text


def _event_path(text: str) -> str:
    if _path(text) in paths.LOOKED_UP or text.startswith(("item", "count.")):
        raise refuse(f"`{text}` cannot make a key; use a field of the event such as `payload.session_id`")
    return text


def _event_type(text: str) -> str:
    if not EVENT_TYPE.fullmatch(text):
        raise refuse("write a type such as `message.added`, a wildcard such as `memory.*`, or `*`")
    return text


def concrete_type(text: str) -> str:
    """Return the event type, which must not be a wildcard."""
    if "*" in _event_type(text):
        raise refuse("an emitted event has one type; wildcards are for `event_type` of a rule")
    return text


def _moment(value: object) -> datetime:
    moment = value if isinstance(value, datetime) else parse_time(value) if isinstance(value, str) else None
    if moment is None or moment.tzinfo is None:
        raise refuse("write an RFC 3339 time with its offset, e.g. `2026-11-21T10:00:00Z`")
    return moment


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise refuse(f"no time zone is called `{name}`; write an IANA name such as `Europe/Lisbon`") from error
    return name


FieldPath = Annotated[
    str,
    AfterValidator(_path),
    Field(
        description="Path into the event, or the name of a looked-up field",
        examples=["payload.message_count", "payload.tags[0]", "event_type", "session.token_count"],
        json_schema_extra={"pattern": paths.PATTERN, "maxLength": paths.MAX_LENGTH},
    ),
]
KeyPath = Annotated[str, AfterValidator(_event_path)]
Key = Annotated[
    list[KeyPath] | None,
    Field(
        description="Fields of the event that form the key; default: the session, else the user",
        examples=[["payload.user_id"]],
        min_length=1,
        max_length=8,
    ),
]
Zone = Annotated[str, AfterValidator(_zone)]
TypePattern = Annotated[str, AfterValidator(_event_type)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Seconds = Annotated[float, Field(gt=0, le=THIRTY_DAYS)]
