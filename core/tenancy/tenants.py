"""Tenants and their keys. A key names its tenant, so that it can be checked under that tenant's own policies."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text
from uuid_utils import uuid7

from core.errors import Conflict, Invalid, NotFound, Problem, Unauthorized
from core.settings.limits import TenantLimits
from core.storage.db import Database, Tx
from core.tenancy import embedding as tenant_embedding
from core.tenancy import limits as tenancy_limits
from core.tenancy.embedding import TenantEmbedding
from core.types import LABEL

SCOPES = ("publish", "read", "write", "rules", "raw", "admin")
"""Scopes of keys; `raw` reads secrets that are masked otherwise, and `admin` includes all others."""

DEFAULT = "default"
"""Tenant of the operator, to which the settings of webhooks, channels and queues apply."""

LABELLED_SCOPES = frozenset({"publish", "read", "write"})
"""Scopes of a key with labels: each other one reaches what no label guards, such as rules that send memories out."""

MOST_LABELS = 100
"""Labels of a key."""

TENANT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
RESERVED = "rebuild-"
"""Prefix of shadow tenants, in which memories are rebuilt (`core.memory.shadow`); nobody has a key to them."""

UNCHANGED = TenantLimits()
"""Limits of a tenant for which neither the installation nor the operator has set others."""

USED_SECONDS: Final = 60
"""Seconds for which the time of a key's last use is left as it is: each process looks it up every few seconds."""

MOST_KEYS: Final = 1_000
"""Keys of a tenant that are in force, if they are created over HTTP."""

KEY_ID = re.compile(r"[0-9a-f]{32}")
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Caller:
    """Caller of a request: tenant, key, scopes, the tenant's limits, and its embedding model if it has its own.

    `labels`: all audience labels that the key can read; None: any.
    """

    tenant_id: str
    key_id: str
    scopes: frozenset[str]
    limits: TenantLimits = UNCHANGED
    labels: frozenset[str] | None = None
    embedding: TenantEmbedding | None = None

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    @property
    def operates(self) -> bool:
        """Return whether figures of all tenants are for this caller, who operates the installation."""
        return self.tenant_id == DEFAULT and self.may("admin")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it can be shown later, without its secret."""

    id: str
    tenant_id: str
    scopes: Sequence[str]
    name: str | None
    created_at: str
    revoked_at: str | None
    labels: Sequence[str] | None = None
    last_used_at: str | None = None


def ensure(tx: Tx, tenant_id: str) -> bool:
    """Create the tenant unless it exists; return True if it is new and needs its default rules."""
    if tenant_id.startswith(RESERVED):
        raise Invalid([Problem("/tenant", f"begins with {RESERVED!r}, which is reserved for rebuilds")])
    if not TENANT_NAME.fullmatch(tenant_id):
        raise Invalid([Problem("/tenant", "use up to 63 of a-z, 0-9, '-' and '_', beginning with a letter or digit")])
    insert = text("INSERT INTO tenants (id) VALUES (:id) ON CONFLICT DO NOTHING")
    return tx.execute(insert, {"id": tenant_id}).rowcount == 1


def names(tx: Tx) -> list[str]:
    """Return all tenants, for the role that sees them all, without shadow tenants."""
    named = text("SELECT id FROM tenants WHERE NOT starts_with(id, :reserved) ORDER BY id")
    return list(tx.execute(named, {"reserved": RESERVED}).scalars())


def is_here(tx: Tx, tenant_id: str) -> bool:
    """Return whether this installation serves the tenant; one that is being moved it does not."""
    return tx.execute(text("SELECT FROM tenants WHERE id = :id"), {"id": tenant_id}).first() is not None


def allows_high_risk(tx: Tx, tenant_id: str) -> bool:
    """Return whether rules of high risk may run in the tenant without approval."""
    select = text("SELECT allows_high_risk FROM tenants WHERE id = :id")
    return bool(tx.execute(select, {"id": tenant_id}).scalar_one_or_none())


def allow_high_risk(tx: Tx, tenant_id: str, *, allowed: bool) -> None:
    """Allow or forbid rules of high risk to run in the tenant without approval."""
    update = text("UPDATE tenants SET allows_high_risk = :allowed WHERE id = :id")
    if tx.execute(update, {"id": tenant_id, "allowed": allowed}).rowcount == 0:
        raise NotFound(f"There is no tenant {tenant_id!r}; `imprint keys create` creates one.")


def create_key(
    tx: Tx, tenant_id: str, scopes: Collection[str], name: str | None = None, labels: Collection[str] | None = None
) -> tuple[str, str]:
    """Create a key; return its id and the whole key, which is shown once and stored as a hash only.

    `labels`: the audience labels that it can read at most; None: any.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise Invalid([Problem("/scopes", f"unknown or empty: {unknown}; choose from {', '.join(SCOPES)}")])
    if labels is not None:
        _check_labels(labels, scopes)
    key_id, secret = uuid7().hex, secrets.token_urlsafe(SECRET_BYTES)
    insert = text("""
        INSERT INTO api_keys (tenant_id, id, secret_sha256, scopes, name, labels)
        VALUES (:tenant, :id, :hash, :scopes, :name, :labels)
    """)
    row = {"tenant": tenant_id, "id": key_id, "hash": _digest(secret), "scopes": sorted(scopes), "name": name}
    row["labels"] = None if labels is None else sorted(set(labels))
    tx.execute(insert, row)
    return key_id, f"imp.{tenant_id}.{key_id}.{secret}"


