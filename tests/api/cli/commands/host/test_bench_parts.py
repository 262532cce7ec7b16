"""Parts of the benchmark count what they did, and wait where the server asks for it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from api.cli.client import Client, Refused
from api.cli.commands.host import bench_parts
from core.types import Json


class Answering:
    """A client that answers every request, but for one that it refuses."""

    def __init__(self, refused: Refused | None = None, number: int = 0) -> None:
        self.refused, self.number = refused, number
        self.asked: list[tuple[str, Any]] = []

    def post(self, path: str, sent: Any) -> Json:
        self.asked.append((path, sent))
        if self.refused and len(self.asked) == self.number:
            raise self.refused
        return {"results": []}


def run(part: bench_parts.Part, client: Answering) -> list[bench_parts.Figure]:
    return bench_parts.run(part, cast(Client, client), 0)


def test_accepting_counts_events_and_not_requests_and_leaves_out_the_first_ones() -> None:
    client = Answering()
    rate, *latency = run("accept", client)
    assert len(client.asked) == bench_parts.WARM + 1
    assert {len(sent) for _, sent in client.asked} == {bench_parts.BATCH}
    assert (rate.unit, [one.name for one in latency]) == ("events/s", ["p50 of 1", "p95 of 1"])
    assert rate.value == pytest.approx(bench_parts.BATCH / (latency[0].value / 1000))


def test_every_question_is_another_one() -> None:
    client = Answering()
    run("search", client)
    questions = [sent["query"] for path, sent in client.asked if path == "/v1/search"]
    assert len(set(questions)) == len(questions) == bench_parts.WARM + 1


def test_what_a_busy_server_postpones_is_repeated_and_the_wait_counts() -> None:
    client = Answering(Refused("busy", retry_after_s=0.05), bench_parts.WARM + 1)
    p50, _ = run("search", client)
    assert len(client.asked) == bench_parts.WARM + 2
    assert (p50.name, p50.value >= 50) == ("p50 of 1", True)


@pytest.mark.parametrize("number", [1, bench_parts.WARM + 1])
def test_another_refusal_ends_it(number: int) -> None:
    with pytest.raises(Refused, match="forbidden"):
        run("search", Answering(Refused("forbidden", status=403), number))
