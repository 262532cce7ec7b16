from __future__ import annotations

import pytest
import redis
from kombu import Connection

from core.settings import brokers


@pytest.mark.parametrize("scheme", sorted(brokers.REDIS | brokers.RABBITMQ))
def test_a_scheme_that_is_taken_is_one_that_the_clients_take(scheme: str) -> None:
    url = f"{scheme}://:hush@127.0.0.1/0"
    assert brokers.normalized(url.replace(scheme, scheme.upper())) == url
    with Connection(url) as connection:
        assert brokers.is_redis(url) == (connection.transport.driver_type == "redis")
    if brokers.is_redis(url):
        redis.Redis.from_url(brokers.redis_url(url)).close()


def test_redis_py_takes_the_socket_that_kombu_takes() -> None:
    url = brokers.redis_url(brokers.normalized("Redis+Socket://ada:hu%2Fsh@/run/valkey.sock?virtual_host=/3"))
    with redis.Redis.from_url(url) as client:
        options = client.connection_pool.connection_kwargs
    wanted = {"path": "/run/valkey.sock", "db": 3, "username": "ada", "password": "hu/sh"}
    assert {name: options.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("scheme", ["valkey", "valkeys"])
def test_the_clients_do_not_take_the_scheme_of_valkey(scheme: str) -> None:
    with pytest.raises(KeyError), Connection(f"{scheme}://127.0.0.1/0") as connection:
        connection.connect()
    with pytest.raises(ValueError, match="scheme"):
        redis.Redis.from_url(f"{scheme}://127.0.0.1/0")


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("valkey://127.0.0.1/0", "rediss:// (also for Valkey)"),
        ("redis:127.0.0.1", "redis://"),
        ("sqs://", "amqp://"),
        ("127.0.0.1:6379", "redis://"),
    ],
)
def test_what_no_client_would_connect_to_is_refused_with_what_to_write(url: str, hint: str) -> None:
    with pytest.raises(ValueError, match="should begin with") as refusal:
        brokers.normalized(url)
    assert hint in str(refusal.value)
