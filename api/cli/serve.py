"""`imprint serve`: the HTTP API as a process of its own."""

from __future__ import annotations

import resource
from typing import Final

import structlog

from api import app as http
from api.ingress.connection_limits import Config, Server
from core import logs, metrics
from core.config import Settings, unknown
from core.errors import Misconfigured
from core.events.doorbell import broker_url
from core.extraction import extractor_setting
from core.inference.configured_embedder import require_model

logger = structlog.get_logger()

OTHER_FILES: Final = 100
"""Files that the process opens beside its connections: database, broker, log, model."""


def serve() -> None:
    """Run the HTTP API (one process).

    Example: imprint serve
    """
    settings = Settings()
    logs.configure(settings.log_level, settings.log_format, "api")
    for sentence in unknown():
        logger.warning("settings.unknown", detail=sentence)
    require_model(settings)
    extractor_setting.require(settings)
    if settings.metrics_port:
        metrics.listen(settings.metrics_host, settings.metrics_port)
    application = http.create(settings, broker_url(settings))
    config = Config(
        application,
        connections=connections(settings.http_connections),
        header_seconds=settings.http_header_seconds,
        timeout_keep_alive=settings.http_idle_seconds,
        host=settings.http_host,
        port=settings.http_port,
        log_config=None,
        access_log=False,
        lifespan="on",
    )
    server = Server(config, application.state.deps.followers.stop)
    server.run()
    if not server.started:
        raise Misconfigured(f"The API could not listen on {settings.http_host}:{settings.http_port}; see the log.")


def connections(wanted: int) -> int:
    """Return the configured number of connections, or as many as the process may open files for."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY or wanted <= files - OTHER_FILES:
        return wanted
    most = max(1, files - OTHER_FILES)
    structlog.get_logger().warning("http.connections", wanted=wanted, most=most, reason="ulimit -n")
    return most
