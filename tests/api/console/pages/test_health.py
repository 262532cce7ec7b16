from __future__ import annotations

from core.config import Settings
from core.tenancy.tenants import DEFAULT
from tests.api.console.browser import Browser
from tests.doors import key_of


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
