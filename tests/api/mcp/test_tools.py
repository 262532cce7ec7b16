from __future__ import annotations

import json
from dataclasses import replace

import httpx
import pytest

from core.storage.db import Database
from core.types import Json
from tests.api.mcp.asking import Agent, names_of
from tests.core.undo_windows import allow_undo
from tests.samples import NOON, accept_all, said
from tests.works import Works


@pytest.mark.parametrize("era", ["legacy", "auto", "2026-07-28"])
def test_an_agent_remembers_corrects_explains_and_forgets(agent: Agent, era: str) -> None:
    agent = replace(agent, era=era)
    hello = said("Our dog Rex is afraid of thunder.", message_id="m1", id="e1")
    accepted = agent.call("event_publish", **hello)
    assert (accepted["accepted"], accepted["events"]) == (1, [{"id": "e1", "duplicate": False}])
    added = agent.call("memory_add", user_id="ada", content="Ada lives in Lisbon.", importance=0.7)
    assert added["verdict"] == "add"
    memory = added["memory"]["id"]

    found = agent.call("memory_search", user_id="ada", query="Where does Ada live?", include=["memories"])
    assert names_of(found["results"]) == ["Ada lives in Lisbon."]
    changed = agent.call("memory_update", memory_id=memory, content="Ada lives in Porto.", reason="She moved.")
    assert (changed["content"], changed["version"]) == ("Ada lives in Porto.", 2)
    why = agent.call("memory_why", memory_id=memory)
    assert [step["change"] for step in why["steps"]] == ["add", "edit"]
    assert why["memory"]["content"] == "Ada lives in Porto."

    built = agent.call("context_build", user_id="ada", session_id="s1", query="Where to?", format="text")
    assert "Porto" in built["text"]
    assert "Rex" in built["text"]
    assert agent.call("message_hide", session_id="s1", message_id="m1", reason="Told twice.")["hidden"] is True
    again = agent.call("context_build", user_id="ada", session_id="s1", query="Where to?", format="text")
    assert "Rex" not in again["text"]
    assert agent.call("message_restore", session_id="s1", message_id="m1")["hidden"] is False

    receipt = agent.call("memory_forget", memory_id=memory)
    assert receipt["signature"]
    assert agent.call("memory_search", user_id="ada", query="Porto", include=["memories"])["results"] == []
    assert receipt["receipt"]["id"] in agent.fault("memory_forget", memory_id=memory)["detail"]


def test_both_doors_say_the_same(agent: Agent) -> None:
    agent.call("event_publish", **said("I am allergic to peanuts.", message_id="m1", user="ada"))
    memory = agent.call("memory_add", user_id="ada", content="Ada lives in Lisbon.")["memory"]["id"]
    with httpx.Client(base_url=agent.url, headers={"authorization": f"Bearer {agent.key}"}) as http:
        for tool, path, asked in (
            (
                "memory_search",
                "/v1/search",
                {"user_id": "ada", "query": "Where does Ada live?", "explain": True, "now": NOON},
            ),
            ("context_build", "/v1/context", {"user_id": "ada", "session_id": "s1", "query": "nuts?"}),
        ):
            here, there = agent.call(tool, **asked), http.post(path, json=asked).json()
            assert _timeless(here) == _timeless(there)
        assert agent.call("memory_why", memory_id=memory) == http.get(f"/v1/memories/{memory}/why").json()
        refused, there = agent.fault("context_build", query="x"), http.post("/v1/context", json={"query": "x"})
        assert (refused, refused["status"]) == (there.json(), there.status_code)


def _timeless(answer: Json) -> Json:
    """Without what a clock has written: strengths fall between two requests."""
    kept = {name: value for name, value in answer.items() if name != "took_ms"}
    if "explain" in kept:
        kept["explain"] = {name: value for name, value in kept["explain"].items() if name != "took_ms"}
    text = json.dumps(kept)
    return json.loads(text, parse_float=lambda number: round(float(number), 3))


def test_a_user_takes_the_latest_request_to_forget_back(agent: Agent, app: Database, works: Works) -> None:
    allow_undo(app)
    accept_all(app, [said("My PIN is 671498."), said("Please forget 671498.")])
    works.settle()
    assert agent.fault("memory_forget_undo", user_id="ben")["status"] == 404
    assert agent.call("memory_forget_undo", user_id="ada")["messages"] == 2
    assert agent.fault("memory_forget_undo", user_id="ada")["status"] == 404