def author_names(tx: Tx, authors: Iterable[str]) -> dict[str, str]:
    """Return the names of the keys among these authors, by author; keys without a name are left out."""
    ids = [author.removeprefix("key:") for author in authors if author.startswith("key:")]
    rows = tx.execute(_NAMES, {"ids": ids}) if ids else ()
    return {f"key:{row.id}": row.name for row in rows}


def keys(tx: Tx, *, before: str | None = None, limit: int | None = None) -> list[ApiKey]:
    """Return keys without their secrets, newest first; `before`: the last id of the page before."""
    rows = tx.execute(_KEYS, {"before": before, "limit": limit})
    return [
        ApiKey(
            r.id,
            r.tenant_id,
            r.scopes,
            r.name,
            r.created_at.isoformat(),
            r.revoked_at and r.revoked_at.isoformat(),
            r.labels,
            r.last_used_at and r.last_used_at.isoformat(),
        )
        for r in rows
    ]


def require_room(tx: Tx) -> None:
    """Refuse another key. Conflict: the tenant has as many as it may have."""
    count = text("SELECT count(*) FROM api_keys WHERE revoked_at IS NULL")
    if tx.execute(count).scalar_one() >= MOST_KEYS:
        raise Conflict(f"The tenant has {MOST_KEYS:,} keys in force; revoke some that were not used lately.")


def revoke_key(tx: Tx, key_id: str) -> None:
    """Revoke a key; doing so twice changes nothing."""
    update = text("UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = :id")
    if tx.execute(update, {"id": key_id}).rowcount == 0:
        raise NotFound(f"There is no key {key_id!r} in this tenant; `imprint keys list` lists them.")


def caller(db: Database, key: str, default: TenantLimits = UNCHANGED, *, noted: bool = True) -> Caller:
    """Return who holds this key; `default` are the installation's limits of a tenant. `noted`: as a use of the key.

    Raises:
        Unauthorized: the key is malformed, unknown, wrong or revoked; which of these is not said.
    """
    prefix, tenant_id, key_id, secret = (key.split(".", 3) + [""] * 4)[:4]
    if prefix != "imp" or not TENANT_NAME.fullmatch(tenant_id) or not KEY_ID.fullmatch(key_id):
        raise Unauthorized
    with db.tenant(tenant_id) as tx:
        row = tx.execute(_HOLDER, {"id": key_id, "seconds": USED_SECONDS}).one_or_none()
        limits = tenancy_limits.effective(tx, tenant_id, default) if row is not None else default
        own = tenant_embedding.read(tx, tenant_id) if row is not None else None
        if row is None or not hmac.compare_digest(row.secret_sha256, _digest(secret)):
            raise Unauthorized
        if row.stale and noted:
            tx.execute(_USED, {"id": key_id, "seconds": USED_SECONDS})
    labels = None if row.labels is None else frozenset(row.labels)
    return Caller(tenant_id, key_id, frozenset(row.scopes), limits, labels, own)


_NAMES = text("SELECT id, name FROM api_keys WHERE id = ANY(:ids) AND name <> ''")

_KEYS = text("""
    SELECT * FROM api_keys WHERE cast(:before AS text) IS NULL OR id < :before ORDER BY id DESC LIMIT :limit
""")

_HOLDER = text("""
    SELECT secret_sha256, scopes, labels,
           coalesce(last_used_at < clock_timestamp() - make_interval(secs => :seconds), true) AS stale
    FROM api_keys WHERE id = :id AND revoked_at IS NULL
""")

_USED = text("""
    UPDATE api_keys SET last_used_at = clock_timestamp()
    WHERE id = :id AND coalesce(last_used_at < clock_timestamp() - make_interval(secs => :seconds), true)
""")
"""Asked again, because other processes look a key up at the same time."""


def _check_labels(labels: Collection[str], scopes: Collection[str]) -> None:
    """Refuse labels that are none, and scopes that a key with labels cannot have."""
    wrong = sorted(label for label in labels if not re.fullmatch(LABEL, label))
    if wrong or len(labels) > MOST_LABELS:
        advice = f"give at most {MOST_LABELS}, each with up to 63 of a-z, 0-9 and _ . : @ -"
        raise Invalid([Problem("/labels", f"{wrong or 'too many'}: {advice}")])
    if more := sorted(set(scopes) - LABELLED_SCOPES):
        allowed = ", ".join(sorted(LABELLED_SCOPES))
        raise Invalid([Problem("/scopes", f"a key with labels may have {allowed}, not {', '.join(more)}")])


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
