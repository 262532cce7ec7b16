"""Databases of a test's own, beside the one that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from pydantic import SecretStr
from sqlalchemy import URL, NullPool, create_engine, text

from core import db
from core.config import Settings


@contextmanager
def beside(settings: Settings) -> Iterator[Settings]:
    """Settings on an empty database of the same server; it is dropped afterwards."""
    url, name = db.owner_url(settings), f"t{uuid4().hex}"
    own = url.set(database=name).render_as_string(hide_password=False)
    _now(url, f"CREATE DATABASE {name}")
    try:
        yield settings.model_copy(update={"database_url": SecretStr(own)})
    finally:
        # Without FORCE, which fails where autovacuum is in it: so PostgreSQL ends that and waits for the others to go.
        _now(url, f"DROP DATABASE {name}")


def _now(url: URL, statement: str) -> None:
    """Carry out what no transaction may hold; the connection is gone even where it fails."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(statement))
