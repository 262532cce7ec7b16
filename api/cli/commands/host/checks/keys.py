"""Checks of keys, secrets and passwords. Nothing is created, and no value is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr
from sqlalchemy import text

from api.cli.client import Client, Refused
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import ClientSettings, Settings
from core.errors import Misconfigured
from core.memory import receipts as signed
from core.tenancy import secrets as tenancy_secrets
from core.tenancy import vault

SHORTEST_PASSWORD: Final = 12
USUAL_PASSWORDS: Final = frozenset(
    {"postgres", "imprint", "guest", "admin", "password", "secret", "changeme", "redis", "rabbitmq"}
)
RECENT: Final = timedelta(days=1)


def receipts(installation: Installation) -> str:
    """Check the key that signs receipts. Nothing is created here: the first start creates one in the home."""
    settings = installation.settings
    if settings.receipt_key is not None:
        return f"signed with IMPRINT_RECEIPT_KEY, key {signed.signer(settings).key_id}"
    path = settings.home.absolute() / signed.KEY_FILE
    if path.exists():
        return f"signed with {path}, key {signed.signer(settings).key_id}; it belongs into every backup"
    return f"{path} will be made with the first start"


def signers(installation: Installation) -> str:
    """Check that the API and this process sign with one key, and that the latest receipts are signed with it."""
    settings = installation.settings
    with closing(Client(ClientSettings())) as client:
        try:
            current = signed.key_id(client.get("/v1/receipts/key")["public_key"])
        except Refused as refused:
            raise Misconfigured(f"The API cannot sign receipts: {refused.title}") from None
    if _has_key(settings) and (own := signed.signer(settings).key_id) != current:
        raise Misconfigured(f"the API signs with key {current}, the settings here give key {own}")
    others = _recent_signers(installation) - {current}
    if others:
        keys = ", ".join(sorted(others))
        raise CheckWarning(f"receipts of the last day are signed with {keys}, the API has {current}")
    return f"key {current}"


def _has_key(settings: Settings) -> bool:
    return settings.receipt_key is not None or (settings.home / signed.KEY_FILE).exists()


def _recent_signers(installation: Installation) -> set[str]:
    ids: set[str] = set()
    since = (datetime.now(UTC) - RECENT).isoformat()
    with installation.app() as database:
        for tenant in installation.tenants():
            with database.tenant(tenant) as tx:
                ids.update(tx.execute(_SIGNERS, {"since": since}).scalars())
    return ids


def secrets(installation: Installation) -> str:
    """Check that the stored secrets of tenants can be decrypted with the configured key."""
    stored = 0
    with installation.app() as database:
        for tenant in installation.tenants():
            with database.tenant(tenant) as tx:
                for row in tx.execute(_SECRETS).all():
                    _require_vault_key(installation.settings)
                    tenancy_secrets.reveal(tx, lambda: vault.load(installation.settings), tenant, row.kind, [row.name])
                    stored += 1
    return f"{stored} decrypted of those that tenants have stored" if stored else "no tenant has stored any"


def _require_vault_key(settings: Settings) -> None:
    """Refuse where loading the vault would make a new key, which decrypts nothing."""
    path = settings.home.absolute() / vault.KEY_FILE
    if settings.secrets_key is None and not path.exists():
        raise Misconfigured(f"tenants have stored secrets, and neither IMPRINT_SECRETS_KEY nor {path} exists here")


def sends_webhooks(installation: Installation) -> bool:
    """Return whether the tenant `default` may send webhooks."""
    settings = installation.settings
    return bool(settings.webhook_hosts or settings.notify_channels)


def webhooks(installation: Installation) -> str:
    """Check that webhooks of the tenant `default` are signed."""
    if installation.settings.webhook_secret is None:
        raise CheckWarning("webhooks of the tenant `default` are not signed: anyone can forge them")
    return "those of the tenant `default` are signed"


def passwords(installation: Installation) -> str:
    """Check the passwords in the URLs of servers of one's own; none is shown."""
    weak = [f"{name} {reason}" for name, url in _urls(installation.settings) if (reason := _weakness(url))]
    if weak:
        raise CheckWarning("; ".join(weak))
    return f"those in URLs have {SHORTEST_PASSWORD} characters or more, or the servers are the embedded ones"


def _urls(settings: Settings) -> Iterator[tuple[str, str]]:
    for name in ("database_url", "database_app_url", "database_router_url", "broker_url", "celery_broker_url"):
        url: SecretStr | None = getattr(settings, name)
        if url is not None:
            yield f"IMPRINT_{name.upper()}", url.get_secret_value()


def _weakness(url: str) -> str | None:
    """Return why a password is weak; None: it is not, or a socket needs none."""
    parts = urlsplit(url)
    if not parts.hostname:
        return None
    password = unquote(parts.password or "")
    if not password:
        return "has no password"
    if password.lower() in USUAL_PASSWORDS or password == unquote(parts.username or ""):
        return "has a password that everybody tries first"
    return f"has a password of {len(password)} characters" if len(password) < SHORTEST_PASSWORD else None


_SIGNERS = text("""
    SELECT DISTINCT body ->> 'key_id' FROM (SELECT body FROM receipts ORDER BY id DESC LIMIT 100) AS latest
    WHERE coalesce(body ->> 'settled_at', body ->> 'at') > :since
""")

_SECRETS = text("SELECT kind, name FROM secrets ORDER BY kind, name LIMIT 3")
