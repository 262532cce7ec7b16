from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.cli.commands.host.checks import installation
from api.cli.commands.host.checks.installation import Installation
from api.stack.up import alone
from core.config import Settings
from tests.doors import OTHER, key_of
from tests.samples import TENANT


def test_a_check_can_neither_write_nor_wait_for_long(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DBAPIError, match="read-only"):
        Installation(settings).rows(text("DELETE FROM deployment RETURNING name"))
    monkeypatch.setattr(installation, "STATEMENT_SECONDS", 1)
    with pytest.raises(DBAPIError, match="statement timeout"):
        Installation(settings).rows(text("SELECT pg_sleep(60)"))


def test_tenants_are_listed_up_to_a_number(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    key_of(settings, OTHER)
    assert sorted(Installation(settings).tenants()) == sorted([TENANT, OTHER])
    monkeypatch.setattr(installation, "TENANTS", 1)
    assert len(Installation(settings).tenants()) == 1


def test_what_is_there_is_known_from_settings_and_lock(settings: Settings, tmp_path: Path) -> None:
    assert Installation(settings).is_anywhere
    empty = Settings(home=tmp_path)
    assert not Installation(empty).is_anywhere
    assert not Installation(empty).has_database
    with alone(tmp_path):
        assert Installation(empty).is_up
