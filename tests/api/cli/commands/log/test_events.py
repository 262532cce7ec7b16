"""`imprint events`: nothing is missed, nothing comes twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from api.cli.client import Client, Refused
from api.cli.commands.log import events
from api.cli.commands.log.events import follow, last_events
from core.config import ClientSettings
from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import accept, accept_all, ended, event, said
from tests.works import Works


@pytest.fixture
def client(imprint: Imprint) -> Iterator[Client]:
    assert imprint
    asking = Client(ClientSettings())
    yield asking
    asking.close()


def ids(found: list[dict[str, object]]) -> list[object]:
    return [item["id"] for item in found]


def test_the_last_events_of_the_wanted_types_come_oldest_first(client: Client, app: Database) -> None:
    accept(app, event("memory.created", id="a"), event("order.placed", id="b"), event("memory.erased", id="c"))
    assert ids(last_events(client, "memory.*", None, None, 10)) == ["a", "c"]
    assert ids(last_events(client, "order.placed, memory.*", None, None, 2)) == ["b", "c"]


def test_a_lost_connection_is_opened_again_where_it_ended(
    client: Client, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(4)])
    monkeypatch.setattr(events, "RETRY_SECONDS", 0.0)
    whole, asked = client.stream, []

    def broken(path: str, **params: Any) -> Iterator[tuple[str, Any]]:
        """Three frames, and then nothing more."""
        asked.append(params["after"])
        if len(asked) == 2:
            raise Refused("No answer")
        yield from islice(whole(path, **params), 3)

    monkeypatch.setattr(client, "stream", broken)
    assert ids(list(islice(follow(client, "0"), 4))) == ["e0", "e1", "e2", "e3"]
    assert asked[0] == "0"
    assert asked[1] == asked[2] != "0"


def test_a_refusal_is_not_tried_again(client: Client) -> None:
    with pytest.raises(Refused, match="not a position"):
        next(follow(client, "nonsense"))


def test_ctrl_c_ends_the_tail_with_0(imprint: Imprint, app: Database) -> None:
    assert imprint
    accept(app, said("I live in Turin.", id="m1"))
    command = [sys.executable, "-m", "api.cli.main", "events", "tail", "--json", "--types", "message.*"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tail:
        assert tail.stdout
        assert tail.stderr
        assert '"m1"' in tail.stdout.readline()
        accept(app, said("I moved to Rome.", id="m2"))
        assert '"m2"' in tail.stdout.readline()
        tail.send_signal(signal.SIGINT)
        assert (tail.wait(60), tail.stderr.read()) == (0, "")


def test_a_trace_shows_rules_with_actual_values_and_what_came_of_them(
    imprint: Imprint, app: Database, works: Works
) -> None:
    accept(app, said("I live in Turin. [laughs]", speaker="Ada", id="m1"), {**ended(message_count=3), "id": "end"})
    works.settle()
    end = imprint("events", "trace", "end").out
    for word in (
        "consolidate_on_session_end v1 fired",
        "✓ payload.message_count >= 3 is 3",
        "memory_consolidator done",
    ):
        assert word in end
    assert "memory.created" in end
    shown = imprint("events", "trace", "m1")
    assert "“I live in Turin. [laughs]”" in shown.out
    for word in ("extract_important_now v1 no match", "✗ payload.importance > 0.7 is missing", "gathered"):
        assert word in shown.out
    assert '✓ payload.role in ["user", "assistant"] is "user"' in shown.out
    place = imprint("events", "trace", "m1", "--json").json["event"]["seq"]
    assert imprint("events", "trace", str(place)).out == shown.out
    assert "There is no event" in imprint("events", "trace", str(place + 1_000)).err


def test_a_trace_of_what_was_never_published_fails(imprint: Imprint) -> None:
    assert imprint("events", "trace", "nothing").code == 1
