"""Logins that have ended: a logout is an event of the tenant, so that every process knows of it for good."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from starlette.concurrency import run_in_threadpool

from api.console.cookie import Login
from api.ingress import dependencies
from api.ingress.dependencies import Dependencies
from core.errors import Unauthorized
from core.events import log
from core.events.log import Announcement
from core.tenancy.tenants import Caller

LOGGED_OUT: Final = "console.logged_out"


async def has_ended(deps: Dependencies, login: Login) -> bool:
    """Return whether the browser has logged out with this cookie; a revoked key is for admission control to refuse."""
    try:
        caller = await dependencies.identify(deps, f"Bearer {login.key}")
    except Unauthorized:
        return False
    return await run_in_threadpool(_is_announced, deps, caller, login)


def _is_announced(deps: Dependencies, caller: Caller, login: Login) -> bool:
    with deps.db.tenant(caller.tenant_id) as tx:
        return log.announced(tx, login.id) is not None


def end(deps: Dependencies, caller: Caller, login: Login) -> None:
    """Refuse the cookie of this login from now on."""
    ended = Announcement(login.id, LOGGED_OUT, datetime.now(UTC), {"by": f"key:{caller.key_id}"})
    with deps.db.tenant(caller.tenant_id) as tx:
        log.announce(tx, caller.tenant_id, [ended])
