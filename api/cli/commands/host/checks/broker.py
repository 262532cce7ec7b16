"""Checks of the broker: that it answers, evicts nothing, is new enough, and serves one installation alone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

import redis

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from api.stack.external import External
from core.errors import Misconfigured
from core.events import broker_users
from core.events.doorbell import broker_url
from core.settings import brokers

OLDEST_REDIS: Final = (6, 2)
FULL_SHARE: Final = 0.9


def is_known(installation: Installation) -> bool:
    settings = installation.settings
    return settings.broker_url is not None or "broker_url" in settings.stack


def is_redis(installation: Installation) -> bool:
    return is_known(installation) and brokers.is_redis(broker_url(installation.settings))


def is_rabbitmq(installation: Installation) -> bool:
    return is_known(installation) and not brokers.is_redis(broker_url(installation.settings))


def broker(installation: Installation) -> str:
    external = External("broker", broker_url(installation.settings))
    external.start()
    return f"answers at {external.where}"


def eviction(installation: Installation) -> str:
    """Check version, eviction policy and memory of Redis or Valkey."""
    info = _info(broker_url(installation.settings))
    version, policy = str(info["redis_version"]), str(info.get("maxmemory_policy", "noeviction"))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_REDIS:
        raise Misconfigured(f"Redis {version} is too old; {'.'.join(map(str, OLDEST_REDIS))} or newer is needed")
    limit, used = int(info.get("maxmemory", 0)), int(info.get("used_memory", 0))
    if policy != "noeviction":
        raise Misconfigured(f"maxmemory-policy is {policy}: the broker may drop tasks and bus events")
    if limit and used >= FULL_SHARE * limit:
        raise CheckWarning(f"{used:,} of {limit:,} bytes of maxmemory are used; a full broker refuses every task")
    return "maxmemory-policy noeviction"


def sharing(installation: Installation) -> str:
    """Check that one installation alone uses this database of the broker."""
    users = broker_users.count(broker_url(installation.settings))
    if users > 1:
        raise Misconfigured(f"{users} installations use this broker: each takes tasks of the others away")
    return "one installation uses it" if users else "no clock has announced itself here yet"


def _info(url: str) -> Mapping[str, Any]:
    try:
        with closing(
            redis.Redis.from_url(brokers.redis_url(url), socket_timeout=5, socket_connect_timeout=5)
        ) as client:
            return {**client.info("server"), **client.info("memory")}
    except redis.RedisError as error:
        raise Misconfigured(f"INFO is refused: {error}") from error
