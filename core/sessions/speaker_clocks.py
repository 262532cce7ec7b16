"""The time zones of users: by these, messages whose times came in UTC get the time on the speaker's clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import text

from core.storage.db import Tx
from core.tenancy import settings_rows
from core.types import Event, Message

SETTING: Final = "clock"
"""Name of the row in `tenant_settings`."""


def get(tx: Tx, user_id: str) -> str | None:
    """Return the time zone that was set for a user; None: none was."""
    zone: str | None = tx.execute(_OF_USER, {"id": user_id}).scalar_one_or_none()
    return zone


def put(tx: Tx, tenant_id: str, user_id: str, zone: str | None) -> None:
    """Set the time zone of a user, by its IANA name; None removes it."""
    tx.execute(_PUT, {"tenant": tenant_id, "id": user_id, "zone": zone})


def of_tenant(tx: Tx) -> str | None:
    """Return the time zone of users for whom none was set; None: UTC."""
    zone: str | None = tx.execute(_OF_TENANT).scalar_one()
    return zone


def put_of_tenant(tx: Tx, tenant_id: str, zone: str | None) -> None:
    """Set the time zone of users for whom none was set; None: UTC."""
    settings_rows.write(tx, tenant_id, SETTING, {"time_zone": zone})


def local(tx: Tx, user_id: str | None, moment: datetime) -> datetime:
    """Return a moment on a user's clock: as it is with an offset of its own, else in the user's or tenant's zone."""
    if moment.utcoffset() or not user_id:
        return moment
    zone = _zones(tx, [user_id]).get(user_id)
    return moment if zone is None else moment.astimezone(ZoneInfo(zone))


def of_event(tx: Tx, event: Event) -> datetime:
    """Return the time of an event on the clock of its user."""
    return local(tx, event.user_id, event.local_time)


def of_messages(tx: Tx, messages: Sequence[Message]) -> list[Message]:
    """Return messages with their times on the clocks of their speakers.

    An offset that came with the time counts first, then the zone of the user, then that of the tenant. An offset of
    zero says nothing: most clients send UTC wherever they are.
    """
    zones = _zones(tx, {m.user_id for m in messages if not m.occurred_at.utcoffset()})
    return [_local(message, zones) for message in messages]


def _local(message: Message, zones: Mapping[str, str]) -> Message:
    zone = zones.get(message.user_id)
    if zone is None or message.occurred_at.utcoffset():
        return message
    return replace(message, occurred_at=message.occurred_at.astimezone(ZoneInfo(zone)))


def _zones(tx: Tx, user_ids: Iterable[str]) -> dict[str, str]:
    ids = list(user_ids)
    return {row.id: row.time_zone for row in tx.execute(_ZONES, {"ids": ids})} if ids else {}


_OF_USER = text("SELECT time_zone FROM owners WHERE kind = 'user' AND id = :id")

_TENANT_ZONE: Final = f"(SELECT value ->> 'time_zone' FROM tenant_settings WHERE name = '{SETTING}')"

_OF_TENANT = text(f"SELECT {_TENANT_ZONE}")

_ZONES = text(f"""
    SELECT * FROM (
        SELECT i.id, coalesce(
            (SELECT time_zone FROM owners WHERE kind = 'user' AND id = i.id), {_TENANT_ZONE}) AS time_zone
        FROM unnest(cast(:ids AS text[])) AS i (id)) AS zones
    WHERE time_zone IS NOT NULL
""")

_PUT = text("""
    INSERT INTO owners (tenant_id, kind, id, last_at, time_zone) VALUES (:tenant, 'user', :id, clock_timestamp(), :zone)
    ON CONFLICT (tenant_id, kind, id) DO UPDATE SET time_zone = excluded.time_zone
""")
