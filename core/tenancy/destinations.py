"""Allowed destinations of a tenant's rules, and the secrets that sign what they send.

Settings name what any tenant may use at most; they are in force for the tenant `default` alone. Every other tenant has
nothing until its admin has chosen, so that none can post to another's receivers by its signature or channels.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import text

from core.config import Settings
from core.errors import Invalid, Problem
from core.settings import hosts as settings_hosts
from core.settings.secret_names import MASK
from core.storage.db import Tx
from core.tenancy import secrets as tenancy_secrets
from core.tenancy import vault
from core.tenancy.secrets import TenantSecret
from core.tenancy.tenants import DEFAULT
from core.types import Json

SIGNING: Final = "webhooks"
"""The name of the one secret that signs."""

SIGNING_KEYS: Final = 3
"""Most keys in a signing secret: the new, the old, and one to spare."""

SIGNING_BYTES: Final = range(24, 65)
"""Allowed lengths of a key, bytes, by Standard Webhooks."""


@dataclass(frozen=True, slots=True)
class Outlets:
    """Destinations of a tenant: entries of `core.settings.hosts`, names of channels and of secrets, queues.

    `secret_hosts`: entries to which alone a secret may be sent, by its name.
    """

    hosts: Sequence[str] = ()
    channels: Sequence[str] = ()
    queues: Sequence[str] = ()
    secrets: Sequence[str] = ()
    secret_hosts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def may_send(self, secret: str, address: str) -> bool:
        """Return whether a secret may be sent to an address that the tenant allows."""
        return secret not in self.secret_hosts or settings_hosts.allows(self.secret_hosts[secret], address)


@dataclass(frozen=True, slots=True)
class OutletChanges:
    """Destinations that an admin sets; None leaves one as it is.

    A channel without an address keeps the one it has. `signing_keys`: keys of Standard Webhooks separated by spaces, or
    empty for none.
    """

    hosts: Sequence[str] | None = None
    channels: Mapping[str, str | None] | None = None
    signing: str | None = None


def of(tx: Tx, settings: Settings, tenant_id: str) -> Outlets:
    """Return the destinations in force for the tenant."""
    row = tx.execute(_GET).one_or_none()
    own = list(row.hosts) if row is not None else settings.webhook_hosts if tenant_id == DEFAULT else []
    channels = {
        channel_secret.name for channel_secret in tenancy_secrets.all_of(tx, "channel")
    } | _channels_in_settings(settings, tenant_id).keys()
    stored = tenancy_secrets.all_of(tx, "header")
    return Outlets(
        hosts=settings_hosts.allowed_by(own, settings.webhook_hosts),
        channels=sorted(channels),
        queues=queues(settings, tenant_id),
        secrets=[secret.name for secret in stored],
        secret_hosts={secret.name: secret.hosts for secret in stored if secret.hosts},
    )


def queues(settings: Settings, tenant_id: str) -> Sequence[str]:
    """Return the queues of other services that the operator has given to the tenant."""
    given = settings.celery_queues
    by_tenant = given if isinstance(given, dict) else {DEFAULT: given}
    return by_tenant.get(tenant_id, [])


def channel(tx: Tx, settings: Settings, tenant_id: str, name: str) -> str | None:
    """Return the address of a channel; None if there is none of that name, or its host is no longer allowed."""
    own = tenancy_secrets.reveal(tx, partial(vault.load, settings), tenant_id, "channel", [name])
    if name not in own:
        given = _channels_in_settings(settings, tenant_id).get(name)
        return None if given is None else str(given)
    return own[name] if settings_hosts.allows(settings.webhook_hosts, own[name]) else None


def signing_keys(tx: Tx, settings: Settings, tenant_id: str) -> str | None:
    """Return the keys that sign the tenant's webhooks, separated by spaces; None: nothing is signed."""
    own = tenancy_secrets.reveal(tx, partial(vault.load, settings), tenant_id, "signing", [SIGNING])
    if own:
        return own[SIGNING]
    given = settings.webhook_secret if tenant_id == DEFAULT else None
    return given.get_secret_value() if given else None


def view(tx: Tx, settings: Settings, tenant_id: str) -> Json:
    """Return what is in force, without secrets; `may_use`: the hosts that the operator allows."""
    now, row = of(tx, settings, tenant_id), tx.execute(_GET).one_or_none()
    hints = {name: _hint(str(address)) for name, address in _channels_in_settings(settings, tenant_id).items()}
    stored = tenancy_secrets.all_of(tx, "channel")
    hints |= {secret.name: secret.hint or "" for secret in stored}
    own = [secret.name for secret in stored]
    signs = tenancy_secrets.all_of(tx, "signing")
    return {
        "tenant": tenant_id,
        "hosts": now.hosts,
        "may_use": settings.webhook_hosts,
        "channels": dict(sorted(hints.items())),
        "own_channels": own,
        "queues": now.queues,
        "secrets": now.secrets,
        "signed": bool(signs) or (tenant_id == DEFAULT and settings.webhook_secret is not None),
        "signing_secret_since": signs[0].updated_at if signs else None,
        "updated_at": row.updated_at if row else None,
        "updated_by": row.updated_by if row else None,
    }


