"""`imprint tenant secrets reseal`: encrypting the secrets of every tenant with a new key."""

from __future__ import annotations

from api.cli import database
from api.cli.client import AsJson, finish_if_json
from api.terminal import err
from core.config import Settings
from core.tenancy import secrets, vault


def reseal(as_json: AsJson = False) -> None:
    """Encrypt all secrets of all tenants with the first key of IMPRINT_SECRETS_KEY; then remove the other keys.

    Example: imprint tenant secrets reseal
    """
    done = reseal_all(Settings())
    finish_if_json(as_json, {"resealed": done})
    err.print(f"{done} secrets are encrypted with the first key.", highlight=False)


def reseal_all(settings: Settings) -> int:
    """Encrypt the secrets of every tenant with the first key; return how many."""
    sealer, done = vault.load(settings), 0
    with database.of_tenants(settings) as pool:
        for tenant in database.tenant_names(settings):
            with pool.tenant(tenant) as tx:
                done += secrets.reseal(tx, sealer, tenant)
    return done
