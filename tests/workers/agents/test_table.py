from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from core import agents
from core.agents import QUEUES
from core.config import Settings
from core.memory import writer
from core.storage.db import Database
from core.types import Json
from rules.document.targets import TARGETS
from rules.registry import store
from tests.faults.model import serving
from tests.rules.samples import RUN, a_document
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.works import Works, at_work
from workers import wiring
from workers.agents import table
from workers.routing import router
from workers.routing.router import INDEXER


def rows(queue: Database, statement: str) -> list[Any]:
    with queue.queue() as tx:
        return list(tx.execute(text(statement)))


def memories(database: Database) -> list[Any]:
    with database.tenant(TENANT) as tx:
        return list(tx.execute(text("SELECT * FROM memories ORDER BY id")))


def test_the_table_of_agents_and_the_table_of_their_functions_list_the_same_names() -> None:
    assert list(table.FUNCTIONS) == list(agents.AGENTS)


def test_every_agent_that_a_rule_or_the_router_may_call_is_there() -> None:
    assert set(table.AGENTS) == {*TARGETS, *agents.FOR_ACTION.values()}
    assert set(agents.FOR_ACTION) == {"emit", "notify", "webhook", "celery"}
    assert INDEXER in table.AGENTS


def test_new_memories_of_a_user_are_compared_in_one_run_and_merged(
    app: Database, queue: Database, works: Works
) -> None:
    accept(app, said("I live in Lisbon."), said("I have a cat named Tom."), ended(message_count=3))
    works.settle()
    runs = rows(queue, "SELECT result FROM dispatches WHERE target = 'memory_deduplicator' AND status = 'done'")
    assert sum(run.result["compared"] for run in runs) == len(memories(app)) > 1
    assert len(runs) < len(memories(app))


def test_the_deduplicator_needs_a_user(app: Database, queue: Database, works: Works) -> None:
    wanted = a_document(event_type="order.placed", actions=[{**RUN, "target": "memory_deduplicator"}])
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, wanted, author="test")
    accept(app, event())
    works.settle()
    (dead,) = rows(queue, "SELECT * FROM dispatches WHERE status = 'dead'")
    assert "needs an event with a user" in dead.error


def test_everyone_works_on_a_queue_that_a_worker_serves(settings: Settings) -> None:
    asked = settings.model_copy(update={"llm_base_url": "http://127.0.0.1:1/v1"})
    assert set(table.queues(settings)) == set(table.AGENTS)
    assert set(table.queues(settings).values()) <= set(QUEUES)
    assert {table.queues(asked)[name] for name in table.MODEL_USERS} == {"io"}


def test_a_conversation_becomes_memories_with_evidence(app: Database, works: Works) -> None:
    accept(app, said("I live in Lisbon.", message_id="m1"), said("Lovely!", role="assistant"), ended(message_count=3))
    works.settle()
    (memory,) = memories(app)
    assert (memory.attribute, memory.value, memory.status) == ("home.city", "Lisbon", "active")


def test_every_message_is_read_once_however_often_it_is_asked_for(app: Database, queue: Database, works: Works) -> None:
    accept_all(app, [said(f"I live in City{n}.", time=f"2026-11-{n + 1:02}T12:00:00Z") for n in range(5)])
    accept(app, *(ended(message_count=5) for _ in range(4)))
    works.settle()
    done = rows(
        queue,
        "SELECT result FROM dispatches WHERE target IN ('memory_extractor', 'memory_consolidator') AND status = 'done'",
    )
    assert sum(row.result["messages"] for row in done) == 5
    assert [m.value for m in memories(app) if m.status == "active" and m.category == "fact"] == ["City4"]


def test_a_session_longer_than_one_reading_is_read_to_its_end(
    settings: Settings, app: Database, queue: Database
) -> None:
    accept_all(app, [*(said(f"I have a cat named Cat{n}x.") for n in range(25)), ended(message_count=25)])
    with at_work(settings.model_copy(update={"extract_messages": 10})) as works:
        works.settle()
    done = rows(
        queue,
        "SELECT result FROM dispatches WHERE target IN ('memory_extractor', 'memory_consolidator') AND status = 'done'",
    )
    assert sorted(row.result["messages"] for row in done if row.result["messages"]) == [5, 10, 10]


def test_in_a_shared_session_each_keeps_what_they_said_themselves(app: Database, works: Works) -> None:
    accept(app, said("I live in Lisbon."), said("I live in Porto.", user="bob"), ended(message_count=3))
    works.settle()
    assert {(m.user_id, m.value) for m in memories(app)} == {("ada", "Lisbon"), ("bob", "Porto")}


