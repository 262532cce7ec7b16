from __future__ import annotations

import pytest
from sqlalchemy import text

from api.cli.commands.host.checks import models
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from core.storage.db import Database
from tests.samples import TENANT


@pytest.mark.parametrize("limit", [{"llm_tokens_per_day": 100}, {"llm_cost_per_day": 1.5}])
def test_a_spent_budget_is_a_warning(settings: Settings, app: Database, limit: dict[str, float]) -> None:
    installation = Installation(settings.model_copy(update=limit))
    assert models.has_budget(installation)
    assert models.budget(installation) == "no tenant has spent that of today"
    with app.tenant(TENANT) as tx:
        tx.execute(
            text(
                "INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, "
                "outcome) VALUES (:tenant, gen_random_uuid(), 'm', 'p', 90, 10, 1.5, 'ok')"
            ),
            {"tenant": TENANT},
        )
    with pytest.raises(CheckWarning, match=f"spent for today: {TENANT}"):
        models.budget(installation)


def test_a_role_without_the_queues_does_not_see_budgets(settings: Settings) -> None:
    app_only = settings.model_copy(update={"database_url": None, "database_app_url": settings.database_url})
    alone = app_only.model_copy(update={"llm_tokens_per_day": 1})
    assert models.budget(Installation(alone)).startswith("not visible to this process")


def test_vectors_of_another_model_fail(settings: Settings) -> None:
    assert models.vectors(Installation(settings)).endswith("as configured")
    with pytest.raises(Misconfigured, match="cannot be compared"):
        models.vectors(Installation(settings.model_copy(update={"embedding": "english"})))


def test_an_extractor_is_named() -> None:
    assert models.extractor(Installation(Settings())).startswith("offline: rules alone")
    assert not models.has_endpoint(Installation(Settings()))
