"""A provider of models with its limits, and its row in the database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from core.inference import quota
from core.inference.quota import Provider
from core.inference.token_bucket import Admission, Need, ProviderLimits
from core.storage.db import Database

LIMITS = ProviderLimits(60, 6_000, 3, timedelta(seconds=30), timedelta(seconds=90))


FREE = replace(LIMITS, requests=None, tokens=None)


NAME = "models.example/m"


def a_provider(**limits: Any) -> Provider:
    return Provider(NAME, replace(LIMITS, **limits))


def row(db: Database) -> Any:
    with db.queue() as tx:
        return tx.execute(text("SELECT * FROM providers WHERE name = :name"), {"name": NAME}).one()


def put(db: Database, changes: str) -> None:
    with db.queue() as tx:
        tx.execute(text(f"UPDATE providers SET {changes} WHERE name = :name"), {"name": NAME})


def admitted(db: Database, provider: Provider, need: Need = Need(1, 0)) -> Admission:
    with db.queue() as tx:
        return quota.admit(tx, provider, need)
