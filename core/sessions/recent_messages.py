"""Redis cache of the newest messages, validated against PostgreSQL.

A cached window is a run of messages, each with a mark of the row that it was read from: its position, and `xmin`, the
transaction that wrote the row. Messages are only ever added at the end; any other change (an erasure removes the text,
a deletion the row) leaves another version of the row, or none. So one statement, which is one snapshot, tells whether
every row still has its mark, and what was added; if a mark differs, all are read again. An entry is signed together
with its key, so that forged or copied entries are ignored.

A missing, slow or unsupported broker and an invalid entry are treated alike: PostgreSQL is read. Which messages are
hidden is not cached here (`core.sessions.hidden_messages`).

Each tenant has a budget of bytes, its limit `window_bytes`: the oldest windows are evicted for new ones. Two keys of
the tenant hold the time and the size of each window; scripts keep them consistent with the windows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

import redis
import structlog
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from sqlalchemy import text

from core import metrics
from core.config import Settings
from core.events.doorbell import broker_url
from core.sessions import sessions
from core.settings.brokers import is_redis, redis_url
from core.settings.limits import TenantLimits
from core.storage import db
from core.storage.db import Database, Tx
from core.tenancy import limits as tenancy_limits
from core.types import Message

log = structlog.get_logger()

PATIENCE_SECONDS: Final = 0.05
"""Timeout of Redis: after that, PostgreSQL would have been faster."""

PAUSE_SECONDS: Final = 5.0
"""Seconds without a request to Redis after it has failed, so that nobody waits for it again and again."""

KEEP_SECONDS: Final = 600
"""Seconds that a window is cached: a conversation goes on within that time."""

GROWTH: Final = 10
"""Messages added before a window is cached again: reading so few costs less than writing all."""

LARGEST: Final = 256 * 1024
"""Largest window that is cached, bytes: the broker's memory is for its queues, and it evicts nothing."""

DEFAULT_LIMITS: Final = TenantLimits()

FIELDS: Final = [field.name for field in fields(Message)]
AT: Final = FIELDS.index("occurred_at")


@dataclass(frozen=True, slots=True)
class RecentWindow:
    """The newest messages of a session, oldest first. `marks`: positions, and transactions that wrote the rows."""

    messages: Sequence[Message] = ()
    marks: Sequence[str] = ()


EMPTY: Final = RecentWindow()

SIGNATURE: Final = hashlib.sha256().digest_size


class RecentMessages:
    """The newest `messages` messages of sessions, cached in Redis. Thread-safe."""

    def __init__(self, url: str, secret: bytes, messages: int, limits: TenantLimits = DEFAULT_LIMITS) -> None:
        self._secret = secret
        self._messages = messages
        self._limits = limits
        self._not_before = 0.0
        self._redis = _client(url)

    def window(self, app: Database, tenant_id: str, session_id: str) -> RecentWindow:
        """Return the newest messages; none for an unknown session. No transaction is open while Redis is asked."""
        cached = self.ask(tenant_id, session_id)
        with app.tenant(tenant_id) as tx:
            window = read(tx, session_id, cached, self._messages)
        self.renew(app, tenant_id, session_id, cached, window)
        return window

    def renew(self, app: Database, tenant_id: str, session_id: str, cached: RecentWindow, window: RecentWindow) -> None:
        """Cache the window that was read, if the cached one is out of date."""
        if self._redis is None or _growth(cached, window) < GROWTH:
            return
        with app.tenant(tenant_id) as tx:
            budget = tenancy_limits.effective(tx, tenant_id, self._limits).window_bytes
        self.keep(tenant_id, session_id, window, budget)

    def ask(self, tenant_id: str, session_id: str) -> RecentWindow:
        """Return the cached window; `read` validates it."""
        key = _key(tenant_id, session_id)
        cached = self._try("get", key) or b""
        signature, encoded = cached[:SIGNATURE], cached[SIGNATURE:]
        return _decode(encoded) if hmac.compare_digest(signature, self._signed(key, encoded)) else EMPTY

    def keep(self, tenant_id: str, session_id: str, window: RecentWindow, budget: int | None = None) -> None:
        """Cache a window, and evict the tenant's oldest above `budget` bytes."""
        key, encoded = _key(tenant_id, session_id), _encode(window)
        most = self._limits.window_bytes if budget is None else budget
        if window.messages and len(encoded) <= min(LARGEST, most):
            encoded_window = self._signed(key, encoded) + encoded
            self._try(
                "eval",
                _KEEP,
                3,
                key,
                *_bookkeeping_keys(tenant_id),
                encoded_window,
                int(1000 * time.time()),
                KEEP_SECONDS,
                most,
            )

    def forget(self, tenant_id: str, session_ids: Sequence[str]) -> None:
        """Remove erased sessions at once. They would not be served, but stay in Redis until they expire."""
        if session_ids:
            keys = [_key(tenant_id, session_id) for session_id in session_ids]
            self._try("eval", _FORGET, 2, *_bookkeeping_keys(tenant_id), *keys)

    def close(self) -> None:
        if self._redis is not None:
            self._redis.close()

    def _signed(self, key: str, encoded: bytes) -> bytes:
        return hmac.digest(self._secret, key.encode() + b"\n" + encoded, hashlib.sha256)

    def _try(self, command: str, *arguments: object) -> Any:
        """Run a Redis command; None if it failed or was skipped."""
        if self._redis is None or time.monotonic() < self._not_before:
            return None
        try:
            return getattr(self._redis, command)(*arguments)
        except (RedisError, OSError) as error:
            self._not_before = time.monotonic() + PAUSE_SECONDS
            log.warning("recent.unheard", error=str(error))
            return None


