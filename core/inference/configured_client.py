"""The chat client that the settings name, one for each process."""

from __future__ import annotations

from core import deferred
from core.config import Settings
from core.inference import quota
from core.inference.answer_limits import AnswerBounds
from core.inference.client import ChatClient
from core.inference.quota import Meter
from core.storage.db import Database


def load(settings: Settings, db: Database) -> ChatClient | None:
    """Return the client of the configured model, whose calls are counted in the database; None: there is no model."""
    if settings.llm_base_url is None:
        return None
    key = settings.llm_api_key.get_secret_value()
    meter = Meter(db, quota.provider(settings))
    client = deferred.load("core.inference.openai_client:OpenAIClient")
    bounds = AnswerBounds(settings.llm_max_output_tokens, settings.llm_temperature)
    model: ChatClient = client(
        str(settings.llm_base_url), key, settings.llm_model, settings.llm_timeout_seconds, meter, bounds
    )
    return model
