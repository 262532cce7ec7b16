"""`imprint events`: nothing is missed, nothing comes twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from api.cli import events
from api.cli.client import Client
from api.cli.events import Follower
from core.config import Settings
from core.events import parsing
from core.sessions import ingest
from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.works import Works


@pytest.fixture
def client(imprint: Imprint) -> Iterator[Client]:
    assert imprint
    asking = Client(Settings())
    yield asking
    asking.close()


def ids(found: list[dict[str, object]]) -> list[object]:
    return [item["id"] for item in found]


def test_the_last_events_come_first_and_then_each_new_one_once(client: Client, app: Database) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(5)])
    follower = Follower(client, [], None, None)
    assert ids(follower.begin(2)) == ["e3", "e4"]
    assert follower.poll() == []
    accept(app, event(id="e5"), event(id="e6"))
    assert ids(follower.poll()) == ["e5", "e6"]
    assert follower.poll() == []


def test_an_event_that_was_committed_after_a_later_one_is_not_missed(client: Client, app: Database) -> None:
    follower = Follower(client, [], None, None)
    follower.begin(10)
    with app.tenant(TENANT) as slow:
        ingest.accept(slow, TENANT, parsing.check([event(id="slow")]))
        other = threading.Thread(target=accept, args=(app, event(id="fast")))
        other.start()
        other.join()
        assert ids(follower.poll()) == ["fast"]
    assert ids(follower.poll()) == ["slow"]


def test_only_the_wanted_types_come(client: Client, app: Database) -> None:
    accept(app, event("memory.created", id="a"), event("order.placed", id="b"), event("memory.erased", id="c"))
    assert ids(Follower(client, ["memory.*"], None, None).begin(10)) == ["a", "c"]
    assert ids(Follower(client, ["order.placed", "memory.*"], None, None).begin(10)) == ["a", "b", "c"]


def test_what_is_older_than_the_first_page_is_not_taken_for_new(
    client: Client, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "PAGE", 3)
    accept(app, event("memory.created", id="old"))
    accept_all(app, [event(id=f"e{n}") for n in range(8)])
    follower = Follower(client, ["order.placed", "memory.*"], None, None)
    follower.begin(1)
    assert follower.poll() == []


def test_behind_the_window_nothing_is_read_again(
    client: Client, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LATE_SECONDS", 0.0)
    follower = Follower(client, [], None, None)
    accept_all(app, [event(id=f"e{n}") for n in range(5)])
    assert len(follower.begin(10)) == 5
    asked = []
    monkeypatch.setattr(client, "get", lambda *_, **wanted: asked.append(wanted) or {"items": [], "next": None})
    assert follower.poll() == []
    assert len(follower._shown) <= 1


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
    assert "✓ payload.role in ['user', 'assistant'] is 'user'" in shown.out


def test_a_trace_of_what_was_never_published_fails(imprint: Imprint) -> None:
    assert imprint("events", "trace", "nothing").code == 1