def put(tx: Tx, settings: Settings, tenant_id: str, changes: OutletChanges, *, by: str) -> None:
    """Set destinations. Invalid: one is malformed, or not allowed by the settings."""
    problems = list(_problems(settings, changes))
    if problems:
        raise Invalid(problems)
    if changes.hosts is not None:
        tx.execute(_PUT, {"tenant": tenant_id, "hosts": list(dict.fromkeys(changes.hosts)), "by": by})
    if changes.channels is not None:
        _put_channels(tx, settings, tenant_id, changes.channels, by)
    if changes.signing == "":
        tenancy_secrets.keep_only(tx, "signing", [])
    elif changes.signing is not None:
        keys = " ".join(changes.signing.split())
        tenancy_secrets.put(tx, vault.load(settings), tenant_id, "signing", SIGNING, keys, by=by)


def put_secret(
    tx: Tx, settings: Settings, tenant_id: str, name: str, value: str, hosts: Sequence[str] | None, *, by: str
) -> TenantSecret:
    """Store the secret of a header. `hosts`: the only ones to which it may be sent; None: as before, or all.

    Invalid: it could not be sent in a header, or an entry is malformed or beyond what the operator allows.
    """
    problems = list(_problems(settings, OutletChanges(hosts=hosts)))
    if problems:
        raise Invalid(problems)
    hint = None if hosts is None else " ".join(hosts)
    return tenancy_secrets.put(tx, vault.load(settings), tenant_id, "header", name, value, by=by, hint=hint)


def signing_fault(keys: str) -> str | None:
    """Return why keys cannot sign; None if they can."""
    parts = keys.split()
    if not 0 < len(parts) <= SIGNING_KEYS:
        return f"must be 1 to {SIGNING_KEYS} keys with spaces between them"
    for part in parts:
        try:
            raw = base64.b64decode(part.removeprefix("whsec_"), validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) not in SIGNING_BYTES:
            return "must be `whsec_` and 24 to 64 random bytes in base64, such as `openssl rand -base64 32` makes them"
    return None


def _put_channels(tx: Tx, settings: Settings, tenant_id: str, channels: Mapping[str, str | None], by: str) -> None:
    stored_names = {secret.name for secret in tenancy_secrets.all_of(tx, "channel")}
    missing = [name for name, address in channels.items() if address is None and name not in stored_names]
    if missing:
        raise Invalid([Problem(f"/channels/{name}", "has no address to keep; give one") for name in missing])
    tenancy_secrets.keep_only(tx, "channel", channels.keys())
    for name, address in channels.items():
        if address is not None:
            hint = _hint(address)
            tenancy_secrets.put(tx, vault.load(settings), tenant_id, "channel", name, address, by=by, hint=hint)


def _problems(settings: Settings, changes: OutletChanges) -> Iterator[Problem]:
    allowed = ", ".join(f"`{host}`" for host in settings.webhook_hosts) or "none"
    beyond = f"is not among the hosts allowed here ({allowed}); the operator can add it to IMPRINT_WEBHOOK_HOSTS"
    for index, entry in enumerate(changes.hosts or ()):
        try:
            if not settings_hosts.allowed_by([entry], settings.webhook_hosts):
                yield Problem(f"/hosts/{index}", beyond)
        except ValueError as error:
            yield Problem(f"/hosts/{index}", str(error))
    for name, address in (changes.channels or {}).items():
        if address is not None and not settings_hosts.allows(settings.webhook_hosts, address):
            yield Problem(f"/channels/{name}", f"leads to an address that {beyond}")
    if changes.signing and (fault := signing_fault(changes.signing)):
        yield Problem("/signing_secret", fault)


def _channels_in_settings(settings: Settings, tenant_id: str) -> Mapping[str, Any]:
    """Return the channels in the settings, which are those of the default tenant."""
    return settings.notify_channels if tenant_id == DEFAULT else {}


def _hint(address: str) -> str:
    """Return the part of a channel's address that is not secret: a path such as Slack's is one."""
    parts = urlsplit(address)
    return f"{parts.scheme}:{MASK}" if not parts.hostname else f"{parts.scheme}://{parts.hostname}/…"


_GET = text("SELECT hosts, updated_at, updated_by FROM webhooks")

_PUT = text("""
    INSERT INTO webhooks (tenant_id, hosts, updated_by) VALUES (:tenant, :hosts, :by)
    ON CONFLICT (tenant_id) DO UPDATE SET
        hosts = excluded.hosts, updated_at = clock_timestamp(), updated_by = excluded.updated_by
""")
