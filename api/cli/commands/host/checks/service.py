"""Checks of the running service from outside: is it there, ready, and does it accept the key of the commands?"""

from __future__ import annotations

from contextlib import closing

from sqlalchemy.exc import DBAPIError

from api.cli.client import Client, Refused
from api.cli.commands.host.checks.installation import Installation
from core.config import ClientSettings
from core.errors import Misconfigured, Unauthorized
from core.tenancy import tenants


def stack(installation: Installation) -> str:
    """Check that there is anything to look at."""
    if not installation.is_anywhere:
        raise Misconfigured(f"nothing runs on {installation.settings.home.absolute()}.")
    return "runs" if installation.is_up else "the settings name servers"


def api(_installation: Installation) -> str:
    """Check that the API answers at the configured address and is ready."""
    with closing(Client(ClientSettings(), key="none")) as client:
        try:
            client.get("/readyz")
        except Refused as refused:
            if refused.status is None:
                raise Misconfigured(refused.title) from None
            raise Misconfigured(f"{client.url} answers, but is not ready: {refused.title}") from None
        return f"ready at {client.url}"


def key(installation: Installation) -> str:
    """Check that the commands' key is accepted, and its scopes if the database is reachable."""
    with closing(Client(ClientSettings())) as client:
        try:
            tenant = client.get("/v1/tenant")["id"]
        except Refused as refused:
            raise Misconfigured(f"The key of the commands is refused: {refused.title}") from None
        scopes = _scopes(installation, client.key)
    return f"let in to the tenant {tenant}" + (f", scopes {', '.join(scopes)}" if scopes else "")


def _scopes(installation: Installation, key: str) -> list[str]:
    """Return the scopes of a key; empty if the database is unreachable or is not the one behind the API."""
    try:
        with installation.app() as database:
            return sorted(tenants.caller(database, key).scopes)
    except (DBAPIError, Misconfigured, Unauthorized):
        return []
