"""PgBouncer before a test's database, in transaction mode."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
from pydantic import SecretStr
from sqlalchemy import URL

from core.config import Settings
from core.storage import db
from tests.patience import wait_until
from tests.ports import free_port

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextlib.contextmanager
def pooled(settings: Settings, connections: int) -> Iterator[Settings]:
    """Settings whose two roles connect through a pooler that keeps so many connections for each."""
    roles = db.app_url(settings), db.router_url(settings)
    own = {"database_app_url": _through(roles[0]), "database_router_url": _through(roles[1])}
    with (
        tempfile.TemporaryDirectory(prefix="imprint-bouncer-") as folder,
        _running(Path(folder), roles, connections) as port,
    ):
        through = {name: SecretStr(_text(url.set(host="127.0.0.1", port=port))) for name, url in own.items()}
        yield settings.model_copy(update=through)


def raw(settings: Settings) -> psycopg.Connection[tuple[object, ...]]:
    """A connection as any client would open it: no transaction, no tenant."""
    return psycopg.connect(_text(_through(db.app_url(settings))), autocommit=True, prepare_threshold=None)


def _through(url: URL) -> URL:
    return url.set(drivername="postgresql")


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


@contextlib.contextmanager
def _running(folder: Path, roles: tuple[URL, URL], connections: int) -> Iterator[int]:
    assert PROGRAM
    port = free_port()
    users = folder / "users.txt"
    users.write_text("".join(f'"{role.username}" "{role.password}"\n' for role in roles))
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(_configuration(roles[0], users, port, connections))
    user = []
    if os.geteuid() == 0:  # It refuses to run as root.
        user = ["-u", "nobody"]
        for path in (folder, users, configuration):
            shutil.chown(path, "nobody")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([PROGRAM, *user, str(configuration)], stdout=log, stderr=log)
    try:
        url = _text(_through(roles[0]).set(host="127.0.0.1", port=port))
        wait_until(lambda: _answers(process, url))
        yield port
    finally:
        process.terminate()
        process.wait(20)


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    assert process.poll() is None, "PgBouncer has ended"
    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=5).close()
        return True
    return False


def _configuration(server: URL, users: Path, port: int, connections: int) -> str:
    return f"""
[databases]
* = host={server.host} port={server.port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
"""
