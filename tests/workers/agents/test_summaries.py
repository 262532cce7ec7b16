from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Never
from core.inference.openai_client import OpenAIClient
from core.plans import tracker
from core.storage.db import Database
from core.summaries import rolling
from core.types import Json
from tests.factories import events_since
from tests.faults.model import serving
from tests.outcomes import carried_out
from tests.samples import TENANT, accept_all, ended, event, said
from tests.workers.learners import job, published, ran, tools_of
from tests.works import Works
from workers.agents import summaries
from workers.tools import Tools


@pytest.fixture
def tools(settings: Settings, app: Database) -> Tools:
    return tools_of(settings.model_copy(update={"summarize_messages": 10}), app)


def talk(count: int) -> list[Json]:
    return [said(f"Boat {n} left the harbour for Oslo.", message_id=f"m{n}") for n in range(count)]


def planned(plan: Any) -> Json:
    return event("plan.updated", {"session_id": "s1", "user_id": "ada", "plan": plan})


def test_a_session_that_is_long_enough_is_summed_up_and_says_so_in_its_chain(app: Database, tools: Tools) -> None:
    accept_all(app, talk(9))
    cause = published(app, said("Boat 10 left the harbour for Oslo.", message_id="m10"))
    one = job(cause, "session_summarizer")
    outcome = summaries.summarize_session(tools, one)
    result = carried_out(app, outcome, one)
    assert (result["summarized"], result["to_position"], list(outcome.then)) == (True, 5, [])
    with app.tenant(TENANT) as tx:
        (told,) = [e for e in events_since(tx, 0, 1000) if e.event_type == "session.summarized"]
        assert (told.subject, told.causation_id, told.hop) == ("session:s1", cause.id, 1)
        assert rolling.latest(tx, "s1") is not None


def test_one_that_is_not_is_left_alone(app: Database, tools: Tools) -> None:
    accept_all(app, talk(8))
    assert ran(tools, summaries.summarize_session, ended()) == {
        "summarized": False, "reason": "The session is not long enough yet.",
    }  # fmt: skip


def test_with_now_a_session_is_summed_up_however_short_it_is(app: Database, tools: Tools) -> None:
    accept_all(app, talk(2))
    one = replace(job(published(app, ended()), "session_summarizer"), params={"now": True})
    result = carried_out(app, summaries.summarize_session(tools, one), one)
    assert (result["summarized"], result["to_position"]) == (True, 2)


def test_a_long_backlog_goes_on_at_once(app: Database, tools: Tools) -> None:
    accept_all(app, talk(40))
    outcome = summaries.summarize_session(tools, job(published(app, ended()), "session_summarizer"))
    assert list(outcome.then) == [("session_summarizer", {"session_id": "s1"})]


@pytest.mark.parametrize(
    ("agent", "payload", "says"),
    [
        (summaries.summarize_session, {"user_id": "ada"}, "needs an event with a session"),
        (summaries.summarize_session, {"session_id": "nowhere"}, "nothing to read"),
        (summaries.track_plan, {"user_id": "ada"}, "needs an event with a session"),
    ],
)
def test_what_they_cannot_work_on_is_set_aside_with_the_reason(
    tools: Tools, agent: Any, payload: Json, says: str
) -> None:
    with pytest.raises(Never, match=says):
        ran(tools, agent, event(payload=payload))


@pytest.mark.parametrize("script", [["garbage", "garbage"], ["429"], ["well", "well"]])
def test_a_model_that_fails_is_written_down_and_the_summary_is_made_without_it(
    app: Database, tools: Tools, script: list[str]
) -> None:
    accept_all(app, talk(10))
    with serving() as model:
        model.script += script
        result = ran(tools, summaries.summarize_session, ended(), model=OpenAIClient(model.url, "k", "fake", 5.0))
    assert result["refused"]
    with app.tenant(TENANT) as tx:
        assert rolling.latest(tx, "s1") is not None
        calls = list(tx.execute(text("SELECT prompt FROM model_calls ORDER BY id")).scalars())
    assert calls[0] == "summary.v2"


def test_a_plan_is_tracked_from_events_and_messages(app: Database, tools: Tools) -> None:
    assert ran(tools, summaries.track_plan, planned({"goal": "Move", "steps": ["Pack", "Drive"]})) == {"plans": 1}
    assert ran(tools, summaries.track_plan, said("Step 1 is done.")) == {"plans": 1}
    assert ran(tools, summaries.track_plan, said("Lovely weather.")) == {"plans": 0}
    with app.tenant(TENANT) as tx:
        (plan,) = tracker.current(tx, "s1")
    assert (plan.goal, plan.current, plan.version) == ("Move", "2", 2)


def test_a_plan_that_is_none_is_set_aside(tools: Tools) -> None:
    with pytest.raises(Never, match="title"):
        ran(tools, summaries.track_plan, planned([{"status": "done"}]))


# By the rules that every tenant starts with


def test_at_200_messages_the_rule_has_the_session_summed_up_once(app: Database, works: Works) -> None:
    told = [said(f"Boat {n} left the harbour for Oslo.", message_id=f"m{n}", role="assistant") for n in range(200)]
    accept_all(app, told[:199])  # By an assistant: nothing that is not counted here is made of it.
    works.settle()
    with app.tenant(TENANT) as tx:
        assert rolling.latest(tx, "s1") is None
    accept_all(app, [told[199], ended()])
    works.settle()
    accept_all(app, [said("One more.", message_id="more"), ended(id="again")])
    works.settle()
    with app.tenant(TENANT) as tx:
        found = rolling.latest(tx, "s1")
        assert found is not None
        assert found.to_position == 100
        assert [e.event_type for e in events_since(tx, 0, 10_000)].count("session.summarized") == 1


def dispatched(app: Database, target: str) -> int:
    with app.tenant(TENANT) as tx:
        counted = text("SELECT count(*) FROM dispatches WHERE target = :target AND status = 'done'")
        return int(tx.execute(counted, {"target": target}).scalar_one())


def test_plans_are_tracked_and_ordinary_messages_cost_nothing(app: Database, works: Works) -> None:
    accept_all(app, [planned(["Pack", "Drive"]), said("第一步完成了。"), said("I am done with step 2.", role="tool")])
    works.settle()
    assert dispatched(app, "plan_tracker") == 2
    with app.tenant(TENANT) as tx:
        (plan,) = tracker.find(tx, "s1")
    assert [step.status for step in plan.steps] == ["done", "pending"]
    ordinary = [
        "I plan to go to the beach.", "What a lovely day!", "Step by step we get there.", "我们计划去海边。", "1. Sol",
        "The first time was the best.", "进步很大。", "- a list\n- of things", "Todo el mundo.",
    ]  # fmt: skip
    accept_all(app, [said(one) for one in ordinary])
    works.settle()
    assert dispatched(app, "plan_tracker") == 2
    accept_all(app, [said("Plan:\n1. a\n2. b", role="assistant"), said("1. a\n2. b", role="assistant")])
    works.settle()
    assert dispatched(app, "plan_tracker") == 4
