"""Evidence in its conversation: the cited messages with their neighbours, and the passages in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from api.console import calls, citations
from api.console.calls import Api, ApiProblem
from api.console.citations import Passage
from core.storage.db import Database
from core.types import Json
from tests.doors import Doors
from tests.samples import TENANT, accept_all, said

SAID = ("Hello.", "I moved to Porto in May.", "Nice!", "Yes.", "Bye.", "And again.", "Hm.")


def source(message: str = "m1", quote: str = "", session: str | None = "s1") -> Json:
    return {"session_id": session, "message_id": message, "quote": quote}


def read(door: Doors, sources: Sequence[Json], key: str | None = None) -> list[Passage]:
    async def carry_out() -> list[Passage]:
        async with calls.client_of(door.client.app) as client:  # type: ignore[arg-type]
            return await citations.read(Api(client, key or door.keys[TENANT]), sources)

    return asyncio.run(carry_out())


@pytest.fixture
def conversation(app: Database) -> None:
    accept_all(app, [said(content, message_id=f"m{place}") for place, content in enumerate(SAID)])


@pytest.mark.parametrize(
    ("quote", "parts"),
    [
        ("moved to Porto", ("I ", "moved to Porto", " in May.")),
        ("I moved to Porto in May.", ("", "I moved to Porto in May.", "")),
        ("", ("", "I moved to Porto in May.", "")),
        ("moved to [redacted]", ("", "I moved to Porto in May.", "")),
    ],
)
def test_the_passage_is_apart_and_a_message_without_it_is_quoted_whole(quote: str, parts: tuple[str, ...]) -> None:
    found = citations.marked({"id": "m1", "content": SAID[1]}, [source("m0"), source(quote=quote)])
    assert (found.before, found.quoted, found.after) == parts
    assert found.source == source(quote=quote)


def test_of_another_message_nothing_is_quoted() -> None:
    found = citations.marked({"id": "m0", "content": "I moved to Porto."}, [source(quote="moved to Porto")])
    assert (found.before, found.quoted, found.after, found.source) == ("I moved to Porto.", "", "", None)


@pytest.mark.usefixtures("conversation")
def test_citations_near_each_other_share_a_passage(door: Doors) -> None:
    (passage,) = read(door, [source("m3", "Yes."), source("m1", "Porto")])
    assert [one.message["content"] for one in passage.messages] == list(SAID[:6])
    assert [one.quoted for one in passage.messages if one.source] == ["Porto", "Yes."]
    assert passage.sources == [source("m3", "Yes."), source("m1", "Porto")]


def test_passages_apart_stand_in_the_order_of_their_first_sources() -> None:
    messages = {place: {"id": f"m{place}", "position": place, "content": f"{place}"} for place in (1, 2, 3, 8, 9, 10)}
    sources = [source("m9"), source(session="s2"), source("m2")]
    late, other, early = citations.passages(sources, {"s1": messages})
    assert [one.message["position"] for one in late.messages] == [8, 9, 10]
    assert [one.message["position"] for one in early.messages] == [1, 2, 3]
    assert (other.sources, other.messages) == ([source(session="s2")], [])


@pytest.mark.usefixtures("conversation")
def test_what_is_not_kept_or_is_no_message_has_no_conversation(door: Doors) -> None:
    sources = [source(session="gone"), source("nothing"), source(session=None), source("m1")]
    found = read(door, sources)
    assert [bool(one.messages) for one in found] == [False, False, False, True]
    assert [one.sources for one in found] == [[one] for one in sources]


@pytest.mark.usefixtures("conversation")
def test_the_conversations_of_the_first_alone_are_read(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    find = Api.find

    async def noted(self: Api, path: str, **query: Any) -> Any:
        asked.append(query)
        return await find(self, path, **query)

    monkeypatch.setattr(Api, "find", noted)
    read(door, [source(session=None), *(source(f"m{number}") for number in range(7))])
    assert len(asked) == citations.SHOWN


def test_a_login_that_may_not_read_is_refused(door: Doors) -> None:
    with pytest.raises(ApiProblem):
        read(door, [source()], key="imp_unknown")
