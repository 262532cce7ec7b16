"""Shared parts of the processes of `imprint up`: the modules that its fork server imports, and its environment."""

from __future__ import annotations

from typing import Final

from api.stack.fork_server import MARK

APP, ROUTER = "IMPRINT_DATABASE_APP_URL", "IMPRINT_DATABASE_ROUTER_URL"
"""Settings with the roles that processes connect as: the tenant-bound one, and that of the queue."""

SECRETS: Final = ("IMPRINT_DATABASE_URL", "IMPRINT_BROKER_URL", APP, ROUTER)
"""URLs with passwords: a process gets those that it needs, and the fork server none."""

LIBRARY_ENV: Final = {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""Variables that libraries read when loaded. One heap of the C library for each thread would keep what threads free."""

ENVIRONMENT: Final = {"PYTHONUNBUFFERED": "1", **LIBRARY_ENV, **dict.fromkeys(SECRETS, "")}
"""Of the fork server, beside that of the command."""

SHARED: Final = (
    "pydantic_settings",
    "sqlalchemy.dialects.postgresql.psycopg",
    "numpy",
    "structlog",
    "fastapi",
    "httpx",
    "celery.apps.worker",
    "celery.apps.beat",
    "celery.app.amqp",
    "celery.app.log",
    "celery.concurrency.prefork",
    "celery.concurrency.thread",
    "celery.worker.autoscale",
    "celery.worker.consumer",
    "celery.worker.loops",
    "celery.worker.strategy",
    "kombu.transport.redis",
    "api.cli.metrics_folder:begin",
    "api.cli.preparation",
    "workers.__main__",
    "workers.rehearsal:rehearse",
    "api.cli.metrics_folder:end",
    MARK,
    "api.cli.serve",
    "api.console.app",
    "api.compat.platform",
    "api.cli.serving",
    "anyio._backends._asyncio",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "encodings.idna",
)
"""Modules that the fork server imports and functions that it calls, in this order: settings and preparation are wanted
first, and what stands behind MARK the API alone needs."""

HIDDEN: Final = ("cffi", "opentelemetry.sdk", "psutil", "pygments", "rich", "yaml")
"""Libraries that others import where they find them, and that no process of `imprint up` uses by way of those.

Hidden while the others are imported, they cost nothing: some 10 MB of a stack and 0.2 s of a start. billiard asks for a
signal by ctypes then, in place of cffi's parser of C; structlog writes tracebacks without rich; httpx has no command,
kombu no YAML, Celery no memory dump, redis no metrics of its own.
"""