def test_two_sessions_shared_by_the_same_people_are_written_without_deadlock(
    settings: Settings, app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = [said("I live in Lisbon."), said("I live in Porto.", user="bob")]
    crossed = [said("I have a dog.", session="s2", user="bob"), said("I have a cat.", session="s2")]
    accept(app, *spoken, *crossed, ended(message_count=3), ended("s2", message_count=3))
    apply, between = writer.apply, threading.Barrier(2, timeout=1)

    def slowly(*given: Any) -> dict[str, int]:
        done = apply(*given)
        with contextlib.suppress(threading.BrokenBarrierError):
            between.wait()  # Both hold one owner now, if their order lets them.
        return done

    monkeypatch.setattr(writer, "apply", slowly)
    with at_work(settings) as works:
        owed = [one for one in router.route(works.router)[1] if one.queue == "cpu"]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda one: works.run([one]), owed))
    assert rows(queue, "SELECT error FROM dispatches WHERE status = 'retrying'") == []
    assert len(memories(app)) == 4


def test_work_without_a_session_or_on_one_that_never_was_is_set_aside_at_once(
    app: Database, queue: Database, works: Works
) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(event_type="order.placed"), author="test")
    accept(app, event(), event(payload={"session_id": "nowhere"}))
    works.settle()
    dead = rows(queue, "SELECT * FROM dispatches WHERE status = 'dead' ORDER BY id")
    assert [d.attempt for d in dead] == [1, 1]
    assert "needs an event with a session" in dead[0].error
    assert "nowhere" in dead[1].error


def test_a_long_conversation_is_indexed_to_its_end_with_all_vectors(app: Database, works: Works) -> None:
    accept_all(app, [said(f"line {n}") for n in range(450)])
    works.settle(flush=False)
    with app.tenant(TENANT) as tx:
        counts = tx.execute(text("SELECT count(*), count(embedding) FROM search_index WHERE type = 'message'")).one()
        indexed = tx.execute(text("SELECT indexed_to FROM sessions")).scalar_one()
    assert (tuple(counts), indexed) == ((450, 450), 450)


def test_two_workers_index_many_sessions_of_one_user_without_getting_in_each_others_way(
    settings: Settings, app: Database, queue: Database
) -> None:
    """They count the same words of the same user, each for several sessions."""
    words = [f"word{n}" for n in range(60)]
    with at_work(settings) as works:
        owed = []
        for part in range(8):
            for turn in range(6):
                text_ = " ".join(words[(part * 7 + turn * 11) % 60 :] + words[: (part * 7 + turn * 11) % 60])
                accept(app, said(text_, session=f"s{part}-{turn}"))
            owed += router.route(works.router)[1]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda one: works.run([one]), owed))
    failed = rows(queue, "SELECT error FROM dispatches WHERE status NOT IN ('done')")
    assert [row.error for row in failed] == []
    with app.tenant(TENANT) as tx:
        counted = tx.execute(text("SELECT DISTINCT documents FROM term_counts")).scalars().all()
    assert list(counted) == [48]


def test_an_emitted_event_goes_round_again(app: Database, queue: Database, works: Works) -> None:
    emit: Json = {"action_type": "emit", "event_type": "order.checked", "payload": {"note": "{{payload.note}}"}}
    notify: Json = {"action_type": "notify", "channel": "log", "template": "Checked: {{payload.note}}"}
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="one", event_type="order.placed", actions=[emit]), author="test")
        store.save(tx, TENANT, a_document(name="two", event_type="order.checked", actions=[notify]), author="test")
    accept(app, event(payload={"note": "fine"}))
    works.settle()
    done = rows(queue, "SELECT target, result FROM dispatches WHERE status = 'done' ORDER BY id")
    assert [(d.target, d.result.get("delivered")) for d in done] == [("event_emitter", None), ("notifier", 1)]


def test_a_memory_that_matters_can_set_off_a_rule(app: Database, queue: Database, works: Works) -> None:
    heavy = a_document(
        name="heavy", event_type="memory.write.important", actions=[{**RUN, "target": "knowledge_indexer"}]
    )
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, heavy, author="test")
    accept(
        app, said("I am allergic to peanuts."), said("Remember: I am allergic to penicillin."), ended(message_count=3)
    )
    works.settle()
    important = rows(queue, "SELECT * FROM events WHERE event_type = 'memory.write.important'")
    fired = rows(queue, "SELECT * FROM dispatches WHERE rule = 'heavy'")
    assert len(fired) == len(important) > 0


def test_every_call_of_a_model_is_written_down_with_what_it_cost(settings: Settings, app: Database) -> None:
    accept(app, said("The umbrella abc is in the drawer.", message_id="m1"), ended(message_count=3))
    with serving() as model:
        model.script.append("garbage")
        priced = {"llm_base_url": model.url, "llm_input_price": 2.5, "llm_output_price": 20}
        with at_work(settings.model_copy(update=priced)) as works:
            works.settle()
    with app.tenant(TENANT) as tx:
        calls = tx.execute(text("SELECT input_tokens, output_tokens, cost FROM model_calls ORDER BY id")).all()
    assert [(c.input_tokens, c.output_tokens) for c in calls] == [(10, 5)] * 2, "the one in vain was paid for too"
    assert [c.cost for c in calls] == pytest.approx([125e-6] * 2)


def test_the_tools_of_a_worker_are_wired_from_the_settings(settings: Settings) -> None:
    ledger = wiring.ledger(settings)
    assert set(ledger.agents) == set(ledger.queues) == set(table.AGENTS)
    ledger.db.close()
