"""URLs of brokers: the schemes that can be used, and those of Redis. Pure."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

REDIS: Final = frozenset({"redis", "rediss"})
"""Valkey speaks the protocol of Redis and takes its URLs: neither kombu nor redis-py knows the scheme `valkey`."""

RABBITMQ: Final = frozenset({"amqp", "amqps", "pyamqp"})


def is_redis(url: str) -> bool:
    """Return whether a broker is Redis or compatible; else it is RabbitMQ, which keeps no keys."""
    return _scheme(url) in REDIS


def require_usable(url: str) -> None:
    """Check the scheme of a broker's URL. ValueError: nothing of Imprint could connect; it says what to write."""
    scheme = _scheme(url)
    if scheme not in REDIS | RABBITMQ or not url.startswith(f"{scheme}://"):
        hint = " (also for Valkey)" if scheme in {"valkey", "valkeys"} else ""
        raise ValueError(f"should begin with redis:// or rediss://{hint}, or for RabbitMQ with amqp:// or amqps://")


def _scheme(url: str) -> str:
    return urlsplit(url).scheme
