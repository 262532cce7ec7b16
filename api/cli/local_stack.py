"""`imprint up`: what runs, by the settings; `api.cli.watching` asks for it, in another process, and runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from api.cli.shared_modules import APP, LIBRARY_ENV, ROUTER
from api.cli.watching import WantedStack
from api.stack.supervisor import Child
from api.stack.up import METRICS_FOLDER, ListenAddress
from api.terminal import err, say
from core import interpreter
from core.config import Settings
from core.settings import faults, user_folder

IDLE_PROCESSES: Final = 0
"""Processes of each worker that stay while it has no work; each takes 18 MB of its own."""


def up(
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only errors.")] = False,
    small: Annotated[
        bool, typer.Option("--small", help="Router, workers and clock in one process; a small cache of PostgreSQL.")
    ] = False,
) -> None:
    """Run the whole stack on this machine; Ctrl-C stops it and keeps the data.

    Example: IMPRINT_HOME=~/imprint IMPRINT_HTTP_PORT=8080 imprint up --small
    """
    settings = Settings()
    _register(settings)
    wanted_stack(settings, quiet=quiet, small=small).write()


def _register(settings: Settings) -> None:
    """Let commands in this folder use this stack: they read no settings of the working folder themselves."""
    if settings.home.expanduser().is_absolute() and faults.origin("home") == faults.ENVIRONMENT:
        return
    try:
        user_folder.register(settings.home)
    except OSError as error:
        reason = f"{user_folder.folder()} cannot be written ({error.strerror})"
        advice = f"set IMPRINT_HOME={settings.home.absolute()} for other commands."
        say(f"{reason}: {advice}", err)


def stack(settings: Settings, *, quiet: bool, on_ready: Callable[[], None]) -> int:
    """Run servers and processes until `on_ready` returns; return the exit code."""
    return wanted_stack(settings, quiet=quiet).run(on_ready)


def wanted_stack(settings: Settings, *, quiet: bool, small: bool = False) -> WantedStack:
    """Return what runs by these settings."""
    metrics = settings.home.absolute() / "run" / "metrics"
    return WantedStack(
        env={METRICS_FOLDER: str(metrics), "IMPRINT_WORKER_NICENESS": str(settings.worker_niceness), **LIBRARY_ENV},
        home=str(settings.home),
        http=ListenAddress(settings.http_host, settings.http_port),
        metrics=ListenAddress(
            settings.metrics_host, settings.metrics_port, "metrics_port" in settings.model_fields_set
        ),
        quiet=quiet,
        small=small,
        database_url=settings.database_url.get_secret_value() if settings.database_url else None,
        broker_url=settings.broker_url.get_secret_value() if settings.broker_url else None,
        children=_children(settings, small=small),
    )


def _children(settings: Settings, *, small: bool) -> list[Child]:
    serve, workers = interpreter.module("api.cli.serve"), interpreter.module("workers")
    serving = {"IMPRINT_HTTP_HOST": settings.http_host, "IMPRINT_HTTP_PORT": str(settings.http_port)}
    if "embedding_at_start" not in settings.model_fields_set:
        serving["IMPRINT_EMBEDDING_AT_START"] = "false"
    if small:
        serving["IMPRINT_API_PROCESSES"] = "1"
        return [
            Child("api", serve, serving, [APP], shows_metrics=True),
            Child("workers", [*workers, "together"], roles=[APP, ROUTER]),  # Early, it would share 8 MB less.
        ]
    few = ["--idle", str(IDLE_PROCESSES)]
    return [
        Child("router", [*workers, "router-and-clock"], roles=[APP, ROUTER], early=True),
        Child("worker-io", [*workers, "worker", "--queue", "io", *few], roles=[APP], early=True),
        Child("worker-cpu", [*workers, "worker", "--queue", "cpu", *few], roles=[APP], early=True),
        Child("api", serve, serving, [APP], shows_metrics=True),
    ]
