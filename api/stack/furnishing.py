"""Roles, database and extension in the local stack's PostgreSQL, made where they are missing.

`python -m api.stack.furnishing`, with the arguments of `furnish` as JSON on standard input. It is a process that ends,
because the one that watches the stack would keep the driver in memory.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import psycopg
from psycopg import sql

from api.stack.postgres import EXIT_REFUSED


def main() -> int:
    """Furnish the server; print one line and return another code than 0 where that cannot be."""
    try:
        furnish(**json.load(sys.stdin))
    except psycopg.Error as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        return EXIT_REFUSED if "password authentication failed" in str(error) else 1
    return 0


def furnish(superuser: dict[str, Any], owner: str, password: str, database: str) -> None:
    """Create role, database and extension if missing, so that an interrupted first start is completed.

    `superuser`: how to connect as the superuser, but for the database; `owner` gets the password and the database.
    """
    with psycopg.connect(**superuser, dbname="postgres", autocommit=True) as db:
        if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (owner,)).fetchone():
            statement = sql.SQL("CREATE ROLE {} LOGIN CREATEDB CREATEROLE PASSWORD {}")
            db.execute(statement.format(sql.Identifier(owner), sql.Literal(password)))
        if not db.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone():
            _create_database(db, superuser, owner, database)
    with psycopg.connect(**superuser, dbname=database, autocommit=True) as db:
        db.execute("ALTER EXTENSION vector UPDATE")
        _let_scrub(db, owner)
    psycopg.connect(**{**superuser, "user": owner, "password": password, "dbname": database}).close()


def _create_database(db: psycopg.Connection, superuser: dict[str, Any], owner: str, database: str) -> None:
    """Create the database; `vector` needs a superuser, and in template1 every later database has it as well."""
    with psycopg.connect(**superuser, dbname="template1", autocommit=True) as template:
        template.execute("CREATE EXTENSION IF NOT EXISTS vector")
    db.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(database), sql.Identifier(owner)))


def _let_scrub(db: psycopg.Connection, owner: str) -> None:
    """Allow the owner to have old write-ahead log files dropped (`core.erasure.scrub`)."""
    role = sql.Identifier(owner)
    db.execute(sql.SQL("GRANT pg_checkpoint TO {}").format(role))
    db.execute(sql.SQL("GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO {}").format(role))


if __name__ == "__main__":
    sys.exit(main())
