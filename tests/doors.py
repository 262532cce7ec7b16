"""The HTTP door in this process, with keys of tenants."""

from __future__ import annotations

from collections.abc import Iterator
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


class Keys(dict[str, str]):
    """Admin keys by tenant; a tenant beside the first begins when its key is asked for, which most tests do not do."""

    def __init__(self, settings: Settings) -> None:
        super().__init__({TENANT: key_of(settings, TENANT)})
        self._settings = settings

    def __missing__(self, tenant: str) -> str:
        self[tenant] = key_of(self._settings, tenant)
        return self[tenant]


@dataclass(frozen=True, slots=True)
class Doors:
    """A client of the door, and admin keys of tenants."""

    client: TestClient
    keys: Keys

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
    with closing(db.connect(db.app_url(settings), 1)) as app, app.tenant(tenant) as tx:
        if tenants.ensure(tx, tenant):
            install_defaults(tx, tenant)
        return tenants.create_key(tx, tenant, scopes)[1]


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
    keys = Keys(settings)
    app = http.create(settings, broker_url(settings), HashEmbedder())
    with TestClient(app, raise_server_exceptions=False) as client:
        client.event_hooks = {"response": [partial(declared.require, app)]}
        yield Doors(client, keys)
