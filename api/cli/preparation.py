"""Preparation of a home before its processes start: tables, roles, the default tenant, a key for the commands.

`python -m api.cli.preparation FILE` prepares the database and writes the URLs of its roles to the file, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from api.cli import database
from core.config import Settings
from core.errors import ImprintError
from core.extraction import extractor_setting
from core.inference import embedding_model
from core.inference.configured_embedder import require_model
from core.maintenance import heartbeat
from core.storage import db, schema
from core.storage.db import Database
from core.tenancy import tenants
from rules.registry import store

KEY_NAME = "imprint up"


def main(file: Path) -> int:
    """Prepare, by the settings in the environment; on a failure print one line and return 1."""
    settings = Settings()
    try:
        prepare(settings)
    except ImprintError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    roles = {"app": db.app_url(settings), "router": db.router_url(settings)}
    urls = {name: url.render_as_string(hide_password=False) for name, url in roles.items()}
    file.touch(mode=0o600)
    file.write_text(json.dumps(urls))
    return 0


def prepare(settings: Settings) -> None:
    """Create tables, the default tenant and a key for the commands of this home. Misconfigured: nothing could run."""
    require_model(settings)
    extractor_setting.require(settings)
    upgrade(settings)
    with database.of_tenants(settings) as pool:
        with pool.queue() as tx:
            heartbeat.delete_all(tx)
        path = settings.home / "run" / "api.key"
        if not path.exists():
            key = make_key(pool, tenants.DEFAULT, ["admin"], KEY_NAME)[1]
            path.touch(mode=0o600)
            path.write_text(key + "\n")


def upgrade(settings: Settings) -> dict[str, list[str]]:
    """Migrate the database, and add new default rules to every tenant; return the added rules by tenant."""
    schema.upgrade(settings, embedding_model.identity(settings))
    names, fresh = database.tenant_names(settings), dict[str, list[str]]()
    with database.of_tenants(settings) as pool:
        for tenant in sorted({*names, tenants.DEFAULT}):
            with pool.tenant(tenant) as tx:
                tenants.ensure(tx, tenant)
                fresh[tenant] = store.install_defaults(tx, tenant)
    return {tenant: rules for tenant, rules in fresh.items() if rules}


def make_key(
    pool: Database, tenant: str, scopes: list[str], name: str | None, labels: list[str] | None = None
) -> tuple[str, str]:
    """Create a key for a tenant, which is created with its default rules if it is new."""
    with pool.tenant(tenant) as tx:
        if tenants.ensure(tx, tenant):
            store.install_defaults(tx, tenant)
        return tenants.create_key(tx, tenant, scopes, name, labels)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
