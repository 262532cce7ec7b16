from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import redis

from api.cli.commands.host.checks import broker
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from core.events import broker_users
from core.events.doorbell import broker_url


@pytest.fixture
def server(upgraded: Settings) -> Iterator[redis.Redis]:
    """The broker of the tests; its settings and announcements are put back."""
    with closing(redis.Redis.from_url(broker_url(upgraded))) as client:
        client.delete(broker_users.KEY)
        yield client
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", 0)
        client.delete(broker_users.KEY)


def test_a_broker_that_evicts_fails(server: redis.Redis, upgraded: Settings) -> None:
    assert broker.eviction(Installation(upgraded)) == "maxmemory-policy noeviction"
    server.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(Misconfigured, match="maxmemory-policy is allkeys-lru"):
        broker.eviction(Installation(upgraded))


def test_a_broker_that_is_nearly_full_is_a_warning(server: redis.Redis, upgraded: Settings) -> None:
    server.config_set("maxmemory", int(server.info("memory")["used_memory"] * 1.02))
    with pytest.raises(CheckWarning, match="of maxmemory are used"):
        broker.eviction(Installation(upgraded))


def test_a_second_installation_on_the_broker_fails(server: redis.Redis, upgraded: Settings) -> None:
    installation = Installation(upgraded)
    assert broker.sharing(installation) == "no clock has announced itself here yet"
    broker_users.announce(broker_url(upgraded), "first")
    broker_users.announce(broker_url(upgraded), "first")
    assert broker.sharing(installation) == "one installation uses it"
    broker_users.announce(broker_url(upgraded), "second")
    with pytest.raises(Misconfigured, match="2 installations use this broker"):
        broker.sharing(installation)
