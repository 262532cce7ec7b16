from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import Conflict, Invalid, NotFound
from core.inference import own_prompts, prompts
from core.inference.client import Call
from core.inference.openai_client import OpenAIClient
from core.inference.own_prompts import OwnPrompt, OwnPromptClient, PromptDraft
from core.inference.quota import Grant
from core.storage.db import Database
from tests.core.inference.endpoint import ADA, GOOD, Endpoint, Facts, endpoint, reply
from tests.samples import TENANT

BY = "key:test"
OTHER = "globex"
OWN = OwnPrompt("judge", 3, "Judge well. {{packaged}}", 1.0, "", BY, datetime(2026, 11, 21, tzinfo=UTC))


def put(app: Database, name: str = "judge", tenant: str = TENANT, **draft: Any) -> OwnPrompt:
    with app.tenant(tenant) as tx:
        return own_prompts.put(tx, tenant, name, PromptDraft(**{"text": "Judge well.", **draft}), BY)


def in_force(app: Database, tenant: str = TENANT) -> dict[str, OwnPrompt]:
    with app.tenant(tenant) as tx:
        return own_prompts.in_force(tx)


def test_every_packaged_prompt_can_be_replaced() -> None:
    assert set(own_prompts.packaged_names().values()) == {path.stem for path in prompts.FOLDER.glob("*.md")}
    assert own_prompts.packaged_name("extract.production.zh") == "extract.production.zh.v5"


def test_each_prompt_is_a_version_and_the_newest_is_in_force(app: Database) -> None:
    assert [put(app, text=f"Number {n}.", comment=f"{n}").version for n in (1, 2)] == [1, 2]
    assert in_force(app)["judge"].text == "Number 2."
    with app.tenant(TENANT) as tx:
        assert [one.version for one in own_prompts.versions(tx, "judge")] == [2, 1]
        first = own_prompts.get(tx, "judge", 1)
        with pytest.raises(NotFound, match="no version 3"):
            own_prompts.get(tx, "judge", 3)
    assert (first.text, first.comment, first.author, first.share) == ("Number 1.", "1", BY, 1.0)
    assert in_force(app, OTHER) == {}


def test_reset_uses_the_packaged_prompt_again_and_keeps_the_versions(app: Database) -> None:
    put(app)
    with app.tenant(TENANT) as tx:
        own_prompts.reset(tx, TENANT, "judge", BY)
    assert in_force(app) == {}
    with app.tenant(TENANT) as tx:
        found = own_prompts.versions(tx, "judge")
        assert [(one.version, one.as_json()["is_reset"]) for one in found] == [(2, True), (1, False)]
        with pytest.raises(NotFound, match="packaged one is in use"):
            own_prompts.reset(tx, TENANT, "judge", BY)
    assert put(app).version == 3


def test_of_two_that_are_stored_at_once_one_has_to_look_again(app: Database) -> None:
    held, go = threading.Event(), threading.Event()

    def slowly() -> None:
        with app.tenant(TENANT) as tx:
            own_prompts.put(tx, TENANT, "judge", PromptDraft("First."), BY)
            held.set()
            go.wait(10)

    first = threading.Thread(target=slowly)
    first.start()
    assert held.wait(10)
    threading.Timer(0.3, go.set).start()
    with pytest.raises(Conflict, match="at the same time"):
        put(app, text="Second.")
    first.join()
    assert in_force(app)["judge"].text == "First."


