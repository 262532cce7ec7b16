"""Statements that someone asks to be remembered."""

from __future__ import annotations

from datetime import UTC, datetime

from core.remembering import requests
from core.types import Event, Json

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def asked(payload: Json, event_id: str = "e1") -> Event:
    user = payload.get("user_id")
    return Event(1, "acme", event_id, "test", requests.REQUESTED, None, NOON, payload, None, user)
