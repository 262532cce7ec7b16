"""`imprint tenant copy` and `remove`: moving a tenant to another cell; requires the owner's access to the databases."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, NamedTuple

import typer
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from api.cli import confirming
from api.cli.client import AsJson, finish_if_json
from api.cli.progress import bar
from api.http.transfer.imports import LARGEST
from api.ingress.bodies import SLOWEST
from api.terminal import err
from core.cells import moving, rows
from core.config import Settings
from core.errors import Invalid, Problem
from core.storage import db
from core.types import Json

Tenant = Annotated[str, typer.Argument(help="The tenant.")]
To = Annotated[
    str,
    typer.Option(
        "--to", envvar="TARGET_DATABASE_URL", help="URL of the other cell's database, as its owner.", show_envvar=True
    ),
]
ToApp = Annotated[
    str,
    typer.Option(
        "--to-app",
        envvar="TARGET_DATABASE_APP_URL",
        help="The same as the role imprint_app, if its password is not derived from the owner's.",
        show_envvar=True,
    ),
]
Cancel = Annotated[bool, typer.Option("--cancel", help="Serve the tenant here again after a copy that was broken off.")]
TargetIsLost = Annotated[
    bool,
    typer.Option(
        "--target-is-lost", help="With --cancel: do not ask the other cell, which will never serve the tenant."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def copy(
    tenant: Tenant,
    to: To = "",
    to_app: ToApp = "",
    cancel: Cancel = False,
    target_is_lost: TargetIsLost = False,
    as_json: AsJson = False,
) -> None:
    """Copy a tenant to another cell, compare both sides, and leave it frozen here; see docs/operations.md.

    Example: imprint tenant copy acme --to postgresql://imprint_owner@cell2.internal/imprint
    """
    if target_is_lost and not cancel:
        raise Invalid([Problem("/target_is_lost", "needs --cancel: nothing can be copied to a cell that is lost")])
    if cancel:
        _cancel(tenant, None if target_is_lost else _other_urls(to, to_app))
        finish_if_json(as_json, {"tenant": tenant, "state": "served here"})
        err.print(f"{tenant} is served by this cell again.", highlight=False)
        return
    own, other = _own_urls(), _other_urls(to, to_app)
    with moving.opened(*own) as source, moving.opened(*other) as target, bar(quiet=as_json) as progress:
        task = progress.add_task("Tables", total=len(rows.COPIED))
        try:
            copied = moving.copy(source, target, tenant, lambda _: progress.advance(task))
        except BaseException as error:
            for note in getattr(error, "__notes__", ()):
                err.print(note, highlight=False)
            raise
    tables = {} if copied is None else {name: number for name, number in copied.rows.items() if number}
    view = {
        "tenant": tenant,
        "rows": None if copied is None else sum(tables.values()),
        "tables": tables,
        "keeps_positions": copied is None or copied.keeps_positions,
        "keeps_tokens": own.app.password == other.app.password,
    }
    finish_if_json(as_json, view)
    _show(view)


def _cancel(tenant: str, other: _Urls | None) -> None:
    with ExitStack() as cells:
        source = cells.enter_context(moving.opened(*_own_urls()))
        target = None if other is None else cells.enter_context(moving.opened(*other))
        moving.cancel(source, target, tenant)


def _show(view: Json) -> None:
    done = "It was copied before" if view["rows"] is None else f"{view['rows']:,} rows were copied and compared"
    err.print(f"{done}. Switch the door, then run `imprint tenant remove {view['tenant']}` here.", highlight=False)
    if not view["keeps_positions"]:
        err.print("Positions of the stream are not valid there: followers begin anew.", highlight=False)
    if not view["keeps_tokens"]:
        err.print(
            "The cells have different passwords of imprint_app: logins to the console end, and settle tokens and "
            "idempotency keys of requests from before are not known there.",
            highlight=False,
        )


def remove(tenant: Tenant, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete the rows of a tenant that was copied to another cell.

    Example: imprint tenant remove acme --yes
    """
    if not yes:
        confirming.ask(f"Delete {tenant} from this cell? The other cell must serve it by now.", "Nothing was deleted.")
    with moving.opened(*_own_urls()) as source:
        count = moving.remove(source, tenant, _longest_request(Settings()))
    finish_if_json(as_json, {"tenant": tenant, "rows": count})
    err.print(f"{count:,} rows of {tenant} were deleted.", highlight=False)


class _Urls(NamedTuple):
    """URLs of a cell's database, as its owner and as the application."""

    owner: URL
    app: URL


def _longest_request(settings: Settings) -> float:
    """Return the seconds that a request may take from its admission to the end of its last statement."""
    body = settings.http_body_seconds + max(settings.request_bytes, LARGEST) / SLOWEST
    return body + settings.http_statement_seconds


def _own_urls() -> _Urls:
    settings = Settings()
    return _Urls(db.owner_url(settings), db.app_url(settings))


def _other_urls(owner: str, app: str) -> _Urls:
    """Parse the URLs of the other cell. Invalid: one of them is none."""
    try:
        owner_url = db.driver_url(owner)
        return _Urls(owner_url, db.driver_url(app) if app else db.derived_url(owner_url, db.APP_ROLE))
    except ArgumentError as error:
        problem = Problem("/to", "is not a URL such as postgresql://imprint_owner:PASSWORD@cell2.internal/imprint")
        raise Invalid([problem]) from error
