"""A message of the bus whose key does not hold is kept for nobody: not in the log, not in anyone's dead letters."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import create_engine, text
from structlog.testing import capture_logs

from core.config import Settings
from core.storage import db
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from core.tenancy import tenants
from tests.doors import OTHER, key_of
from tests.samples import TENANT, said
from workers.routing.bus_consumer import BusMessage, Intake

PRIVATE = "ACMEPRIVATE diagnosis"


def refused() -> float:
    labels = {"door": "bus", "reason": "unauthorized"}
    return REGISTRY.get_sample_value("imprint_events_refused_total", labels) or 0.0


def revoked(settings: Settings, app: Database) -> str:
    key = key_of(settings, OTHER)
    with app.tenant(OTHER) as tx:
        tenants.revoke_key(tx, key.split(".")[2])
    return key


def mistyped(settings: Settings, _app: Database) -> str:
    return key_of(settings, OTHER)[:-1] + "!"


def of_no_tenant(settings: Settings, _app: Database) -> str:
    return key_of(settings, OTHER).replace(OTHER, "nobody", 1)


def that_only_reads(settings: Settings, _app: Database) -> str:
    return key_of(settings, OTHER, ("read",))


@pytest.mark.parametrize("make", [revoked, mistyped, of_no_tenant, that_only_reads])
@pytest.mark.parametrize("word", ["Bearer", "bearer", "Token"])
def test_a_key_that_does_not_hold_leaves_nothing(settings: Settings, app: Database, make: Any, word: str) -> None:
    key, before = make(settings, app), refused()
    body = json.dumps(said(PRIVATE, user="ada")).encode()
    intake = Intake(app, TENANT, 100, 4096, lambda: None)
    with capture_logs() as lines:
        BusMessage(intake, body, {"authorization": f"{word} {key}"}, "application/json").accept()
    assert holding(settings, "ACMEPRIVATE") == []
    assert refused() == before + 1
    (line,) = lines
    assert (line["event"], line["bytes"]) == ("bus.unauthorized", len(body))
    assert line["sha256"] == hashlib.sha256(body).hexdigest()[:16]
    assert key.rsplit(".", 1)[-1] not in str(lines)
    assert PRIVATE not in str(lines)


def test_a_key_without_its_word_holds_no_better(settings: Settings, app: Database) -> None:
    intake = Intake(app, TENANT, 100, 4096, lambda: None)
    body = json.dumps(said(PRIVATE)).encode()
    for header in (mistyped(settings, app), "", " ", "Bearer"):
        BusMessage(intake, body, {"Authorization": header}, "application/json").accept()
    assert holding(settings, "ACMEPRIVATE") == []


def test_a_message_without_a_key_still_goes_to_the_tenant_of_the_bus(app: Database) -> None:
    BusMessage(
        Intake(app, TENANT, 100, 4096, lambda: None), json.dumps(said("Hello.")).encode(), {}, "application/json"
    ).accept()
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT count(*) FROM events")).scalar_one() == 1


def test_what_a_good_key_sends_unreadably_is_its_own_tenants_dead_letter(settings: Settings, app: Database) -> None:
    headers = {"authorization": f"Bearer {key_of(settings, OTHER, ('publish',))}"}
    BusMessage(Intake(app, TENANT, 100, 4096, lambda: None), b"{not json", headers, "application/json").accept()
    for tenant, letters in ((OTHER, 1), (TENANT, 0)):
        with app.tenant(tenant) as tx:
            assert tx.execute(text("SELECT count(*) FROM dispatches WHERE target = 'bus'")).scalar_one() == letters


def holding(settings: Settings, word: str) -> list[str]:
    """The tables in which the word stands, whatever the tenant."""
    router = create_engine(db.owner_url(settings))
    found = []
    with router.begin() as tx:
        for table in TENANT_TABLES:
            tx.execute(text(f"ALTER TABLE {table.name} NO FORCE ROW LEVEL SECURITY"))
            held = tx.execute(text(f"SELECT count(*) FROM {table.name} t WHERE t::text LIKE :w"), {"w": f"%{word}%"})
            found += [table.name] * bool(held.scalar_one())
            tx.execute(text(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"))
    router.dispose()
    return found
