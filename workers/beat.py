"""The clock under Celery's own command: `celery -A workers.beat beat`.

Importing this module reads the settings, because `-A` needs an application; nothing else imports it.
"""

from __future__ import annotations

from core import logs
from core.config import Settings
from core.events.doorbell import broker_url
from workers import app as celery_app

settings = Settings()
logs.configure(settings.log_level, settings.log_format, "clock")
app = celery_app.create(settings, broker_url(settings))
# With Celery's own scheduler the command would run and fire nothing.
app.conf.beat_scheduler = "workers.clock:Clock"
