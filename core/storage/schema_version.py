"""The version of a database, and whether this code can use it. Light to import: no migration tool."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text

from core.errors import Misconfigured
from core.storage import vector_spaces
from core.storage.db import Database, Tx
from core.storage.vector_spaces import EmbeddingModel

MIGRATIONS = Path(__file__).parent / "migrations"


def require_current(db: Database, embedding: tuple[str, int]) -> None:
    """Refuse to start on a database of another version, or whose vectors another model has made."""
    with db.queue() as tx:
        if tx.execute(text("SELECT to_regclass('deployment')")).scalar() is None:
            raise Misconfigured("The database has no Imprint tables yet. Run `imprint db upgrade` first.")
        current, newest = version(tx)
        if current != newest:
            raise Misconfigured(
                f"The database is at migration {current}, this version needs {newest}: `imprint db upgrade`."
            )
        require_same_embedding(tx, embedding)


def version(connection: Connection) -> tuple[str | None, str]:
    """Return the database's migration, None for a new one, and the newest that this code carries."""
    if connection.execute(text("SELECT to_regclass('alembic_version')")).scalar() is None:
        return None, max(migrations())
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar(), max(migrations())


def migrations() -> frozenset[str]:
    """Return every migration that this code carries: a database at one of them can be used by this version."""
    return frozenset(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def require_same_embedding(tx: Tx, embedding: tuple[str, int]) -> None:
    held = vector_spaces.models_by_place(tx)
    if EmbeddingModel(*embedding) not in held.values():
        raise Misconfigured(
            f"The vectors in this database were made by {' and '.join(map(str, held.values()))}, but "
            f"{EmbeddingModel(*embedding)} is configured, and the two cannot be compared. Set IMPRINT_EMBEDDING and "
            f"IMPRINT_EMBEDDING_MODEL back, or have them made: imprint memory reembed"
        )
