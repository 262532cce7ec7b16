"""Installations that use a broker: each clock announces its own, so that `imprint doctor` notices a second one.

Two installations on one broker take each other's tasks away, and drop them as unknown: the work then waits for a sweep.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import Final

import redis
from sqlalchemy import text

from core.errors import Misconfigured
from core.settings.brokers import redis_url
from core.storage.db import Database

KEY: Final = "imprint:installations"
"""Sorted set: installations, scored by the time of their last announcement in seconds since 1970."""

RECENT_SECONDS: Final = 60
TIMEOUT_SECONDS: Final = 2


def installation(database: Database) -> str:
    """Return a name of this database that no other one has, nor a copy of its files that was promoted."""
    ((name,),) = database.ask_queues((_NAME, {}))[0]
    return str(name)


def announce(url: str, name: str) -> None:
    """Announce an installation on its broker. RedisError: the broker does not answer."""
    with closing(_client(url)) as client, client.pipeline() as commands:
        now = time.time()
        commands.zadd(KEY, {name: now})
        commands.zremrangebyscore(KEY, 0, now - RECENT_SECONDS)
        commands.expire(KEY, RECENT_SECONDS)
        commands.execute()


def count(url: str) -> int:
    """Return how many installations were announced within a minute. Misconfigured: the broker does not answer."""
    try:
        with closing(_client(url)) as client:
            return int(client.zcount(KEY, time.time() - RECENT_SECONDS, "+inf"))
    except redis.RedisError as error:
        raise Misconfigured(f"The broker does not answer: {error}.") from error


def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(redis_url(url), socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


_NAME = text("""
    SELECT s.system_identifier || '/' || c.timeline_id || '/' || current_database()
    FROM pg_control_system() s, pg_control_checkpoint() c
""")
