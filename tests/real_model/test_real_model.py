"""Prompts, schemas, limits and ledgers with a real language model: `make model`.

A model of 135 million parameters understands next to nothing. What it answers is not judged here; that every answer is
either used or recorded as unusable, within the limits, and that it takes nothing from the rules, is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.consolidation import llm_judge
from core.consolidation.judge import OpinionKind, Pair
from core.errors import Later, Never
from core.inference.answer_limits import AnswerBounds
from core.inference.client import Call
from core.inference.openai_client import OpenAIClient
from core.inference.structured_output import ModelAnswer
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.summaries import rolling
from core.types import Candidate, Category, Topic
from tests.samples import TENANT, accept_all, ended, said
from tests.workers.learners import ran, tools_of
from tests.works import Works, at_work, run_one
from workers.agents import reflection, summaries
from workers.tools import Tools

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

MODEL = "smollm2-135m"
ANSWER_TOKENS = 192
CALL_SECONDS = 300.0
ENDINGS = {"ok", "misshapen", "truncated", "declined"}
"""How a call ends that the model has answered; the endpoint counts tokens itself."""

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TALK = [
    said("I live in Lisbon.", message_id="m1", speaker="Ada"),
    said("That is a beautiful city.", role="assistant", message_id="m2"),
    said("I have a cat named Tom, and I am allergic to peanuts.", message_id="m3", speaker="Ada"),
]


class Colour(ModelAnswer):
    colour: Literal["red", "blue"]


class Essay(ModelAnswer):
    """An answer that no model can finish within a few tokens: its schema admits one long text alone."""

    story: Literal["The harbour lay still, and the boats did not move, and nobody came, and nobody went."]


def a_client(url: str, **more: Any) -> OpenAIClient:
    return OpenAIClient(url, "", MODEL, more.pop("timeout", CALL_SECONDS), bounds=AnswerBounds(**more))


@contextmanager
def works_with(settings: Settings, url: str, **more: Any) -> Iterator[Works]:
    """Router and workers that ask the model, as an installation with these settings does."""
    asking = {
        "llm_base_url": url,
        "llm_model": MODEL,
        "llm_timeout_seconds": CALL_SECONDS,
        "llm_max_output_tokens": ANSWER_TOKENS,
        "llm_input_price": 1.0,
        "llm_output_price": 2.0,
        **more,
    }
    with at_work(settings.model_copy(update=asking)) as works:
        yield works


def rows(app: Database, statement: str) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text(statement)))


def calls_of(app: Database, task: str) -> list[Any]:
    return rows(app, f"SELECT * FROM model_calls WHERE prompt LIKE '{task}.%' ORDER BY id")


def assert_recorded(calls: list[Any], *, of_dispatch: bool = True) -> None:
    """Each call has its outcome, its tokens within the limit, its cost, and the answer if that was of no use.

    Answers are kept with a dispatch that runs; an agent that no rule calls has none.
    """
    assert calls
    for call in calls:
        assert call.outcome in ENDINGS
        assert call.model == MODEL
        assert call.input_tokens > 0
        assert 0 < call.output_tokens <= ANSWER_TOKENS
        assert call.cost == pytest.approx((call.input_tokens + 2 * call.output_tokens) / 1e6)
        assert call.latency_ms > 0
        assert (call.answer is None) == (call.outcome == "ok" or not of_dispatch)


def test_an_answer_of_a_small_shape_is_read_by_its_schema(endpoint_url: str) -> None:
    calls: list[Call] = []
    asked = "What colour is a ripe tomato?"
    answer = a_client(endpoint_url).ask("judge.v1", "Answer in JSON.", asked, Colour, calls.append)
    assert answer.colour in {"red", "blue"}
    assert [call.outcome for call in calls] == ["ok"], "the endpoint knows limits, temperature and schemas"


def test_a_model_that_goes_on_and_on_is_cut_off_at_its_limit(endpoint_url: str) -> None:
    calls: list[Call] = []
    client = a_client(endpoint_url, tokens=24)
    with pytest.raises(Never, match="truncated"):
        client.ask("summary.v2", "Write a long story, of many pages.", "The harbour.", Essay, calls.append)
    assert [(call.outcome, call.output_tokens) for call in calls] == [("truncated", 24)] * 2
    assert all(call.answer for call in calls)


def test_a_question_longer_than_the_context_is_refused_for_good(endpoint_url: str) -> None:
    calls: list[Call] = []
    with pytest.raises(Never, match="400"):
        a_client(endpoint_url).ask("summary.v2", "Sum it up.", "word " * 10_000, Essay, calls.append)
    assert calls[-1].outcome == "refused"


def test_a_call_that_takes_too_long_is_given_up_in_time(endpoint_url: str) -> None:
    calls: list[Call] = []
    began = time.monotonic()
    with pytest.raises(Later):
        a_client(endpoint_url, timeout=0.2).ask("summary.v2", "Write a long story.", "x " * 500, Essay, calls.append)
    assert time.monotonic() - began < 10
    assert [(call.outcome, call.output_tokens) for call in calls] == [("refused", 0)]


def test_a_second_opinion_is_one_of_the_words_or_none(endpoint_url: str) -> None:
    def pair(new: str, known: str) -> Pair:
        candidate = Candidate(new, Category.FACT, Topic.OTHER, "ada", (), NOON + timedelta(days=9))
        return Pair(candidate, KnownMemory(uuid4(), 1, known, "ada", None, None, NOON, 0.8))

    calls: list[Call] = []
    opinion = llm_judge.opinion_of(a_client(endpoint_url, tokens=ANSWER_TOKENS), calls.append)
    pairs = [pair("Ada gives violin lessons.", "Ada teaches the violin."), pair("Ada sold it.", "Ada has a boat.")]
    found = opinion(pairs)
    assert len(found) == len(pairs)
    assert set(found) <= {None, *OpinionKind}
    assert {call.outcome for call in calls} <= ENDINGS
    assert all(call.output_tokens <= ANSWER_TOKENS for call in calls)
    assert any(call.outcome == "ok" for call in calls) or set(found) == {None}


def test_a_conversation_is_extracted_and_nothing_of_the_rules_is_lost(
    settings: Settings, app: Database, endpoint_url: str
) -> None:
    accept_all(app, [*TALK, ended(message_count=3)])
    with at_work(settings) as without:
        without.settle()
    kept = {(m.content, m.attribute, m.value) for m in rows(app, "SELECT * FROM memories WHERE category <> 'episode'")}
    assert ("home.city", "Lisbon") in {one[1:] for one in kept}
    accept_all(app, [{**one, "payload": one["payload"] | {"user_id": "bea", "session_id": "s2"}} for one in TALK])
    accept_all(app, [ended("s2", "bea", message_count=3)])
    with works_with(settings, endpoint_url) as works:
        works.settle()
    with_model = "SELECT * FROM memories WHERE user_id = 'bea' AND status = 'active'"
    assert kept <= {(m.content, m.attribute, m.value) for m in rows(app, with_model)}
    calls = calls_of(app, "extract")
    assert_recorded(calls)
    assert {call.prompt.removesuffix("+repair") for call in calls} == {"extract.production.en.v5"}
    for one in rows(app, "SELECT * FROM dispatches WHERE target = 'memory_consolidator' AND status = 'done'"):
        asked = [call for call in calls if call.dispatch_id == one.id]
        usable = any(call.outcome == "ok" for call in asked)
        assert one.result.get("failed", 0) == (1 if asked and not usable else 0)
    dead = rows(app, "SELECT * FROM dispatches WHERE status = 'dead'")
    assert all(one.params["from"] == 1 and "missed the shape" in one.error for one in dead)


def test_a_model_that_is_too_slow_keeps_only_its_own_windows_waiting(
    settings: Settings, app: Database, endpoint_url: str
) -> None:
    accept_all(app, [*TALK, ended(message_count=3)])
    began = time.monotonic()
    with works_with(settings, endpoint_url, llm_timeout_seconds=0.2, judge_with_model=False) as works:
        works.settle()
        assert time.monotonic() - began < 60
        assert "Lisbon" in {m.value for m in rows(app, "SELECT * FROM memories")}
        waiting = rows(app, "SELECT * FROM dispatches WHERE params ? 'from'")
        assert waiting
        assert {one.status for one in waiting} <= {"retrying", "pending"}
        assert {call.outcome for call in calls_of(app, "extract")} == {"refused"}
    with works_with(settings, endpoint_url, judge_with_model=False) as works:
        for one in waiting:
            run_now(app, works, one.id)
    ends = {row.status for one in waiting for row in rows(app, f"SELECT status FROM dispatches WHERE id = '{one.id}'")}
    assert ends <= {"done", "dead"}
    assert_recorded([call for call in calls_of(app, "extract") if call.outcome != "refused"])


def run_now(app: Database, works: Works, dispatch: object) -> None:
    with app.queue() as tx:
        tx.execute(text("UPDATE providers SET failures = 0, open_until = NULL"))
    with app.tenant(TENANT) as tx:
        due = text("UPDATE dispatches SET wake_at = clock_timestamp() WHERE id = :id")
        tx.execute(due, {"id": dispatch})
    run_one(works.ledger, TENANT, dispatch)  # type: ignore[arg-type]


@pytest.fixture
def tools(settings: Settings, app: Database) -> Tools:
    """Tools of an agent that no rule calls."""
    priced = {"llm_input_price": 1.0, "llm_output_price": 2.0, "summarize_messages": 10}
    return tools_of(settings.model_copy(update=priced), app)


def test_a_session_is_summed_up_whatever_the_model_makes_of_it(app: Database, tools: Tools, endpoint_url: str) -> None:
    accept_all(app, [said(f"Boat {n} left the harbour for Oslo on 3 May.", message_id=f"b{n}") for n in range(10)])
    client = a_client(endpoint_url, tokens=ANSWER_TOKENS)
    result = ran(tools, summaries.summarize_session, ended(), model=client)
    assert_recorded(calls_of(app, "summary"), of_dispatch=False)
    assert result["summarized"]
    assert result.get("refused") or calls_of(app, "summary")[-1].outcome == "ok"
    with app.tenant(TENANT) as tx:
        assert rolling.latest(tx, "s1") is not None


def test_a_session_is_retold_whatever_the_model_makes_of_it(app: Database, tools: Tools, endpoint_url: str) -> None:
    accept_all(app, [*TALK, said("Thank you for your help!", speaker="Ada")])
    client = a_client(endpoint_url, tokens=ANSWER_TOKENS)
    assert ran(tools, reflection.write_episodes, ended(), model=client)["episodes"] == 1
    assert_recorded(calls_of(app, "episode"), of_dispatch=False)
    (episode,) = rows(app, "SELECT * FROM memories WHERE category = 'episode'")
    assert episode.content.startswith("Ada")
