"""What `imprint doctor` looks at: the settings, and short transactions on the database behind them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sqlalchemy import NullPool, TextClause, create_engine, text
from sqlalchemy.engine import URL

from api.cli import database
from api.stack.postgres import Postgres
from api.stack.up import is_running
from core.config import ClientSettings, Settings
from core.errors import Misconfigured
from core.storage import db
from core.storage.db import Database, Tx

STATEMENT_SECONDS: Final = 5
TENANTS: Final = 100
"""Tenants that are looked at one by one, at most."""


@dataclass(frozen=True)
class Installation:
    """The installation that the settings name. It is only read."""

    settings: Settings

    @cached_property
    def is_remote(self) -> bool:
        """Whether IMPRINT_URL names a server, which may be anywhere."""
        return ClientSettings().url is not None

    @cached_property
    def has_servers(self) -> bool:
        """Whether the settings name a PostgreSQL of one's own."""
        return self.settings.database_url is not None or self.settings.database_app_url is not None

    @cached_property
    def is_up(self) -> bool:
        """Whether `imprint up` holds this home."""
        return is_running(self.settings.home)

    @property
    def is_anywhere(self) -> bool:
        """Whether there is anything running to look at."""
        return self.is_remote or self.has_servers or self.is_up

    @property
    def has_database(self) -> bool:
        """Whether the database is known here; behind a remote API it is its operator's."""
        return self.has_servers or "database_url" in self.settings.stack

    @property
    def owner_or_app(self) -> URL:
        """The owner's URL if known, else that of the tenant-bound role."""
        try:
            return db.owner_url(self.settings)
        except Misconfigured:
            return db.app_url(self.settings)

    @property
    def statistics_url(self) -> URL:
        """The URL of the role that sees most of the server's statistics: the superuser of an embedded server."""
        if self.has_servers or not self.is_up:
            return self.owner_or_app
        embedded = Postgres(self.settings.home.expanduser().resolve())
        stack = self.owner_or_app
        return db.driver_url(embedded.admin_url).set(host=stack.host, port=stack.port)

    def app(self) -> closing[Database]:
        """Open the pool of the tenant-bound role."""
        return database.of_tenants(self.settings)

    @contextmanager
    def reading(self, url: URL | None = None) -> Iterator[Tx]:
        """Open a read-only transaction whose statements take five seconds at most."""
        arguments = {"connect_timeout": STATEMENT_SECONDS}
        engine = create_engine(url or self.owner_or_app, poolclass=NullPool, connect_args=arguments)
        try:
            with engine.connect() as tx:
                # As statements, because PgBouncer refuses them as options of the connection.
                tx.execute(text("SET TRANSACTION READ ONLY"))
                tx.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_SECONDS}s'"))
                yield tx
        finally:
            engine.dispose()

    def rows(self, statement: TextClause, url: URL | None = None, **values: object) -> list[Any]:
        """Return the rows of a statement in such a transaction."""
        with self.reading(url) as tx:
            return list(tx.execute(statement, values).all())

    def tenants(self) -> list[str]:
        """Return the oldest tenants, if the queue role is known here; else none."""
        with suppress(Misconfigured):
            url = db.router_url(self.settings)
            return [row.id for row in self.rows(_TENANTS, url, most=TENANTS)]
        return []


_TENANTS = text("SELECT id FROM tenants ORDER BY created_at LIMIT :most")
