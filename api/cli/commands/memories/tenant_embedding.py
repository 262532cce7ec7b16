"""`imprint memory reembed --tenant`: the change of one tenant's embedding model, which the workers carry out."""

from __future__ import annotations

import time
from typing import Final

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from api.cli import database
from api.terminal import err, out, say
from core.config import Settings
from core.index import embedding_change
from core.storage.db import Database
from core.types import Json

POLL_SECONDS: Final = 0.5

MAKING: Final = frozenset({"clearing", "filling"})
"""States in which the next model is not in use yet."""


def change(settings: Settings, tenant: str, name: str, *, quiet: bool = False) -> Json:
    """Ask for the model, wait until its vectors are in use, and return the state.

    Stopping the wait does not stop the workers.
    """
    with database.of_tenants(settings) as pool:
        with pool.tenant(tenant) as tx:
            database.require_tenant(tx, tenant)
            embedding_change.request(tx, tenant, settings, name)
        status = _wait(pool, tenant, settings)
    if quiet:
        return status
    out.print(f"{tenant}: {status['model']} answers.", highlight=False)
    if status["state"] in {"leaving", "removing"}:
        notice = (
            f"The vectors of {status['other']} are removed after {status['until']}, when nothing uses them any more."
        )
        say(notice)
    return status


def _wait(pool: Database, tenant: str, settings: Settings) -> Json:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("a worker begins (Ctrl-C: it goes on without this command)", total=None)
        while True:
            with pool.tenant(tenant) as tx:
                status = embedding_change.view(tx, tenant, settings)
            if status["state"] not in MAKING:
                return status
            made, of = status["vectors"]["other"], status["vectors"]["model"]
            progress.update(task, description=f"{made:,} of {of:,} vectors by {status['other']}")
            time.sleep(POLL_SECONDS)
