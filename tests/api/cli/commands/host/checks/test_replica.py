"""The replica that is wrong, behind or away."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from api.cli.commands.host.checks import replica
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from bench.standby import Standby
from core.config import Settings
from core.errors import Misconfigured
from tests.conftest import Servers
from tests.doors import key_of
from tests.samples import TENANT


def installation(settings: Settings, url: str) -> Installation:
    return Installation(settings.model_copy(update={"replica_url": SecretStr(url)}))


def test_a_replica_that_replays_the_log_is_well(replicated: Settings, settings: Settings) -> None:
    assert replica.has_replica(Installation(replicated))
    assert not replica.has_replica(Installation(settings))
    assert "replays the log" in replica.replica(Installation(replicated))


def test_a_url_without_a_user_is_that_of_the_application(settings: Settings, standby: Standby) -> None:
    assert "replays the log" in replica.replica(installation(settings, f"postgresql://{standby.where}"))


def test_a_replica_behind_is_a_warning(replicated: Settings, standby: Standby, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "CATCH_UP_SECONDS", 0.5)
    with standby.paused():
        key_of(replicated, TENANT)
        standby.flush()
        with pytest.raises(CheckWarning, match="bytes of the log behind"):
            replica.replica(Installation(replicated))


def test_what_is_no_replica_fails(settings: Settings, servers: Servers, standby: Standby) -> None:
    for url, fault in (
        (servers.database_url, "takes writes itself"),
        (standby.admin_url, "superuser"),
        (f"postgresql://{standby.where.replace('/imprint', '/postgres')}", "another cluster or database"),
        ("postgresql://127.0.0.1:1/imprint", "does not answer"),
    ):
        with pytest.raises(Misconfigured, match=fault):
            replica.replica(installation(settings, url))
