"""Resources and prompts, read by the protocol's own client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from core.config import Settings
from tests.api.mcp.asking import Agent
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT
from tests.works import Works


@pytest.fixture
def known(door: Doors, works: Works) -> None:
    """Two memories of ada, and her profile."""
    for content in ("Ada lives in Lisbon.", "Ada is allergic to peanuts."):
        assert door.post("/v1/memories", {"user_id": "ada", "content": content}).is_success
    works.settle()


def read(agent: Agent, uri: str) -> Any:
    async def reading(client: Client) -> Any:
        return (await client.read_resource(uri)).contents

    [content] = agent.talk(reading)
    assert (content.uri, content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


def prompted(agent: Agent, name: str, **arguments: str) -> str:
    async def getting(client: Client) -> Any:
        return (await client.get_prompt(name, arguments)).messages

    [message] = agent.talk(getting)
    assert message.role == "user"
    return str(message.content.text)


def refused(agent: Agent, work: Any) -> str:
    """The message of the protocol's error."""

    async def tried(client: Client) -> str:
        with pytest.raises(MCPError) as error:
            await work(client)
        return str(error.value)

    return agent.talk(tried)


def test_resources_and_prompts_are_listed(agent: Agent) -> None:
    async def listing(client: Client) -> tuple[list[str], list[str], list[Any]]:
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        return (
            [one.uri_template for one in templates],
            [one.name for one in prompts],
            (await client.list_resources()).resources,
        )

    templates, prompts, resources = agent.talk(listing)
    assert templates == [
        "imprint://users/{user_id}/profile",
        "imprint://users/{user_id}/recent",
        "imprint://groups/{group_id}/profile",
    ]
    assert (prompts, resources) == (["recall", "review"], [])


@pytest.mark.usefixtures("known")
def test_a_profile_and_recent_memories_are_read(agent: Agent) -> None:
    assert "Lisbon" in json.dumps(read(agent, "imprint://users/ada/profile"))
    recent = read(agent, "imprint://users/ada/recent")
    assert [one["content"] for one in recent["items"]] == ["Ada is allergic to peanuts.", "Ada lives in Lisbon."]


@pytest.mark.usefixtures("known")
def test_names_in_addresses_are_decoded(agent: Agent, door: Doors) -> None:
    assert door.post("/v1/memories", {"user_id": "ada b/1", "content": "Owns a boat."}).status_code in {201, 422}
    assert read(agent, "imprint://users/ada%20b/recent")["items"] == []


@pytest.mark.usefixtures("known")
def test_prompts_hold_what_is_known(agent: Agent) -> None:
    recall = prompted(agent, "recall", user_id="ada", question="Where does Ada live?")
    assert "Lisbon" in recall
    assert recall.endswith("Where does Ada live?")
    assert "peanuts" in prompted(agent, "review", user_id="ada")


def test_what_there_is_not_is_named(agent: Agent) -> None:
    assert "There are: imprint://users/" in refused(agent, lambda c: c.read_resource("imprint://users/ada"))
    assert "There are: recall, review" in refused(agent, lambda c: c.get_prompt("none", {}))
    assert "needs user_id and question" in refused(agent, lambda c: c.get_prompt("recall", {}))


@pytest.mark.usefixtures("known")
def test_other_tenants_and_keys_that_may_not_read_see_nothing(agent: Agent, settings: Settings) -> None:
    stranger = replace(agent, key=key_of(settings, OTHER))
    assert read(stranger, "imprint://users/ada/recent")["items"] == []
    writer = replace(agent, key=key_of(settings, TENANT, ("write",)))
    assert "scope `read`" in refused(writer, lambda c: c.read_resource("imprint://users/ada/recent"))


@pytest.mark.usefixtures("known")
def test_memories_are_listed_and_a_change_is_undone(agent: Agent) -> None:
    listed = agent.call("memory_list", user_id="ada", q="Lisbon")
    [one] = listed["items"]
    agent.call("memory_update", memory_id=one["id"], content="Ada lives in Porto.")
    agent.call("memory_undo", memory_id=one["id"], reason="She said so.")
    assert [item["content"] for item in agent.call("memory_list", user_id="ada", q="lives")["items"]] == [
        "Ada lives in Lisbon."
    ]
