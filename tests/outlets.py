"""A tenant that may send something: what its admin and the operator would have set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from core.config import Settings
from core.storage import db
from core.tenancy import destinations, vault
from core.tenancy import secrets as tenancy_secrets
from core.tenancy.destinations import OutletChanges
from rules.registry.limits import Allowed
from tests.samples import TENANT


def open_to(
    settings: Settings,
    *urls: str,
    tenant: str = TENANT,
    channels: Mapping[str, str] | None = None,
    signing: str | None = None,
    secrets: Mapping[str, str] | None = None,
    queues: Sequence[str] = (),
    **more: Any,
) -> Settings:
    """These settings, with the tenant's rows: it may post to these addresses and channels, and nowhere else."""
    entries = [entry_of(url) for url in (*urls, *(channels or {}).values())]
    bound = list(dict.fromkeys([*settings.webhook_hosts, *entries]))
    given = settings.celery_queues if isinstance(settings.celery_queues, dict) else {}
    wider = settings.model_copy(
        update={"webhook_hosts": bound, "celery_queues": {**given, tenant: list(queues)}, **more}
    )
    with closing(db.connect(db.app_url(settings), 1)) as app, app.tenant(tenant) as tx:
        destinations.put(tx, wider, tenant, OutletChanges(entries, channels or {}, signing or ""), by="test")
        for name, value in (secrets or {}).items():
            tenancy_secrets.put(tx, vault.load(wider), tenant, "header", name, value, by="test")
    return wider


def entry_of(url: str) -> str:
    """The entry of a list of hosts that allows this address."""
    return url if url.startswith("mailto:") else f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"


def allowed(settings: Settings, tenant: str = TENANT, **more: Any) -> Allowed:
    """What a rule of the tenant may do by now."""
    with closing(db.connect(db.app_url(settings), 1)) as app, app.tenant(tenant) as tx:
        found = destinations.of(tx, settings, tenant)
    return Allowed.of(settings, found, **{"high_risk": False, **more})
