"""Real processes are killed and real brokers flushed; what is asserted is read through the public door."""

from __future__ import annotations

import os
import signal
import uuid
from collections import Counter
from collections.abc import Iterator

import pytest
import redis

from bench.stand import Stand, stack
from tests.faults.extracting import (
    FIRST,
    MESSAGES,
    SECOND,
    assert_extracted_once,
    cited,
    conversation,
    dispatches,
    publish,
    windows,
)
from tests.faults.model import RETRY_AFTER_SECONDS, Model
from tests.faults.stand import FAULT, IMPATIENT, eventually, kill_group, pid, rules_in_force

pytestmark = FAULT


@pytest.fixture(scope="module")
def stand(model: Model) -> Iterator[Stand]:
    """A whole stack, impatient enough for a test: leases of two seconds, nothing owed for longer than one."""
    with stack(
        llm_base_url=model.url,
        llm_model="fake",
        extractor="llm",
        judge_with_model="false",
        **IMPATIENT,
    ) as running:
        # Extraction is looked at here, and how often it asks; an episode would ask as well, and cite the same.
        running.call("DELETE", "/v1/rules/write_episodes")
        rules_in_force(running)
        yield running


@pytest.fixture
def session(model: Model) -> str:
    model.script.clear()
    model.asked.clear()
    model.windows.clear()
    return f"s-{uuid.uuid4().hex[:12]}"


def test_a_worker_killed_in_the_middle_of_an_extraction_costs_nothing(stand: Stand, model: Model, session: str) -> None:
    model.script[:] = ["slow"]
    token = publish(stand, conversation(session))
    eventually(lambda: [how for _, how in model.asked] == ["slow"])
    kill_group(stand, "worker-io")
    stand.settle(token)
    assert windows(model) == [FIRST, FIRST, SECOND], "the dead worker asked about one window, and the next about both"
    assert_extracted_once(stand, session)
    made = dispatches(stand, session)
    assert {d["status"] for d in made} == {"done"}
    read = [d for d in made if d["target"] in {"memory_extractor", "memory_consolidator"}]
    # Not exactly one more: what comes between two writers of one user is tried again, too.
    assert sum(d["attempt"] for d in read) > len(read), "one attempt died and was made again"


def test_a_router_killed_between_commit_and_send_costs_nothing(stand: Stand, session: str) -> None:
    with paused(stand, "broker"):
        token = publish(stand, conversation(session))
        # With the broker frozen the router can decide and commit, but not send.
        eventually(lambda: len(dispatches(stand, session)) >= 1)
        assert {d["status"] for d in dispatches(stand, session)} == {"pending"}
        os.kill(pid(stand, "router"), signal.SIGKILL)
    stand.settle(token)
    assert_extracted_once(stand, session)


def test_a_flushed_broker_costs_nothing(stand: Stand, session: str) -> None:
    with paused(stand, "worker-io", "worker-cpu"):
        token = publish(stand, conversation(session))
        eventually(lambda: len(dispatches(stand, session)) >= 1)
        url = (stand.home / "run" / "stack.json").read_text().split('"broker_url": "')[1].split('"')[0]
        with redis.Redis.from_url(url) as broker:
            eventually(lambda: broker.dbsize() > 0)
            broker.flushall()
    stand.settle(token)
    assert_extracted_once(stand, session)


def test_the_same_batch_three_times_is_one_batch(stand: Stand, session: str) -> None:
    batch = conversation(session)
    answers = [stand.call("POST", "/v1/events", batch) for _ in range(3)]
    assert [(a["accepted"], a["duplicates"]) for a in answers] == [(len(batch), 0), (0, len(batch)), (0, len(batch))]
    stand.settle(answers[-1]["settle_token"])
    assert_extracted_once(stand, session)


@pytest.fixture
def only_at_the_end(stand: Stand) -> Iterator[None]:
    """One dispatch a session: the rule that extracts while people chat is off."""
    name = "/v1/rules/extract_while_chatting"
    stand.call("PATCH", name, {"enabled": False})
    rules_in_force(stand)
    yield
    stand.call("PATCH", name, {"enabled": True})


@pytest.mark.usefixtures("only_at_the_end")
def test_garbage_then_429_then_a_good_answer_is_one_extraction(stand: Stand, model: Model, session: str) -> None:
    model.script[:] = ["garbage", "429", "well"]
    token = publish(stand, conversation(session))
    stand.settle(token)
    assert [how for _, how in model.asked] == ["garbage", "429", "well", "well"]
    assert windows(model) == [FIRST, FIRST, FIRST, SECOND]
    refused, answered, _ = (at for at, how in model.asked if how != "garbage")
    assert answered - refused >= RETRY_AFTER_SECONDS, "Retry-After is the least that is waited"
    assert_extracted_once(stand, session)


@pytest.mark.usefixtures("only_at_the_end")
def test_garbage_twice_is_set_aside_with_its_reason_and_stops_nothing_else(
    stand: Stand, model: Model, session: str
) -> None:
    model.script[:] = ["garbage", "garbage"]
    stand.settle(publish(stand, conversation(session)))
    assert windows(model) == [FIRST, FIRST, SECOND]
    [dead] = [d for d in dispatches(stand, session) if d["status"] == "dead"]
    assert "missed the shape of the answer" in dead["error"]
    assert stand.call("GET", f"/v1/sessions/{session}")["extracted_to"] == MESSAGES
    assert cited(stand, session) == Counter({f"m{number - 1}": 1 for number in SECOND}), "the other window was kept"
    after = f"{session}n"
    stand.settle(publish(stand, conversation(after)))
    assert_extracted_once(stand, after)
    stand.call("POST", f"/v1/dispatches/{dead['id']}/retry")
    eventually(lambda: len(cited(stand, session)) == MESSAGES)
    assert windows(model)[-1] == FIRST, "what was set aside is read once more, and nothing else"
    assert_extracted_once(stand, session)


def test_killed_postgres_comes_back_and_nothing_accepted_is_lost(stand: Stand, session: str) -> None:
    batch = conversation(session)
    stand.call("POST", "/v1/events", batch[:6])
    before = pid(stand, "postgres")
    os.kill(before, signal.SIGKILL)
    eventually(lambda: pid(stand, "postgres") != before)
    token = eventually(lambda: publish(stand, batch))
    eventually(lambda: stand.settle(token) or True)
    assert_extracted_once(stand, session)


class paused:  # noqa: N801 - reads as a statement
    """Processes that stand still for a while."""

    def __init__(self, stand: Stand, *names: str) -> None:
        self.groups = [pid(stand, name) for name in names]

    def __enter__(self) -> None:
        for group in self.groups:
            os.killpg(group, signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        for group in self.groups:
            os.killpg(group, signal.SIGCONT)
