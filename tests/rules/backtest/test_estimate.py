from __future__ import annotations

from sqlalchemy import text

from core.storage.db import Database
from tests.rules.backtest.tried import install, tried
from tests.rules.samples import RUN, a_rule
from tests.samples import TENANT, accept, accept_all, event


def work(app: Database, target: str, *, seconds: float, tokens: int, cost: float) -> None:
    """A dispatch that was done, with one model call."""
    with app.tenant(TENANT) as tx:
        made = tx.execute(
            text("""
                INSERT INTO dispatches (tenant_id, action_type, target, queue, status, started_at, ended_at)
                VALUES (:tenant, 'run_agent', :target, 'io', 'done', now(), now() + :seconds * interval '1 second')
                RETURNING id
            """),
            {"tenant": TENANT, "target": target, "seconds": seconds},
        ).scalar_one()
        tx.execute(
            text("""
                INSERT INTO model_calls
                    (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, outcome)
                VALUES (:tenant, :id, 'm', 'p', :tokens, 10, :cost, 'ok')
            """),
            {"tenant": TENANT, "id": made, "tokens": tokens, "cost": cost},
        )


def test_the_cost_is_estimated_by_what_the_same_work_took(app: Database) -> None:
    install(app)
    work(app, "memory_extractor", seconds=1, tokens=90, cost=0.01)
    work(app, "memory_extractor", seconds=3, tokens=290, cost=0.03)
    work(app, "memory_consolidator", seconds=99, tokens=999, cost=9)
    accept_all(app, [event(id=f"e{n}") for n in range(5)])
    found = tried(app, a_rule(event_type="*"))["estimate"]
    assert (found["dispatches"], found["seconds"], found["tokens"], found["cost"]) == (5, 10, 1000, 0.1)
    assert [(one["target"], one["history"]) for one in found["actions"]] == [("memory_extractor", 2)]
    assert found["notes"] == []


def test_what_was_never_done_has_no_estimate_but_a_note(app: Database) -> None:
    install(app)
    accept(app, event())
    emit = {"action_type": "emit", "event_type": "policy.matched"}
    found = tried(app, a_rule(event_type="*", actions=[RUN, emit]))["estimate"]
    assert (found["dispatches"], found["seconds"], found["tokens"], found["cost"]) == (2, None, None, None)
    assert [(one["target"], one["times"], one["cost"]) for one in found["actions"]] == [
        ("memory_extractor", 1, None),
        ("emit", 1, 0),
    ]
    assert len(found["notes"]) == 2
    assert "`memory_extractor`" in found["notes"][0]
