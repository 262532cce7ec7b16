"""Drafts of rules, tried on what is in the log."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text

from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Json
from rules.backtest.backtest import Backtest, BacktestProgress, BacktestRequest, Result
from rules.document.schema import Rule
from rules.engine.similarity import Meanings
from rules.registry import store
from tests.rules.samples import NOON
from tests.samples import TENANT

HOUR = timedelta(hours=1)


def install(app: Database, *documents: Json) -> None:
    """Nothing but these rules in force, and nothing in the log."""
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            store.delete(tx, TENANT, stored.name, author="test")
        for document in documents:
            store.save(tx, TENANT, document, author="test")
        tx.execute(text("DELETE FROM events"))


def steps(app: Database, draft: Rule, **more: Any) -> list[BacktestProgress | Result]:
    meanings = Meanings(HashEmbedder())
    asked = BacktestRequest(draft, **{"since": NOON - HOUR, "until": NOON + HOUR, **more})
    return list(Backtest(app, TENANT, asked, meanings, max_hops=8).run())


def tried(app: Database, draft: Rule, **more: Any) -> Json:
    last = steps(app, draft, **more)[-1]
    assert isinstance(last, Result)
    return last.document


def at(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat()


def acts(result: Json) -> list[tuple[str, list[str]]]:
    """When it acted, in seconds after noon, and on which events."""
    return [
        (f"{(datetime.fromisoformat(one['at']) - NOON).total_seconds():g}", one["events"]) for one in result["samples"]
    ]
