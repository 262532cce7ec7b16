"""The small stack keeps the same promises: its one process of workers is killed in the middle of an extraction."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.stand import Stand, stack
from tests.faults.extracting import FIRST, SECOND, assert_extracted_once, conversation, publish, windows
from tests.faults.model import Model
from tests.faults.stand import FAULT, IMPATIENT, eventually, kill_group, pid, rules_in_force

pytestmark = FAULT


@pytest.fixture(scope="module")
def stand(model: Model) -> Iterator[Stand]:
    with stack(
        "--small",
        llm_base_url=model.url,
        llm_model="fake",
        extractor="llm",
        judge_with_model="false",
        **IMPATIENT,
    ) as running:
        running.call("DELETE", "/v1/rules/write_episodes")
        rules_in_force(running)
        yield running


def test_killed_workers_cost_nothing_and_double_nothing(stand: Stand, model: Model) -> None:
    session = f"s-{uuid.uuid4().hex[:12]}"
    model.script[:] = ["slow"]
    before = pid(stand, "workers")
    token = publish(stand, conversation(session))
    eventually(lambda: [how for _, how in model.asked] == ["slow"])
    kill_group(stand, "workers")
    eventually(lambda: pid(stand, "workers") != before)
    stand.settle(token)
    assert windows(model) == [FIRST, FIRST, SECOND]
    assert_extracted_once(stand, session)


def fork_server(stand: Stand) -> int:
    """Its pid; 0: it rests."""
    for child in Path(f"/proc/{stand.pid}/task/{stand.pid}/children").read_text().split():
        if Path(f"/proc/{child}/comm").read_text() == "fork-server\n":
            return int(child)
    return 0


def test_a_fork_server_that_is_killed_while_it_is_needed_costs_nothing(stand: Stand, model: Model) -> None:
    session = f"s-{uuid.uuid4().hex[:12]}"
    eventually(lambda: not fork_server(stand))
    before = pid(stand, "workers")
    kill_group(stand, "workers")
    os.kill(eventually(lambda: fork_server(stand)), signal.SIGKILL)
    eventually(lambda: pid(stand, "workers") not in {0, before})
    token = eventually(lambda: publish(stand, conversation(session)))
    stand.settle(token)
    assert_extracted_once(stand, session)
