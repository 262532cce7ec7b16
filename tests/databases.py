"""Databases of a test's own, beside the one that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from pydantic import SecretStr
from sqlalchemy import create_engine, text

from core import db
from core.config import Settings


@contextmanager
def beside(settings: Settings) -> Iterator[Settings]:
    """Settings on an empty database of the same server; it is dropped afterwards."""
    url, name = db.owner_url(settings), f"t{uuid4().hex}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    own = url.set(database=name).render_as_string(hide_password=False)
    try:
        yield settings.model_copy(update={"database_url": SecretStr(own)})
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        engine.dispose()
