from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.config import Settings
from core.erasure import runner
from core.inference.client import Call
from core.storage.db import Database
from tests.factories import EMBEDDER, a_job
from tests.patience import wait_until
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
    job = running(app, owe(app))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = :status WHERE id = :id"), {"status": status, "id": job.id})
    tools.note_call(priced, job, CALL)
    return recorded(app)


def recorded(app: Database) -> Any:
    with app.tenant(TENANT) as tx:
        return tx.execute(text("SELECT * FROM model_calls")).one()


def running(app: Database, dispatch_id: UUID) -> Job:
    """A job that holds the lease of its dispatch."""
    plain = a_job()
    job = Job(TENANT, dispatch_id, "agent", "run_agent", {}, plain.event, plain.author, 1, uuid4())
    with app.tenant(TENANT) as tx:
        begin = text("UPDATE dispatches SET status = 'running', lease = :lease WHERE id = :id")
        tx.execute(begin, {"lease": job.lease, "id": job.id})
    return job


def test_a_call_costs_what_a_million_tokens_of_each_kind_cost(app: Database, priced: Tools) -> None:
    row = noted(app, priced, "running")
    assert row.cost == pytest.approx(2 * 2.0 + 8.0)
    assert (row.model, row.prompt, row.outcome, row.answer) == ("gpt", "extract.1", "misshapen", CALL.answer)


@pytest.mark.parametrize("status", ["cancelled", "done"])
def test_the_answer_is_not_kept_once_its_dispatch_has_ended(app: Database, priced: Tools, status: str) -> None:
    """An erasure cancels what it cannot wait for; the answer might say again what was erased."""
    row = noted(app, priced, status)
    assert (row.answer, row.input_tokens) == (None, 2_000_000)


def test_nor_once_its_dispatch_has_begun_again(app: Database, priced: Tools) -> None:
    job = running(app, owe(app))
    with app.tenant(TENANT) as tx:
        runner.restart_running(tx)
    running(app, job.id)
    tools.note_call(priced, job, CALL)
    assert recorded(app).answer is None


def test_nor_while_an_erasure_is_being_committed(app: Database, priced: Tools) -> None:
    job = running(app, owe(app))
    with ThreadPoolExecutor() as pool:
        with app.tenant(TENANT) as tx:
            runner.restart_running(tx)
            noting = pool.submit(tools.note_call, priced, job, CALL)
            wait_until(lambda: noting.done() or waits_for_a_lock(app))
        noting.result(30)
    assert recorded(app).answer is None


def waits_for_a_lock(app: Database) -> bool:
    with app.tenant(TENANT) as tx:
        return bool(tx.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one())


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
