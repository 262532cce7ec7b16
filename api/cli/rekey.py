"""Putting another key in the place of one that encrypts secrets."""

from __future__ import annotations

from core.config import Settings
from core.storage import db
from core.tenancy import secrets, tenants, vault


def reseal_all(settings: Settings) -> int:
    """Encrypt the secrets of every tenant with the first key; how many there are."""
    sealer, done = vault.opened(settings), 0
    queue, app = db.connect(db.router_url(settings), 1), db.connect(db.app_url(settings), 1)
    try:
        with queue.queue() as tx:
            known = tenants.names(tx)
        for tenant in known:
            with app.tenant(tenant) as tx:
                done += secrets.reseal(tx, sealer, tenant)
    finally:
        queue.close()
        app.close()
    return done
