"""Structured logs: one line an event, with the correlation and dispatch that the current work belongs to."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog


def configure(level: str, form: Literal["json", "text"], process: str) -> None:
    """Send structlog and the standard library's loggers through one formatter to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processors=[_strip, _renderer(form)], foreign_pre_chain=shared)
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "openai", "kombu", "amqp", "alembic", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.contextvars.bind_contextvars(process=process)


def _renderer(form: Literal["json", "text"]) -> structlog.typing.Processor:
    return structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer()


_strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
