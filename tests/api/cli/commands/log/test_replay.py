"""`imprint events replay`: the plan, a question, the work."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from api.cli.client import read
from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.commands import Imprint, working
from tests.samples import TENANT, accept, event
from tests.works import Works

ECHO: Json = {
    "name": "echo",
    "event_type": "order.placed",
    "flow": {"cooldown": {"seconds": 60, "key": ["payload.user_id"]}},
    "actions": [{"action_type": "emit", "event_type": "order.seen", "payload": {"n": "{{payload.n}}"}}],
}
CHOSEN = ("events", "replay", "--types", "order.*", "--rule", "echo")


@pytest.fixture(autouse=True)
def yesterday(app: Database, works: Works) -> None:
    """Three orders, of which Ada's second comes too soon, and then a rule for them."""
    orders = [("ada", "10:00:00"), ("ada", "10:00:30"), ("bob", "10:01:00")]
    accept(
        app,
        *(
            event("order.placed", {"user_id": user, "n": n}, id=f"o{n}", time=f"2026-11-20T{at}Z")
            for n, (user, at) in enumerate(orders)
        ),
    )
    works.settle()
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, ECHO, author="test")


def seen(imprint: Imprint) -> int:
    trace = imprint("events", "trace", "o0", "--json").json
    return sum(len(replay["followed_by"]) for replay in trace["replays"])


def test_the_plan_says_what_acts_on_what_and_what_is_held_back(imprint: Imprint) -> None:
    said = imprint(*CHOSEN, "--mode", "plan")
    assert said.code == 0
    for words in ("3 events, 2 dispatches", "echo v1 matches 3, acts 2 times", "held back: cooldown 1", "o2"):
        assert words in said.out
    assert "event_emitter" in said.out or "emit 2 times" in said.out
    chosen = imprint(*CHOSEN, "--user", "ada", "--from", "2026-11-20T10:00:10Z", "--to", "2026-11-21", "--json").json
    assert (chosen["mode"], chosen["events"]) == ("plan", 1)
    assert imprint(*CHOSEN, "--id", "o0", "--id", "o2", "--source", "test", "--limit", "1").code == 2


def test_it_runs_and_shows_where_it_led(imprint: Imprint, works: Works) -> None:
    with working(works):
        said = imprint(*CHOSEN, "--yes")
        assert said.code == 0, said.err
        assert imprint(*CHOSEN, "--mode", "shadow", "--yes", "--json").code == 0  # The workers log to its output.
    works.settle()
    [done, _] = read("/v1/events/replays")["items"]
    assert "done, 3 of 3 events" in said.out
    assert (done["mode"], done["status"], done["rules"][0]["dispatches"]) == ("shadow", "done", 2)
    assert seen(imprint) == 1
    trace = imprint("events", "trace", "o0").out
    assert "replay live done" in trace
    assert "replay shadow done" in trace


def test_without_a_yes_nothing_is_replayed(imprint: Imprint, works: Works, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = imprint(*CHOSEN)
    assert (asked.code, "add --yes" in asked.err) == (2, True)
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("api.cli.commands.log.replay.sys", terminal)
    refused = imprint(*CHOSEN, stdin="n\n")
    assert (refused.code, "Replay 3 events live, with 2 dispatches?" in refused.out + refused.err) == (1, True)
    works.settle()
    assert seen(imprint) == 0


def test_one_that_stands_still_says_why(imprint: Imprint, app: Database, works: Works) -> None:
    with app.tenant(TENANT) as tx:
        rule = store.get(tx, "replay_on_request").document
        store.save(tx, TENANT, rule | {"enabled": False}, author="test")
    with working(works):
        said = imprint(*CHOSEN, "--yes")
    assert (said.code, "replay_on_request" in said.err) == (1, True)
    [standing] = read("/v1/events/replays")["items"]
    cancelled = imprint("events", "replay", "--cancel", standing["id"], "--json").json
    assert cancelled["status"] == "cancelled"


def test_what_is_no_mode_or_no_time_is_refused(imprint: Imprint) -> None:
    assert imprint(*CHOSEN, "--mode", "dead").code == 2
    assert imprint(*CHOSEN, "--from", "yesterday").code == 2
