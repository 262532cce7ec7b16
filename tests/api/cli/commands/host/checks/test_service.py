from __future__ import annotations

from pathlib import Path

import pytest

from api.cli.commands.host.checks import service
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from tests.commands import served
from tests.ports import free_port


def test_where_nothing_runs_the_home_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=f"nothing runs on {tmp_path}"):
        service.stack(Installation(Settings(home=tmp_path)))


def test_an_api_is_asked_at_its_address_and_a_key_for_its_tenant(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(settings)
    monkeypatch.setenv("IMPRINT_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(Misconfigured, match="No answer from"):
        service.api(installation)
    with served(settings) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        assert service.key(installation) == "let in to the tenant acme, scopes admin"
        monkeypatch.setenv("IMPRINT_API_KEY", "imp.acme.nobodys.key")
        with pytest.raises(Misconfigured, match="The key of the commands is refused"):
            service.key(installation)