def on_broker(settings: Settings) -> RecentMessages:
    """Build the cache on the service's broker, with a key derived from the application's password."""
    secret = db.app_url(settings).render_as_string(hide_password=False)
    return RecentMessages(broker_url(settings), secret.encode(), settings.recent_messages, settings.tenant_limits)


def read(tx: Tx, session_id: str, cached: RecentWindow, limit: int) -> RecentWindow:
    """Return the newest `limit` messages: the cached window if current, else extended, else read from the database."""
    if cached.messages and (cached.messages[0].position == 1 or len(cached.messages) >= limit):
        values = {"first": cached.messages[0].position, "last": cached.messages[-1].position}
        rows = tx.execute(_SINCE, {"session": session_id, "limit": limit, **values}).all()
        if rows[0].marks == list(cached.marks):
            metrics.CACHE.labels("messages", "hit").inc()
            return _extend(cached, [row for row in rows if row.id is not None], limit)
    metrics.CACHE.labels("messages", "miss").inc()
    return _window(tx.execute(_NEWEST, {"session": session_id, "limit": limit}).all())


def _extend(cached: RecentWindow, added: Sequence[Any], limit: int) -> RecentWindow:
    if not added and len(cached.messages) <= limit:
        return cached
    new = _window(added)
    return RecentWindow([*cached.messages, *new.messages][-limit:], [*cached.marks, *new.marks][-limit:])


def _growth(cached: RecentWindow, window: RecentWindow) -> int:
    """Count the messages added to the cached window; GROWTH if it was invalid."""
    if not cached.messages or not window.messages:
        return GROWTH
    added = window.messages[-1].position - cached.messages[-1].position
    holds = 0 <= added < len(window.messages) and window.messages[-1 - added] is cached.messages[-1]
    return added if holds else GROWTH


def _window(rows: Sequence[Any]) -> RecentWindow:
    return RecentWindow([sessions.message_of(row) for row in rows], [row.mark for row in rows])


def _client(broker_url: str) -> redis.Redis | None:
    if not is_redis(broker_url):
        return None
    return redis.Redis.from_url(
        redis_url(broker_url),
        retry=Retry(NoBackoff(), 0),
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
    )


def _key(tenant_id: str, session_id: str) -> str:
    """Return the key of a session's window. No tenant's name contains a colon, so keys of two tenants never collide."""
    return f"imprint:recent:{tenant_id}:{session_id}"


def _bookkeeping_keys(tenant_id: str) -> tuple[str, str]:
    return f"imprint:windows:{tenant_id}:at", f"imprint:windows:{tenant_id}:bytes"


def _encode(window: RecentWindow) -> bytes:
    rows = [[getattr(message, name) for name in FIELDS] for message in window.messages]
    document = {"fields": FIELDS, "messages": rows, "marks": window.marks}
    return json.dumps(document, ensure_ascii=False, default=datetime.isoformat).encode()


def _decode(raw: bytes) -> RecentWindow:
    """Decode a cached window; EMPTY if another version of Imprint wrote it, with other fields."""
    document = json.loads(raw)
    if document["fields"] != FIELDS:
        return EMPTY
    return RecentWindow([_message(row) for row in document["messages"]], document["marks"])


def _message(row: list[Any]) -> Message:
    row[AT] = datetime.fromisoformat(row[AT])
    return Message(*row)


_DROP: Final = """
local function drop(at, bytes, key)
    local size = redis.call('HGET', bytes, key)
    if size then
        redis.call('HINCRBY', bytes, 'total', -size)
        redis.call('HDEL', bytes, key)
    end
    redis.call('ZREM', at, key)
    redis.call('DEL', key)
end
"""
"""Deletes a window with its time and size."""

_KEEP: Final = f"""
{_DROP}
local key, at, bytes = KEYS[1], KEYS[2], KEYS[3]
local value, now, ttl, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
drop(at, bytes, key)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', at, '-inf', now - 1000 * ttl, 'LIMIT', 0, 100)) do
    drop(at, bytes, old)
end
redis.call('SET', key, value, 'EX', ttl)
redis.call('ZADD', at, now, key)
redis.call('HSET', bytes, key, #value)
local total = redis.call('HINCRBY', bytes, 'total', #value)
while total > most do
    local first = redis.call('ZRANGE', at, 0, 1)
    local oldest = first[1] ~= key and first[1] or first[2]
    if not oldest then break end
    drop(at, bytes, oldest)
    total = tonumber(redis.call('HGET', bytes, 'total'))
end
redis.call('EXPIRE', at, ttl)
redis.call('EXPIRE', bytes, ttl)
"""
"""Stores a window and evicts the tenant's oldest until all are within its budget. Expired ones are removed a hundred at
a time, so that nobody waits for all of it.
"""

_FORGET: Final = f"""
{_DROP}
for _, key in ipairs(ARGV) do
    drop(KEYS[1], KEYS[2], key)
end
"""

_MARK: Final = "position || '/' || xmin"
"""With the position: of two readers with other audience labels, each may see as many rows of one transaction."""

_SINCE = text(f"""
    WITH held AS (
        SELECT array_agg({_MARK} ORDER BY position) AS marks FROM messages
        WHERE session_id = :session AND position BETWEEN :first AND :last
    ), added AS (
        SELECT *, {_MARK} AS mark FROM messages
        WHERE session_id = :session AND position > :last ORDER BY position DESC LIMIT :limit
    )
    SELECT held.marks, added.* FROM held LEFT JOIN added ON true ORDER BY added.position
""")
"""One statement, so that both are of one snapshot."""

_NEWEST = text(f"""
    SELECT * FROM (
        SELECT *, {_MARK} AS mark FROM messages WHERE session_id = :session ORDER BY position DESC LIMIT :limit
    ) AS newest ORDER BY position
""")
