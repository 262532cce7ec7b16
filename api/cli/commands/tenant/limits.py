"""`imprint tenant limits`: show and grant the limits of a tenant; requires access to the database."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import database, tables
from api.cli.client import AsJson, finish_if_json
from api.cli.commands.host.service import DEFAULT_TENANT
from api.cli.tables import Column
from core.config import Settings
from core.errors import Invalid, Problem
from core.settings.limits import TenantLimits
from core.tenancy import limits as tenancy_limits
from core.types import Json

TAKEN_BACK = "default"
"""In place of a number: the installation's default is in force again."""

Tenant = Annotated[str, typer.Option(help="The tenant.")]
Grants = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=VALUE]...", help="Limits to grant; NAME=default restores the default."),
]


def limits(grants: Grants = None, tenant: Tenant = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """Show the limits of a tenant, or grant it limits that differ from the installation's defaults.

    Example: imprint tenant limits --tenant acme settles=100
    """
    settings = Settings()
    with database.of_tenant(settings, tenant) as tx:
        database.require_tenant(tx, tenant)
        if grants:
            standing = tenancy_limits.view(tx, tenant, settings.tenant_limits)["granted"]
            tenancy_limits.grant(tx, tenant, _with_changes(standing, grants))
        view = tenancy_limits.view(tx, tenant, settings.tenant_limits)
    finish_if_json(as_json, view)
    _show(view)


def _with_changes(standing: Json, grants: list[str]) -> Json:
    """Return all grants after the change. Invalid: not `name=value`, or not a number."""
    granted = dict(standing)
    for grant in grants:
        name, equals, value = grant.partition("=")
        if not equals or name not in TenantLimits.model_fields:
            raise Invalid([Problem(f"/{name}", f"write NAME=VALUE; limits are {', '.join(TenantLimits.model_fields)}")])
        if value == TAKEN_BACK:
            granted.pop(name, None)
        elif value.isdecimal():
            granted[name] = int(value)
        else:
            raise Invalid([Problem(f"/{name}", f"{value!r} is neither a whole number nor `{TAKEN_BACK}`")])
    return granted


def _show(view: Json) -> None:
    columns = (
        *(Column("limit"), Column("in force", right=True), Column("granted", right=True), Column("chosen", right=True)),
        Column("meaning", flexible=True, style="dim"),
    )
    tables.rows(columns, (_row(view, name, value) for name, value in view["limits"].items()), headings=True)


def _row(view: Json, name: str, value: int) -> list[str]:
    layers = [str(view[layer].get(name, "")) for layer in ("granted", "chosen")]
    return [name, f"{value:,}", *layers, str(TenantLimits.model_fields[name].description)]
