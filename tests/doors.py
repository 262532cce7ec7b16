"""The HTTP door in this process, with keys of two tenants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi.testclient import TestClient
from httpx import Response
from sqlalchemy import text

from api import app as http
from core.config import Settings
from core.events.doorbell import broker_url
from core.inference.embedders import HashEmbedder
from core.storage import db
from core.storage.db import Tx
from core.tenancy import tenants
from rules.registry import store
from tests import declared
from tests.samples import TENANT

OTHER = "globex"


@dataclass(frozen=True, slots=True)
class Doors:
    """A client of the door, and an admin key for each tenant."""

    client: TestClient
    keys: Mapping[str, str]

    def ask(self, method: str, path: str, *, tenant: str = TENANT, key: str | None = None, **more: Any) -> Response:
        """One request with the tenant's key, or with the key given."""
        headers = {"authorization": f"Bearer {key or self.keys[tenant]}", **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def get(self, path: str, **more: Any) -> Response:
        return self.ask("GET", path, **more)

    def post(self, path: str, json: object = None, **more: Any) -> Response:
        return self.ask("POST", path, json=json, **more)


def key_of(settings: Settings, tenant: str, scopes: tuple[str, ...] = ("admin",)) -> str:
    """Create a key, and the tenant where it is missing."""
    return _keys(settings, (tenant,), scopes)[tenant]


def _keys(settings: Settings, names: Sequence[str], scopes: tuple[str, ...]) -> dict[str, str]:
    created = {}
    with closing(db.connect(db.app_url(settings), 1)) as app:
        for tenant in names:
            with app.tenant(tenant) as tx:
                if tenants.ensure(tx, tenant):
                    install_defaults(tx, tenant)
                created[tenant] = tenants.create_key(tx, tenant, scopes)[1]
    return created


def install_defaults(tx: Tx, tenant: str) -> None:
    """Put the default rules of a new tenant in force: one by one the first time in this process, then as a copy."""
    if not _DEFAULTS:
        store.install_defaults(tx, tenant)
        for table in _COLUMNS:
            _DEFAULTS[table] = tx.execute(text(f"SELECT json_agg({table})::text FROM {table}")).scalar_one()
        return
    for table, columns in _COLUMNS.items():
        rows = f"json_populate_recordset(NULL::{table}, CAST(:rows AS json))"
        copy = f"INSERT INTO {table} (tenant_id, {columns}) SELECT :tenant, {columns} FROM {rows}"
        tx.execute(text(copy), {"tenant": tenant, "rows": _DEFAULTS[table]})


_COLUMNS = {"rules": "name, version, document, cost", "rule_versions": "name, version, document, author, comment"}
_DEFAULTS: dict[str, str] = {}
"""The rows of both tables, as the first tenant of this process got them."""


@contextmanager
def opened(settings: Settings) -> Iterator[Doors]:
    """Open the door on these settings until the test is over."""
    keys = _keys(settings, (TENANT, OTHER), ("admin",))
    app = http.create(settings, broker_url(settings), HashEmbedder())
    with TestClient(app, raise_server_exceptions=False) as client:
        client.event_hooks = {"response": [partial(declared.require, app)]}
        yield Doors(client, keys)
