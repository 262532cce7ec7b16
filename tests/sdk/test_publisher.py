"""The publisher against a running stack that is cut off now and then."""

from __future__ import annotations

import asyncio

import pytest
from imprint_client import AsyncImprint, AsyncPublisher, BufferFull, Imprint, Publisher, Retries

from bench.stand import Stand
from tests.samples import said
from tests.sdk.conftest import Line

SOON = Retries(attempts=2, base=0.01, longest=0.02)


def contents(client: Imprint, session: str) -> list[str]:
    path = f"/v1/sessions/{session}/messages"
    return [one["content"] for one in client.request("GET", path, params={"last": 500})["items"]]


def test_events_wait_while_the_service_is_away(stand: Stand, line: Line, unique: str) -> None:
    with Imprint(stand.url, stand.key, transport=line, retries=SOON) as client:
        publisher = Publisher(client, batch=3)
        line.away = True
        for number in range(7):
            publisher.add(said(f"Message {number}.", session=unique))
        assert len(publisher) == 7
        line.away = False
        publisher.flush()
        assert len(publisher) == 0
        assert contents(client, unique) == [f"Message {number}." for number in range(7)]


def test_a_batch_whose_answer_is_lost_is_stored_once(stand: Stand, line: Line, unique: str) -> None:
    with Imprint(stand.url, stand.key, transport=line, retries=Retries(attempts=1)) as client:
        line.answers_lost = 1
        with Publisher(client, batch=2, retries=SOON) as publisher:
            publisher.add(said("One.", session=unique))
            publisher.add(said("Two.", session=unique))
            assert len(publisher) == 2
        assert contents(client, unique) == ["One.", "Two."]


def test_a_full_buffer_refuses(stand: Stand, line: Line, unique: str) -> None:
    line.away = True
    with Imprint(stand.url, stand.key, transport=line, retries=SOON) as client:
        publisher = Publisher(client, capacity=2)
        publisher.add(said("One.", session=unique))
        publisher.add(said("Two.", session=unique))
        with pytest.raises(BufferFull):
            publisher.add(said("Three.", session=unique))
        line.away = False
        publisher.add(said("Three again.", session=unique))
        publisher.flush()
        assert contents(client, unique) == ["One.", "Two.", "Three again."]


def test_a_bad_event_costs_itself_alone(client: Imprint, unique: str) -> None:
    with Publisher(client) as publisher:
        publisher.add(said("Before.", session=unique))
        publisher.add(said("Nobody.", session=unique, role="wizard"))
        publisher.add(said("After.", session=unique))
    assert contents(client, unique) == ["Before.", "After."]
    assert [event["payload"]["content"] for event, _ in publisher.refused] == ["Nobody."]


def test_events_added_by_many_tasks_are_all_sent(stand: Stand, client: Imprint, unique: str) -> None:
    async def publish() -> bool:
        async with AsyncImprint(stand.url, stand.key) as connected, AsyncPublisher(connected, batch=5) as publisher:
            await asyncio.gather(*(publisher.add(said(f"{n}", session=unique)) for n in range(23)))
            return await publisher.settle(flush=True)

    assert asyncio.run(publish())
    assert sorted(contents(client, unique), key=int) == [str(n) for n in range(23)]
