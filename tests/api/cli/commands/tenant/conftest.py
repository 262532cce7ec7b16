"""What the tests of an operator's commands share."""

from __future__ import annotations

import pytest

from core.config import Settings
from tests.commands import Imprint


@pytest.fixture
def operator(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Imprint:
    """The commands of who has the database, without a server."""
    assert settings.database_url
    monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("COLUMNS", "200")
    return Imprint(monkeypatch, capsys)
