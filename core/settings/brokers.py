"""URLs of brokers: the schemes that can be used, and those of Redis. Pure."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

SOCKET: Final = "redis+socket"

REDIS: Final = frozenset({"redis", "rediss", SOCKET})
"""Valkey speaks the protocol of Redis and takes its URLs: neither kombu nor redis-py knows the scheme `valkey`."""

RABBITMQ: Final = frozenset({"amqp", "amqps", "pyamqp"})


def is_redis(url: str) -> bool:
    """Return whether a broker is Redis or compatible; else it is RabbitMQ, which keeps no keys."""
    return _scheme(url) in REDIS


def normalized(url: str) -> str:
    """Return a broker's URL with its scheme in lower case, in which alone the clients take it.

    ValueError: nothing of Imprint could connect; it says what to write.
    """
    scheme = _scheme(url)
    if scheme not in REDIS | RABBITMQ or url[len(scheme) :][:3] != "://":
        hint = " (also for Valkey)" if scheme in {"valkey", "valkeys"} else ""
        raise ValueError(f"should begin with redis:// or rediss://{hint}, or for RabbitMQ with amqp:// or amqps://")
    return scheme + url[len(scheme) :]


def redis_url(url: str) -> str:
    """Return the URL of a Redis broker as redis-py takes it: a socket is `redis+socket:///PATH` for kombu alone."""
    parts = urlsplit(url)
    if parts.scheme != SOCKET:
        return url
    query = [
        ("db", value.strip("/")) if name == "virtual_host" else (name, value) for name, value in parse_qsl(parts.query)
    ]
    return f"unix://{parts.netloc}{parts.path}?{urlencode(query)}"


def _scheme(url: str) -> str:
    return urlsplit(url).scheme
