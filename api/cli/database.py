"""The database, of commands that work without the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from core.config import Settings
from core.errors import NotFound
from core.storage import db
from core.storage.db import Database, Tx
from core.tenancy import tenants


def of_tenants(settings: Settings, schema: str = db.PUBLIC) -> closing[Database]:
    """Open the pool of the tenant-bound role for one command. `schema`: first on its search path."""
    return closing(db.connect(db.app_url(settings), 2, schema))


@contextmanager
def of_tenant(settings: Settings, tenant: str) -> Iterator[Tx]:
    """Open one transaction of a tenant."""
    with of_tenants(settings) as database, database.tenant(tenant) as tx:
        yield tx


@contextmanager
def of_all(settings: Settings) -> Iterator[Tx]:
    """Open one transaction of the role that sees the queues of all tenants."""
    with closing(db.connect(db.router_url(settings), 1)) as queue, queue.queue() as tx:
        yield tx


def tenant_names(settings: Settings) -> list[str]:
    """Return the names of all tenants, in order."""
    with of_all(settings) as tx:
        return sorted(tenants.names(tx))


def require_tenant(tx: Tx, name: str) -> None:
    """NotFound: there is no such tenant."""
    if name not in tenants.names(tx):
        raise NotFound(f"There is no tenant {name!r}; `imprint keys create --tenant {name}` creates one.")
