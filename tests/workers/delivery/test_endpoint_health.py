from __future__ import annotations

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Later, Never
from core.events import log
from core.storage.db import Database
from tests.factories import a_job, tools
from tests.outlets import open_to
from tests.samples import TENANT
from tests.workers.receiver import Other
from workers.agents import outbound


def test_an_address_that_fails_for_days_is_disabled_said_so_and_enabled_by_a_person(
    settings: Settings, app: Database, other: Other
) -> None:
    given = open_to(settings, other.url)
    job = a_job(url=f"{other.url}?token=secret", headers={}, payload=None)
    other.answers = [(503, {}, b"busy")] * 2
    with pytest.raises(Later):
        outbound.send_webhook(tools(given), job)
    with app.tenant(TENANT) as tx:
        (address,) = tx.execute(text("SELECT address FROM endpoints")).scalars()
        tx.execute(text("UPDATE endpoints SET failing_since = now() - interval '6 days'"))
    assert "secret" not in address
    with pytest.raises(Later):
        outbound.send_webhook(tools(given), job)
    with pytest.raises(Never, match="disabled"):
        outbound.send_webhook(tools(given), job)
    assert len(other.got) == 2, "what is disabled is not called"
    with app.tenant(TENANT) as tx:
        (said,) = log.find(tx, event_type="endpoint.disabled")
        tx.execute(text("DELETE FROM endpoints"))
    assert said.payload["address"] == address
    outbound.send_webhook(tools(given), job)


def test_an_address_that_answers_again_is_well(settings: Settings, app: Database, other: Other) -> None:
    given = open_to(settings, other.url)
    job = a_job(url=other.url, headers={}, payload=None)
    other.answers = [(503, {}, b"busy")]
    with pytest.raises(Later):
        outbound.send_webhook(tools(given), job)
    outcome = outbound.send_webhook(tools(given), job)
    with app.tenant(TENANT) as tx:
        outcome.pending.write(tx, job.author)
        assert tx.execute(text("SELECT count(*) FROM endpoints")).scalar_one() == 0
