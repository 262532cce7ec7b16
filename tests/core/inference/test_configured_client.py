"""The client of the configured model: none without a model, and one whose calls are counted."""

from __future__ import annotations

from sqlalchemy import text

from core.config import Settings
from core.inference import configured_client
from core.inference.quota import Grant
from core.inference.structured_output import ModelAnswer
from core.storage.db import Database
from tests.faults.model import serving


class Nothing(ModelAnswer):
    memories: list[str]


def test_without_a_model_there_is_no_client(settings: Settings, app: Database) -> None:
    assert configured_client.load(settings, app) is None


def test_its_calls_are_counted_for_all_processes(settings: Settings, app: Database) -> None:
    with serving() as model:
        chosen = {"llm_base_url": model.url, "llm_model": "m", "llm_requests_per_minute": 10}
        client = configured_client.load(settings.model_copy(update=chosen), app)
        assert client is not None
        assert client.under(Grant()).ask("p.v1", "", "Hello.", Nothing, lambda _: None).memories == []
    with app.queue() as tx:
        assert tx.execute(text("SELECT requests < 10 FROM providers")).scalar_one()
