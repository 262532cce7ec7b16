from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from pydantic import HttpUrl
from sqlalchemy import text

from core.config import Settings
from core.errors import Never
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.client import ChatClient
from core.inference.embedders import HashEmbedder
from core.inference.openai_client import OpenAIClient
from core.maintenance import sweeps
from core.memory.changes import Use
from core.reflection import compression
from core.storage.db import Database
from core.types import Event, Json
from tests.core.reflection.runs import RUNS, runs
from tests.core.reflection.series import RUNS as WALKS
from tests.core.reflection.series import in_turn
from tests.factories import ADA, PERSON, carry_out, set_back
from tests.faults import model as fake
from tests.outcomes import carried_out
from tests.samples import TENANT, accept, event
from workers.agents import compression as agents_compression
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

Agent = Callable[[Tools, Job], Outcome]


def tools(app: Database, settings: Settings, **changed: Any) -> Tools:
    return Tools(app, HashEmbedder(), settings.model_copy(update=changed))


def a_job(
    app: Database, target: str, params: Json | None = None, user: str | None = None, model: ChatClient | None = None
) -> Job:
    trigger = event(id=str(uuid4()), payload={"user_id": user} if user else {})
    accept(app, trigger)
    with app.tenant(TENANT) as tx:
        cause: Event = log.get(tx, trigger["id"])
    dispatch = uuid4()
    author = Author(target, Cause(cause, dispatch))
    return Job(TENANT, dispatch, target, "run_agent", params or {}, cause, author, 1, uuid4(), model=model)


def run(
    app: Database,
    agent: Agent,
    with_tools: Tools,
    target: str,
    params: Json | None = None,
    model: ChatClient | None = None,
) -> list[Json]:
    """Run an agent and all that follows from it; the results."""
    results, waiting = [], [(target, params or {})]
    while waiting:
        name, given = waiting.pop(0)
        job = a_job(app, name, given, model=model)
        outcome = agent(with_tools, job)
        results.append(carried_out(app, outcome, job))
        outcome.count(results[-1])
        waiting += outcome.then
        assert len(results) < 50, "It does not come to an end."
    return results


def compressed(
    app: Database, with_tools: Tools, params: Json | None = None, model: ChatClient | None = None
) -> list[Json]:
    return run(app, agents_compression.compress_memories, with_tools, "memory_compressor", params, model)


def counted(app: Database) -> dict[str, int]:
    grouped = text("SELECT coalesce(user_id, '') || '/' || status AS name, count(*) AS n FROM memories GROUP BY 1")
    with app.tenant(TENANT) as tx:
        return {row.name: row.n for row in tx.execute(grouped)}


def age(app: Database, days: float) -> None:
    with app.tenant(TENANT) as tx:
        ids = tx.execute(text("SELECT id FROM memories")).scalars().all()
    set_back(app, ids, days)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET updated_at = updated_at - make_interval(days => :days)"), {"days": days})


def test_all_users_of_a_tenant_follow_one_another(settings: Settings, app: Database) -> None:
    for user, count in (("ada", 3), ("bob", 2), ("cem", 4)):
        carry_out(app, *runs(count), owner=replace(ADA, user_id=user))
    age(app, 100)
    results = compressed(app, tools(app, settings))
    assert [one.get("derived") for one in results] == [1, 1, None]
    assert counted(app) == {"ada/active": 1, "ada/archived": 3, "bob/active": 2, "cem/active": 1, "cem/archived": 4}


def test_one_user_may_be_named(settings: Settings, app: Database) -> None:
    for user in ("ada", "bob"):
        carry_out(app, *runs(3), owner=replace(ADA, user_id=user))
    age(app, 100)
    assert len(compressed(app, tools(app, settings), {"user_id": "bob"})) == 1
    assert counted(app) == {"ada/active": 3, "bob/active": 1, "bob/archived": 3}


def test_many_memories_are_looked_at_page_by_page(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "PAGE", 4)
    carry_out(app, *runs(10))
    age(app, 100)
    looked = [one.get("looked_at", 0) for one in compressed(app, tools(app, settings))]
    assert sum(looked) >= 10
    assert max(looked) == 4
    assert counted(app)["ada/active"] < 5


def test_the_days_and_uses_are_those_that_are_set(settings: Settings, app: Database) -> None:
    mine = runs(3)
    carry_out(app, *mine)
    carry_out(app, Use(mine[0].id))
    age(app, 40)
    assert "derived" not in compressed(app, tools(app, settings))[0]
    assert compressed(app, tools(app, settings, compress_days=30, compress_uses=1)) == [{}]
    assert compressed(app, tools(app, settings, compress_days=30))[0]["derived"] == 1


def test_archived_memories_are_compressed_before_they_are_dropped(settings: Settings, app: Database) -> None:
    carry_out(app, *runs(4))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET status = 'archived'"))
    age(app, 100)
    assert dropped(app, 30) == 0
    compressed(app, tools(app, settings))
    assert counted(app) == {"ada/archived": 4}
    compressed(app, tools(app, settings, drop_archived_days=30))
    assert counted(app) == {"ada/archived": 5}
    assert dropped(app, 30) == 4
    assert counted(app) == {"ada/archived": 1}
    with app.tenant(TENANT) as tx:
        (core,) = tx.execute(text("SELECT * FROM memories")).all()
    assert all(f"{n} km" in core.content for n in range(3, 7))
    assert dropped(app, 30) == 0


def dropped(app: Database, days: float) -> int:
    with app.tenant(TENANT) as tx:
        return sweeps.drop_archived(tx, TENANT, PERSON, days, 100)


def test_patterns_are_found_for_the_events_user(settings: Settings, app: Database) -> None:
    carry_out(app, *in_turn(WALKS[:4]))
    outcome = agents_compression.find_patterns(tools(app, settings), a_job(app, "pattern_finder", user="ada"))
    assert carried_out(app, outcome)["derived"] == 1
    assert outcome.then == []


def test_a_whole_past_is_searched_page_by_page(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.reflection.patterns.NEW", 4)
    for one in in_turn(WALKS):
        carry_out(app, one)
    since = {"user_id": "ada", "since": "1900-01-01T00:00:00+00:00"}
    results = run(app, agents_compression.find_patterns, tools(app, settings), "pattern_finder", since)
    assert [one["looked_at"] for one in results] == [4, 2]
    assert counted(app) == {"ada/active": 7}


def test_patterns_without_a_user_are_refused(settings: Settings, app: Database) -> None:
    with pytest.raises(Never, match="pattern_finder needs an event with a user"):
        agents_compression.find_patterns(tools(app, settings), a_job(app, "pattern_finder"))


def test_a_model_that_misses_the_shape_is_paid_for_and_done_without(settings: Settings, app: Database) -> None:
    carry_out(app, *runs(3))
    age(app, 100)
    with fake.serving() as served:
        served.script = ["garbage", "garbage"]
        client = OpenAIClient(str(HttpUrl(served.url)), "none", "fake", 10)
        compressed(app, tools(app, settings), model=client)
    with app.tenant(TENANT) as tx:
        calls = tx.execute(text("SELECT prompt, outcome FROM model_calls ORDER BY at")).all()
        content = tx.execute(text("SELECT content FROM memories WHERE status = 'active'")).scalar_one()
    assert calls == [("compress.v1", "misshapen"), ("compress.v1+repair", "misshapen")]
    assert content == " ".join(RUNS[:3])