@pytest.mark.parametrize("act", [own_prompts.packaged_name, lambda name: own_prompts.versions(None, name)])
def test_a_name_that_is_no_prompt_is_refused_with_those_that_are(act: Callable[[str], object]) -> None:
    with pytest.raises(NotFound, match=r"'jugde'.* judge"):
        act("jugde")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("x" * (own_prompts.CHARACTERS + 1), "20,001 characters; 20,000 are allowed"),
        ("a\x00b", r"U\+0000"),
        (
            "Fine {{schema}}\nand {{ name }}",
            r"line 2: there is no placeholder \{\{ name \}\}; there are \{\{packaged\}\}",
        ),
        ("Fine\n\n{{packaged", "line 3: a placeholder begins"),
        ("{{}}", "there is no placeholder"),
    ],
)
def test_a_prompt_that_cannot_be_rendered_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(Invalid, match=says) as refused:
        own_prompts.require_valid(text)
    assert {one.pointer for one in refused.value.problems} == {"/text"}


def test_placeholders_are_filled_in_and_what_they_bring_is_left_as_it_is() -> None:
    own_prompts.require_valid('Say {"a": {"b": 1}}. {{packaged}} {{ schema }}')
    rendered = own_prompts.render("A {{packaged}} B {{ schema }} {c}", "with {{schema}} in it", Facts)
    assert rendered.startswith("A with {{schema}} in it B {")
    assert '"required":["facts"]' in rendered
    assert rendered.endswith("} {c}")


def test_a_share_takes_so_many_sessions_and_always_the_same() -> None:
    sessions = [f"session-{n}" for n in range(2_000)]

    def taken(share: float, **more: Any) -> set[str]:
        return {one for one in sessions if replace(OWN, share=share, **more).is_used_for(one)}

    fifth = taken(0.2)
    assert 320 < len(fifth) < 480
    assert fifth == taken(0.2, version=9, text="Other.")
    assert fifth < taken(0.5), "a larger share keeps those that it has"
    assert len(taken(1.0)) == 2_000
    assert fifth != taken(0.2, name="summary"), "prompts are shared out independently"


def asked(there: Endpoint, own: dict[str, OwnPrompt], prompt: str, key: str = "s1") -> list[Call]:
    calls: list[Call] = []
    client = OwnPromptClient(OpenAIClient(there.url, "k", "m", 5), lambda: own, key)
    assert client.model == "m"
    assert client.under(Grant()).ask(prompt, "Packaged.", "hello", Facts, calls.append) == ADA
    return calls


def test_the_ledger_says_which_version_was_asked_with() -> None:
    with endpoint(reply("no"), reply(GOOD)) as there:
        calls = asked(there, {"judge": OWN}, "judge.v1")
    assert [call.prompt for call in calls] == ["judge.own3", "judge.own3+repair"]
    assert there.asked[0]["messages"][0]["content"] == "Judge well. Packaged."
    assert there.asked[0]["temperature"] == 0, "the limits of the task hold"


@pytest.mark.parametrize(
    ("own", "prompt"),
    [({}, "judge.v1"), ({"judge": OWN}, "summary.v2"), ({"judge": replace(OWN, share=1e-9)}, "judge.v1")],
    ids=["none", "another", "beyond its share"],
)
def test_without_one_of_its_own_the_packaged_prompt_is_used(own: dict[str, OwnPrompt], prompt: str) -> None:
    with endpoint(reply(GOOD)) as there:
        assert [call.prompt for call in asked(there, own, prompt)] == [prompt]
    assert there.asked[0]["messages"][0]["content"] == "Packaged."


def test_a_job_reads_the_prompts_of_its_tenant_once(app: Database) -> None:
    put(app)
    with endpoint(reply(GOOD)) as there:
        calls: list[Call] = []
        client = OpenAIClient(there.url, "k", "m", 5)
        bound = own_prompts.bind(client, app, TENANT, "s1")
        bound.ask("judge.v1", "Packaged.", "hello", Facts, calls.append)
        put(app, text="Newer.")
        bound.ask("judge.v1", "Packaged.", "hello", Facts, calls.append)
        own_prompts.bind(client, app, OTHER, "s1").ask("judge.v1", "Packaged.", "hello", Facts, calls.append)
    assert [call.prompt for call in calls] == ["judge.own1", "judge.own1", "judge.v1"]
