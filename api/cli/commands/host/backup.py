"""`imprint backup` and `imprint restore`: copies of the home directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.client import AsJson, finish_if_json
from api.stack import backups
from api.terminal import err, escape, out
from core.config import Settings
from core.errors import Misconfigured
from core.storage import schema_version

To = Annotated[Path, typer.Argument(help="A folder that does not exist yet.")]
From = Annotated[Path, typer.Argument(help="A folder written by `imprint backup`.")]

OWN_SERVER = (
    "IMPRINT_DATABASE_URL names a PostgreSQL of your own: copy it with `pg_dump` as a superuser, and keep the keys; "
    "docs/operations.md says how."
)


def backup(place: To, as_json: AsJson = False) -> None:
    """Back up this home: the database, the receipt key and the API key of the commands. The service may be running.

    Example: imprint backup /mnt/backups/2026-11-21
    """
    settings = _require_embedded()
    with err.status("Copying …"):
        copied = backups.write(settings.home, place)
    finish_if_json(as_json, {"path": str(place), "bytes": copied.database_bytes, "keys": list(copied.keys)})
    summary = f"{place}: database ({copied.database_bytes:,} bytes), {', '.join(copied.keys) or 'no keys'}."
    out.print(escape(summary), soft_wrap=True, highlight=False)
    if settings.receipt_key is not None:
        err.print("IMPRINT_RECEIPT_KEY is set; keep it with the backup, it is not in it.", highlight=False)


def restore(place: From, as_json: AsJson = False) -> None:
    """Restore a backup into a home without data; then start it with `imprint up`.

    Example: IMPRINT_HOME=/srv/imprint imprint restore /mnt/backups/2026-11-21
    """
    settings = _require_embedded()
    with err.status("Restoring …"):
        copied = backups.restore(settings.home, place, schema_version.migrations())
    finish_if_json(as_json, {"home": str(settings.home.absolute()), "keys": list(copied.keys)})
    out.print(escape(f"{settings.home.absolute()} holds the data of {place}. Start it: imprint up"), soft_wrap=True)


def _require_embedded() -> Settings:
    settings = Settings()
    if settings.database_url is not None:
        raise Misconfigured(OWN_SERVER)
    return settings
