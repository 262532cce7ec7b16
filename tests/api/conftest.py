"""What the tests of the commands share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.config import Settings
from tests.commands import Imprint, served


@pytest.fixture
def imprint(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Imprint]:
    """The commands, with a server that answers them."""
    with served(settings) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        monkeypatch.setenv("COLUMNS", "200")
        yield Imprint(monkeypatch, capsys)
