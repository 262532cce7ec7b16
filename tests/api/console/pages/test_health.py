from __future__ import annotations

from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.tenancy.tenants import DEFAULT
from tests.api.console.browser import Browser
from tests.doors import key_of
from tests.samples import TENANT


def test_a_tenant_sees_processes_and_not_the_servers(browser: Browser) -> None:
    shown = browser.get("/health").text
    assert "worker-cpu" in shown
    assert "Not at work: router." in shown
    assert "are shown to the operator" in shown
    assert "search_index" not in shown


def test_the_operator_sees_the_tables(stranger: Browser, settings: Settings) -> None:
    stranger.log_in(key_of(settings, DEFAULT))
    shown = stranger.get("/health/figures").text
    assert "search_index" in shown
    assert "PostgreSQL" in shown


def test_alarms_are_shown_as_they_stand(browser: Browser, app: Database) -> None:
    assert "No alarm has been looked at yet." in browser.get("/health/figures").text
    insert = """
        INSERT INTO alarms (tenant_id, rule, key, for_each, version, raised_at, looked_at, counts)
        VALUES (:tenant, 'dead', '', 'tenant', 1, now(), now(), '{"dead": 12}'),
               (:tenant, 'silent', '', 'source', 1, NULL, now(), '{}'),
               (:tenant, 'silent', 'mail', 'source', 1, now(), now(), '{"share": 0.25}')
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(insert), {"tenant": TENANT})
    shown = browser.get("/health/figures").text
    assert "dead 12" in shown
    assert "<code>mail</code>" in shown
    assert "share 0.25" in shown
    assert shown.count(">raised<") == 2
