"""The HTTP door as a process of its own."""

from __future__ import annotations

import uvicorn

from api.http import app as http
from core import log, metrics
from core.config import Settings
from core.errors import Misconfigured


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


def broker_url(settings: Settings) -> str:
    """Where the doorbell hangs."""
    if settings.broker_url is not None:
        return settings.broker_url.get_secret_value()
    if "broker_url" in settings.stack:
        return settings.stack["broker_url"]
    raise Misconfigured("No broker: set IMPRINT_BROKER_URL, or start the embedded one with `imprint up`.")
