from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.config import Settings
from core.inference.client import Call
from core.storage.db import Database
from tests.factories import EMBEDDER, a_job
from tests.samples import TENANT
from tests.workers.dispatch.owing import owe
from workers import tools
from workers.dispatch.model import Job
from workers.tools import Tools

CALL = Call("gpt", "extract.1", "misshapen", 12.5, 2_000_000, 1_000_000, "I live on the moon.")


@pytest.fixture
def priced(settings: Settings, app: Database) -> Tools:
    return Tools(app, EMBEDDER, settings.model_copy(update={"llm_input_price": 2.0, "llm_output_price": 8.0}))


def noted(app: Database, priced: Tools, status: str) -> Any:
    """The record of a call that a dispatch in this status has made."""
    dispatch_id = owe(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = :status WHERE id = :id"), {"status": status, "id": dispatch_id})
    tools.note_call(priced, job_of(dispatch_id), CALL)
    with app.tenant(TENANT) as tx:
        return tx.execute(text("SELECT * FROM model_calls")).one()


def job_of(dispatch_id: UUID) -> Job:
    plain = a_job()
    return Job(TENANT, dispatch_id, "agent", "run_agent", {}, plain.event, plain.author, 1, plain.lease)


def test_a_call_costs_what_a_million_tokens_of_each_kind_cost(app: Database, priced: Tools) -> None:
    row = noted(app, priced, "running")
    assert row.cost == pytest.approx(2 * 2.0 + 8.0)
    assert (row.model, row.prompt, row.outcome, row.answer) == ("gpt", "extract.1", "misshapen", CALL.answer)


@pytest.mark.parametrize("status", ["cancelled", "done"])
def test_the_answer_is_not_kept_once_its_dispatch_has_ended(app: Database, priced: Tools, status: str) -> None:
    """An erasure cancels what it cannot wait for; the answer might say again what was erased."""
    row = noted(app, priced, status)
    assert (row.answer, row.input_tokens) == (None, 2_000_000)


def counted(kind: str) -> float:
    return REGISTRY.get_sample_value("imprint_memories_total", {"change": kind}) or 0.0


def test_changes_are_counted_by_kind_and_other_results_are_not() -> None:
    before = counted("added"), counted("merged")
    tools.count_changes({"added": 2, "compared": 9, "reason": 1})
    assert (counted("added"), counted("merged")) == (before[0] + 2, before[1])
    assert counted("compared") == counted("reason") == 0.0


def test_the_gate_has_the_thresholds_of_the_settings_and_no_model(settings: Settings, app: Database) -> None:
    own = Tools(app, EMBEDDER, settings.model_copy(update={"merge_similarity": 0.99, "secrets": "refuse"}))
    assert own.consolidation.thresholds.merge == 0.99
    assert (own.consolidation.secrets, own.consolidation.opinion) == ("refuse", None)
