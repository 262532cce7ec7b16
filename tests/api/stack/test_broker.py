from __future__ import annotations

from pathlib import Path

import redis

from api.stack.broker import Broker


def test_what_is_queued_is_found_again_after_a_restart_of_the_broker(home: Path, broker: Broker) -> None:
    with redis.Redis.from_url(broker.url) as client:
        client.rpush("queue", "task")
    broker.stop()
    again = Broker(home)
    try:
        assert again.start() == broker.url
        with redis.Redis.from_url(again.url) as client:
            assert client.lpop("queue") == b"task"
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert client.config_get("bind") == {"bind": "127.0.0.1"}
    finally:
        again.stop()
