"""structlog configuration.

A log outlives its subjects, so no line may quote a user. Of results only numbers are logged, and of exceptions only
classes and places: their messages may contain the data being processed. The reason of a failed dispatch is stored in
its row, which erasing a user reaches.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Literal

import structlog
from sqlalchemy.exc import DBAPIError

from core import tracing
from core.errors import Misconfigured
from core.types import Json


def configure(level: str, form: Literal["json", "text"], process: str) -> None:
    """Send structlog and the standard library's loggers through one formatter to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_trace,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(lambda exc_info: "\n".join(_chain(exc_info[1]))),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
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


def counts(result: Mapping[str, object]) -> Json:
    """Return what may be logged of a result: its numbers, and the lengths of its lists and objects; no text."""
    counted: Json = {}
    for name, value in result.items():
        if isinstance(value, bool | int | float):
            counted[name] = value
        elif isinstance(value, list | tuple | Mapping):
            counted[name] = len(value)
    return counted


def fault(error: BaseException) -> Json:
    """Return what may be logged of an exception in one line: its class and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    location = {"at": f"{frames[-1].filename}:{frames[-1].lineno}"} if frames else {}
    return {"error": _kind(error), **location}


def _add_trace(_logger: object, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Add `trace_id` and `span_id` where a trace is active."""
    line.update(tracing.ids())
    return line


def _kind(error: BaseException) -> str:
    """Return the class with details that are not a user's text: an operating system's reason, a SQLSTATE."""
    name = type(error).__name__
    if isinstance(error, DBAPIError):
        return f"{name} ({type(error.orig).__name__}, SQLSTATE {getattr(error.orig, 'sqlstate', None)})"
    if isinstance(error, OSError) and error.strerror:
        return f"{name}: {error.strerror}"
    return f"{name}: {error.detail}" if isinstance(error, Misconfigured) else name


def _chain(error: BaseException | None) -> Iterator[str]:
    """Yield chained exceptions, the first one first, each with its frames and its class."""
    chain, seen = list[BaseException](), set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        chain.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    for exception in reversed(chain):
        yield "".join(traceback.format_tb(exception.__traceback__)) + _kind(exception)


def _renderer(form: Literal["json", "text"]) -> structlog.typing.Processor:
    if form == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


_strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
