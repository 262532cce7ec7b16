"""The client against a running stack."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest
from imprint_client import AsyncImprint, Imprint, ImprintError, Retries

from bench.stand import Stand
from tests.sdk.conftest import Line

SOON = Retries(attempts=3, base=0.01, longest=0.02)


def test_what_is_said_is_in_the_context(client: Imprint, unique: str) -> None:
    with client.session(user_id=unique) as session:
        session.add("user", "I moved to Lisbon in May.")
        shown = session.context("Where does she live?", max_tokens=2000)
        assert "Lisbon" in str(shown["messages"])
        assert shown["total_tokens"] <= 2000
        assert session.settle(flush=True)


def test_leaving_the_block_ends_the_session(client: Imprint, unique: str) -> None:
    with client.session(user_id=unique) as session:
        session.add("user", "Good morning.")
    assert client.request("GET", session.path)["ended_at"] is not None


def test_a_session_without_messages_publishes_nothing(client: Imprint, unique: str) -> None:
    with client.session(user_id=unique) as session:
        pass
    with pytest.raises(ImprintError, match="404"):
        client.request("GET", session.path)


def test_the_asynchronous_client_does_the_same(stand: Stand, unique: str) -> None:
    async def talk() -> list[dict[str, object]]:
        async with AsyncImprint(stand.url, stand.key) as client, client.session(user_id=unique) as session:
            await session.add("user", "My sister plays the cello.")
            return await session.search("cello")

    assert "cello" in str(asyncio.run(talk())[0]["content"])


def test_a_stated_memory_is_listed_until_it_is_forgotten(client: Imprint, unique: str) -> None:
    stated = client.remember("Ada is allergic to peanuts.", user_id=unique, category="fact")["memory"]
    assert [one["id"] for one in client.memories(user_id=unique)] == [stated["id"]]
    assert client.memories(user_id=unique, structured={"project": ["atlas"]}) == []
    assert client.memory(stated["id"])["content"] == "Ada is allergic to peanuts."
    client.forget(stated["id"])
    assert client.memories(user_id=unique) == []


def test_somebody_is_read_about_under_any_name(client: Imprint, unique: str) -> None:
    client.remember("Caz sings in a choir.", user_id=unique, category="fact")
    assert client.merge_names("Caroline", "Caz", user_id=unique)["name"] == "Caroline"
    page = client.about("Caroline", user_id=unique, limit=5)
    assert [one["content"] for one in page["items"]] == ["Caz sings in a choir."]


def test_a_refusal_says_which_field_is_wrong(client: Imprint) -> None:
    with pytest.raises(ImprintError) as refused:
        client.search("tea", user_id="ada", limit=-1)
    assert refused.value.status == 422
    assert refused.value.errors[0]["pointer"] == "/limit"


def test_a_lost_answer_stores_nothing_twice(stand: Stand, line: Line, unique: str) -> None:
    line.answers_lost = 1
    with Imprint(stand.url, stand.key, transport=line, retries=SOON) as client, client.session(user_id=unique) as talk:
        talk.add("user", "Once.")
        assert line.sent == 2
        assert [one["content"] for one in talk.messages()] == ["Once."]


def test_what_may_not_arrive_twice_is_not_repeated(stand: Stand, line: Line) -> None:
    line.answers_lost = 1
    with Imprint(stand.url, stand.key, transport=line, retries=SOON) as client, pytest.raises(httpx.ReadError):
        client.save_document("A document without a uri.")
    assert line.sent == 1


def answers(*statuses: int) -> Iterator[httpx.Response]:
    return iter(
        [httpx.Response(status, headers={"Retry-After": "0"}, json={"title": "Slow down"}) for status in statuses]
    )


def test_attempts_end(unique: str) -> None:
    refusing = answers(429, 503, 429, 429)
    transport = httpx.MockTransport(lambda _: next(refusing))
    client = Imprint("http://service", unique, transport=transport, retries=Retries(attempts=3, base=0.01))
    with client, pytest.raises(ImprintError, match="Slow down"):
        client.search("tea", user_id="ada")
    assert len(list(refusing)) == 1
