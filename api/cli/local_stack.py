"""`imprint up`. Light to import: this process stays as long as the stack and only watches the others."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from api.stack.supervisor import Child
from api.stack.up import METRICS_FOLDER, ListenAddress, RunProcess
from api.stack.up import up as run_stack
from core.config import Settings

APP, ROUTER = "IMPRINT_DATABASE_APP_URL", "IMPRINT_DATABASE_ROUTER_URL"
"""Settings with the roles that processes connect as: the tenant-bound one, and that of the queue."""

SHARED: Final = (
    "api.cli.preparation",
    "api.cli.main",
    "workers.__main__",
    "workers.processes",
    "celery.bin.worker",
    "celery.apps.worker",
    "celery.apps.beat",
    "celery.concurrency.prefork",
    "kombu.transport.redis",
    "celery.concurrency.thread",
    "workers.scheduling",
    "workers.together",
    "api.cli.serve",
    "api.cli.serving",
    "workers.rehearsal:rehearse",
)
"""Modules that the fork server imports and functions that it calls, in this order: the preparation is wanted first."""


IDLE_PROCESSES: Final = 1
"""Processes of each worker that stay while it has no work; each takes 18 MB of its own."""

MALLOC: Final = {"MALLOC_ARENA_MAX": "2"}
"""Of the C library: one heap for each thread would keep what threads free."""


def up(
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only errors.")] = False,
    small: Annotated[
        bool, typer.Option("--small", help="Router, workers and clock in one process; a small cache of PostgreSQL.")
    ] = False,
) -> None:
    """Run the whole stack on this machine; Ctrl-C stops it and keeps the data.

    Example: IMPRINT_HOME=~/imprint IMPRINT_HTTP_PORT=8080 imprint up --small
    """
    raise typer.Exit(stack(Settings(), quiet=quiet, small=small))


def stack(settings: Settings, *, quiet: bool, small: bool = False, on_ready: Callable[[], None] | None = None) -> int:
    """Run servers and processes until a signal, or until `on_ready` returns; return the exit code."""
    metrics = settings.home.absolute() / "run" / "metrics"
    return run_stack(
        settings_env={**os.environ, METRICS_FOLDER: str(metrics), "OMP_NUM_THREADS": "1", **MALLOC},
        home=settings.home,
        http=ListenAddress(settings.http_host, settings.http_port),
        metrics=ListenAddress(
            settings.metrics_host, settings.metrics_port, "metrics_port" in settings.model_fields_set
        ),
        quiet=quiet,
        database_url=settings.database_url.get_secret_value() if settings.database_url else None,
        broker_url=settings.broker_url.get_secret_value() if settings.broker_url else None,
        prepare=_prepare,
        children=_children(settings, small=small),
        shared=SHARED,
        on_ready=on_ready,
        small=small,
    )


def _children(settings: Settings, *, small: bool) -> list[Child]:
    me, workers = [sys.executable, "-m", "api.cli.main"], [sys.executable, "-m", "workers"]
    serving = {"IMPRINT_HTTP_HOST": settings.http_host, "IMPRINT_HTTP_PORT": str(settings.http_port)}
    if "embedding_at_start" not in settings.model_fields_set:
        serving["IMPRINT_EMBEDDING_AT_START"] = "false"
    if small:
        serving["IMPRINT_API_PROCESSES"] = "1"
        return [
            Child("api", [*me, "serve"], serving, {APP}, shows_metrics=True),
            Child("workers", [*workers, "together"], roles={APP, ROUTER}),
        ]
    few = ["--idle", str(IDLE_PROCESSES)]
    return [
        Child("api", [*me, "serve"], serving, {APP}, shows_metrics=True),
        Child("router", [*workers, "router-and-clock"], roles={APP, ROUTER}),
        Child("worker-io", [*workers, "worker", "--queue", "io", *few], roles={APP}),
        Child("worker-cpu", [*workers, "worker", "--queue", "cpu", *few], roles={APP}),
    ]


def _prepare(env: Mapping[str, str], run: RunProcess) -> Mapping[str, str]:
    """Prepare the database in a process of its own; return the URLs of the two roles that own nothing."""
    file = Path(env["IMPRINT_HOME"]) / "run" / "roles.json"
    file.unlink(missing_ok=True)
    try:
        run(Child("prepare", [sys.executable, "-m", "api.cli.preparation", str(file)]), env)
        urls = json.loads(file.read_text())
    finally:
        file.unlink(missing_ok=True)
    return {APP: urls["app"], ROUTER: urls["router"]}
