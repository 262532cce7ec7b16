"""Checks of the running installation for `imprint doctor`: API, key, database, broker, processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial

from sqlalchemy import create_engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from api.cli.client import Client, Refused
from api.cli.commands.host.findings import CheckResult, first_line, run_check
from api.stack import run_files
from api.stack.external import External
from api.stack.up import is_running
from core.config import ClientSettings, Settings
from core.errors import Misconfigured, Unauthorized
from core.events.doorbell import broker_url
from core.inference import embedding_model
from core.maintenance import heartbeat
from core.storage import db, schema_version
from core.tenancy import tenants

WAY_OUT = "Start it with `imprint up`, or name the folder it runs on with IMPRINT_HOME, or a server with IMPRINT_URL."


def findings(settings: Settings) -> Iterator[CheckResult]:
    """Check the running installation from the outside in; if nothing runs, that is a failure with advice."""
    remote = ClientSettings().url is not None
    servers = settings.database_url is not None or settings.database_app_url is not None
    if not remote and not servers and not is_running(settings.home):
        yield _port(settings)
        yield CheckResult("stack", "fail", f"nothing runs on {settings.home.absolute()}. {WAY_OUT}")
        return
    api = _api()
    yield api
    if api.state != "fail":
        yield run_check("key", partial(_key, settings))
    if not servers and "database_url" not in settings.stack:
        return  # A server elsewhere: what is behind its API is for whoever runs it.
    reached = run_check("database", partial(_check_database_answers, settings))
    yield reached
    if reached.state == "ok":
        yield from _inside(settings)
    yield run_check("broker", partial(_broker, settings))


def _port(settings: Settings) -> CheckResult:
    """Return the HTTP port that a new stack would listen on."""
    address = f"{settings.http_host}:{settings.http_port}"
    try:
        free = run_files.is_free(settings.http_host, settings.http_port)
    except OSError as error:
        detail = f"Cannot listen on {address}: {error.strerror or error}. Set IMPRINT_HTTP_HOST and IMPRINT_HTTP_PORT."
        return CheckResult("port", "fail", detail)
    if not free:
        detail = f"{address} is taken by something else. Stop it, or set IMPRINT_HTTP_PORT to a free one."
        return CheckResult("port", "warn", detail)
    return CheckResult("port", "ok", f"{address} is free")


def _api() -> CheckResult:
    """Check that the API answers at the configured address and is ready."""
    with closing(Client(ClientSettings(), key="none")) as client:
        try:
            client.get("/readyz")
        except Refused as refused:
            if refused.status is None:
                return CheckResult("api", "fail", refused.title)
            return CheckResult("api", "fail", f"{client.url} answers, but is not ready: {refused.title}")
        return CheckResult("api", "ok", f"ready at {client.url}")


def _key(settings: Settings) -> str:
    """Check that the commands' key is accepted, and its scopes if the database is reachable."""
    with closing(Client(ClientSettings())) as client:
        try:
            tenant = client.get("/v1/tenant")["id"]
        except Refused as refused:
            raise Misconfigured(f"The key of the commands is refused: {refused.title}") from None
        scopes = _scopes(settings, client.key)
    return f"let in to the tenant {tenant}" + (f", scopes {', '.join(scopes)}" if scopes else "")


def _scopes(settings: Settings, key: str) -> list[str]:
    """Return the scopes of a key; empty if the database is unreachable or is not the one behind the API."""
    try:
        database = db.connect(db.app_url(settings), 1)
    except Misconfigured:
        return []
    try:
        return sorted(tenants.caller(database, key).scopes)
    except (DBAPIError, Unauthorized):
        return []
    finally:
        database.close()


def _inside(settings: Settings) -> Iterator[CheckResult]:
    """Check the database; meaningful only after all migrations."""
    migrated = run_check("migration", partial(_migration, settings))
    yield migrated
    if migrated.state != "ok":
        return
    yield run_check("tenancy", partial(_check_roles, settings))
    yield run_check("vectors", partial(_vectors, settings))
    yield _processes(settings)


def _first_url(settings: Settings) -> URL:
    """Return the owner's URL if known, else that of the tenant-bound role."""
    try:
        return db.owner_url(settings)
    except Misconfigured:
        return db.app_url(settings)


def _check_database_answers(settings: Settings) -> str:
    url = _first_url(settings).set(drivername="postgresql")
    external = External("postgres", url.render_as_string(hide_password=False))
    external.start()
    return f"answers at {external.where}"


def _broker(settings: Settings) -> str:
    external = External("broker", broker_url(settings))
    external.start()
    return f"answers at {external.where}"


def _migration(settings: Settings) -> str:
    engine = create_engine(_first_url(settings))
    try:
        with engine.connect() as connection:
            revision, newest = schema_version.version(connection)
    finally:
        engine.dispose()
    if revision != newest:
        raise Misconfigured(
            f"The database is at {revision or 'nothing'}, this version needs {newest}. Run `imprint db upgrade`."
        )
    return f"at {revision}, the newest"


def _check_roles(settings: Settings) -> str:
    """Check that the known roles own nothing; a process of the service knows one or two of them."""
    urls = [db.app_url(settings)]
    with suppress(Misconfigured):
        urls.append(db.router_url(settings))
    for url in urls:
        database = db.connect(url, 1)
        try:
            db.require_bound(database)
        finally:
            database.close()
    return f"{' and '.join(str(url.username) for url in urls)} own nothing and cannot bypass row-level security"


def _vectors(settings: Settings) -> str:
    identity = embedding_model.identity(settings)
    database = db.connect(db.app_url(settings), 1)
    try:
        schema_version.require_current(database, identity)
    finally:
        database.close()
    return f"made by {identity[0]} ({identity[1]} dimensions), as configured"


def _processes(settings: Settings) -> CheckResult:
    """List the processes with a recent heartbeat."""
    database = db.connect(db.app_url(settings), 1)
    try:
        with database.queue() as tx:
            missing = heartbeat.missing_processes(tx)
    except DBAPIError as error:
        return CheckResult("processes", "fail", first_line(error))
    finally:
        database.close()
    if missing:
        detail = f"not at work: {', '.join(missing)}. Start them with `imprint up`; their logs say why they ended."
        return CheckResult("processes", "fail", detail)
    return CheckResult("processes", "ok", f"at work: {', '.join(heartbeat.REQUIRED_PROCESSES)}")
