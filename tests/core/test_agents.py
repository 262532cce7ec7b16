"""The table of agents agrees with itself; `tests/workers/agents/test_table.py` tests what they do."""

from __future__ import annotations

from core import agents
from core.agents import AGENTS, QUEUES


def test_every_agent_works_on_a_queue_that_workers_serve() -> None:
    assert {spec.queue for spec in AGENTS.values()} <= set(QUEUES)


def test_no_two_agents_carry_out_one_type_of_action() -> None:
    acting = [name for name, spec in AGENTS.items() if spec.action]
    assert sorted(agents.FOR_ACTION.values()) == sorted(acting)
    assert {AGENTS[name].action for name in acting} == agents.FOR_ACTION.keys()


def test_what_an_agent_cannot_be_asked_to_run_has_an_action_of_its_own() -> None:
    """Otherwise nothing could ever start it."""
    assert all(spec.action for spec in AGENTS.values() if not spec.is_target)


def test_who_reads_the_messages_of_a_session_does_so_alone() -> None:
    """Two readers of one session would take the same messages from its cursor."""
    assert agents.EXTRACTORS
    assert agents.EXTRACTORS <= agents.EXCLUSIVE


def test_a_model_is_used_on_the_queue_for_computing_and_never_for_sending() -> None:
    assert {spec.queue for spec in AGENTS.values() if spec.model} == {"cpu"}
    assert {spec.queue for spec in AGENTS.values() if spec.action} == {"io"}
