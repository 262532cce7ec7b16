from __future__ import annotations

from dataclasses import replace

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from prometheus_client import REGISTRY

from api.mcp.tools import TOOLS
from core.config import Settings
from core.settings.limits import TenantLimits
from core.types import Json
from tests.api.mcp.asking import BAD, LOCAL, NOBODY, Agent, both, sent, tool_call
from tests.doors import Doors, opened


def test_a_bad_call_says_what_was_wrong_and_where(agent: Agent) -> None:
    assert {tool for tool, *_ in BAD} == set(TOOLS)

    async def tried(client: Client) -> list[Json]:
        return [both(await client.call_tool(tool, arguments)) for tool, arguments, *_ in BAD]

    for (tool, arguments, status, pointers), problem in zip(BAD, agent.talk(tried), strict=True):
        seen = [fault["pointer"] for fault in problem.get("errors", [])]
        assert (problem["status"], seen) == (status, pointers), (tool, arguments, problem)
        assert problem["detail"]
        assert all(fault["detail"] for fault in problem.get("errors", []))


def test_an_argument_that_was_made_up_is_answered_with_those_that_there_are(door: Doors) -> None:
    result = sent(door, "message_hide", session="s1", message_id="m1")
    (_, made_up) = result["structuredContent"]["errors"]
    assert made_up["pointer"] == "/session"
    assert all(name in made_up["detail"] for name in ("session_id", "message_id", "reason"))


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(agent: Agent, era: str) -> None:
    async def work(client: Client) -> MCPError:
        with pytest.raises(MCPError, match="memory_search") as refused:
            await client.call_tool("memory_delete_all", {"user_id": "ada"})
        return refused.value

    assert replace(agent, era=era).talk(work).code == -32602


def test_each_call_is_counted_by_its_tool_and_how_it_ended(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(tool: str, outcome: str) -> float:
        labels = {"tool": tool, "outcome": outcome}
        return REGISTRY.get_sample_value("imprint_mcp_seconds_count", labels) or 0.0

    def broken(*_: object) -> Json:
        raise RuntimeError("broken")

    calls = [("memory_search", "answered"), ("memory_search", "refused"), ("memory_why", "failed")]
    before = [counted(*call) for call in calls]
    monkeypatch.setitem(TOOLS, "memory_why", replace(TOOLS["memory_why"], answer=broken))
    sent(door, "memory_search", user_id="ada", query="What is new?")
    sent(door, "memory_search", user_id="ada")
    sent(door, "memory_why", memory_id=NOBODY)
    assert [counted(*call) for call in calls] == [one + 1 for one in before]
    door.post("/mcp", tool_call("no_such_tool"), headers=LOCAL)
    assert counted("no_such_tool", "refused") == 0


def test_where_too_much_waits_a_call_says_when_to_come_back(settings: Settings) -> None:
    with opened(settings.model_copy(update={"tenant_limits": TenantLimits(events_waiting=1)})) as door:
        assert not sent(door, "event_publish", event_type="x", source="s")["isError"]
        door.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        refused = sent(door, "event_publish", event_type="x", source="s")
    assert refused["isError"]
    assert (refused["structuredContent"]["status"], refused["structuredContent"]["retry_after_seconds"]) == (429, 1)
