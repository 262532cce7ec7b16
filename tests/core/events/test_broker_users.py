from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import redis

from core.config import Settings
from core.errors import Misconfigured
from core.events import broker_users
from core.events.doorbell import broker_url
from core.storage import db
from core.storage.db import Database
from tests.databases import beside
from tests.ports import free_port


@pytest.fixture
def broker(upgraded: Settings) -> Iterator[redis.Redis]:
    with closing(redis.Redis.from_url(broker_url(upgraded))) as client:
        client.delete(broker_users.KEY)
        yield client
        client.delete(broker_users.KEY)


def test_an_installation_is_forgotten_a_minute_after_its_last_announcement(
    broker: redis.Redis, upgraded: Settings
) -> None:
    url = broker_url(upgraded)
    broker_users.announce(url, "mine")
    broker.zincrby(broker_users.KEY, -1 - broker_users.RECENT_SECONDS, "mine")
    assert broker_users.count(url) == 0
    broker_users.announce(url, "another")
    assert broker.zrange(broker_users.KEY, 0, -1) == [b"another"]
    assert 0 < broker.ttl(broker_users.KEY) <= broker_users.RECENT_SECONDS


def test_two_databases_of_one_server_are_two_installations(settings: Settings, queue: Database) -> None:
    name = broker_users.installation(queue)
    assert name == broker_users.installation(queue)
    with beside(settings) as other, closing(db.connect(db.owner_url(other), 1)) as database:
        assert broker_users.installation(database) != name


def test_a_broker_that_is_away_is_said() -> None:
    with pytest.raises(Misconfigured, match="The broker does not answer"):
        broker_users.count(f"redis://127.0.0.1:{free_port()}/0")
