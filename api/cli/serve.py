"""The HTTP door as a process of its own."""

from __future__ import annotations

import uvicorn

from api.http import app as http
from core import log, metrics
from core.bell import broker_url
from core.config import Settings


def serve() -> None:
    """The HTTP door (one process)."""
    settings = Settings()
    log.configure(settings.log_level, settings.log_format, "api")
    if settings.metrics_port:
        metrics.listen(settings.metrics_host, settings.metrics_port)
    application = http.create(settings, broker_url(settings))
    uvicorn.run(
        application, host=settings.http_host, port=settings.http_port, log_config=None, access_log=False, lifespan="on"
    )
