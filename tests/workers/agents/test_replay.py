"""A replay decides page by page, each once, and waits while much of it is still to be carried out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.dispatches import replays
from core.dispatches.replays import NewReplay
from core.errors import Conflict, Never
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Json
from rules.backtest import selection
from rules.backtest.selection import EventSelector
from rules.registry import store
from tests.factories import a_job
from tests.samples import TENANT, accept, event
from tests.works import Works, run_one
from workers.agents import replay
from workers.tools import Tools

EMIT = {"action_type": "emit", "event_type": "order.seen", "payload": {"n": "{{payload.n}}"}}
WAITS: Json = {
    "name": "waits",
    "event_type": "order.placed",
    "flow": {"debounce": {"seconds": 60, "key": ["payload.user_id"]}, "throttle": {"limit": 2, "per_seconds": 3600}},
    "actions": [EMIT],
}
PLAIN: Json = {"name": "plain", "event_type": "order.placed", "actions": [EMIT]}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "PAGE", 3)


def happened(app: Database, works: Works, count: int = 10) -> None:
    """Orders of two users in turn, in bursts of four."""
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    at = [(noon + timedelta(seconds=20 * n + 200 * (n // 4))).isoformat() for n in range(count)]
    orders = [event("order.placed", {"user_id": f"u{n % 2}", "n": n}, id=f"o{n}", time=at[n]) for n in range(count)]
    accept(app, *orders)
    works.settle()


def save(app: Database, *documents: Json) -> None:
    with app.tenant(TENANT) as tx:
        for document in documents:
            store.save(tx, TENANT, document, author="test")


def begun(app: Database, *names: str, mode: replays.Mode = "live") -> UUID:
    wanted = EventSelector(types=("order.placed",))
    with app.tenant(TENANT) as tx:
        extent = selection.measure(tx, wanted, 1_000)
        rules = [[rule.name, rule.version] for rule in store.get_all(tx, names)]
        params = {"filter": wanted.as_json(), "rules": rules}
        new = NewReplay(mode, params, extent.events, wanted.after, extent.last_seq, extent.more, None, "")
        return replays.request(tx, TENANT, new, Author("test"), limit=9)[0]


def standing(app: Database, replay_id: UUID) -> replays.ReplayStanding:
    with app.tenant(TENANT) as tx:
        return replays.get(tx, replay_id)


def rows(app: Database, query: str, **values: Any) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text(query), values))


def decisions(app: Database, replay_id: UUID) -> list[tuple[Any, ...]]:
    query = """
        SELECT e.id, d.rule, d.verdict, d.reason FROM replay_decisions d JOIN events e ON e.seq = d.event_seq
        WHERE d.replay_id = :id ORDER BY e.seq, d.rule
    """
    return [tuple(row) for row in rows(app, query, id=replay_id)]


def gathered(app: Database, replay_id: UUID) -> list[list[str]]:
    query = "SELECT params -> 'gathered' AS ids FROM dispatches WHERE replay_id = :id AND rule = 'waits' ORDER BY id"
    return [row.ids for row in rows(app, query, id=replay_id)]


def test_pages_decide_as_one_would(app: Database, works: Works, monkeypatch: pytest.MonkeyPatch) -> None:
    happened(app, works)
    save(app, WAITS, PLAIN)
    whole = begun(app, "waits", "plain")
    works.settle()
    monkeypatch.setattr(replay, "PAGE", 3)
    paged = begun(app, "waits", "plain")
    works.settle()
    assert decisions(app, paged) == decisions(app, whole)
    assert gathered(app, paged) == gathered(app, whole)
    assert max(map(len, gathered(app, paged))) > 1
    first, second = standing(app, whole), standing(app, paged)
    assert first.row.counts == second.row.counts
    assert first.row.counts["waits"]["held"]["throttle"] > 0
    assert second.row.flow is None
    ran = rows(app, "SELECT id FROM dispatches WHERE target = 'event_replayer' AND event_seq = :seq", seq=second.seq)
    assert len(ran) == 4


@pytest.mark.usefixtures("small_pages")
def test_a_page_that_another_attempt_has_written_is_not_written_again(
    app: Database, works: Works, settings: Settings
) -> None:
    happened(app, works)
    save(app, PLAIN)
    replay_id = begun(app, "plain")
    tools = a_job_of(works, settings, replay_id)
    outcome, again = (replay.replay_events(*tools) for _ in range(2))
    with app.tenant(TENANT) as tx:
        outcome.pending.write(tx, Author("test"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        again.pending.write(tx, Author("test"))
    assert len(decisions(app, replay_id)) == 3


@pytest.mark.usefixtures("small_pages")
def test_one_that_is_cancelled_between_two_pages_stops(app: Database, works: Works, settings: Settings) -> None:
    happened(app, works)
    save(app, PLAIN)
    replay_id = begun(app, "plain")
    outcome = replay.replay_events(*a_job_of(works, settings, replay_id))
    with app.tenant(TENANT) as tx:
        replays.cancel(tx, replay_id, Author("test"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        outcome.pending.write(tx, Author("test"))
    works.settle()
    assert standing(app, replay_id).row.decided == 0


def a_job_of(works: Works, settings: Settings, replay_id: UUID) -> tuple[Any, Any]:
    tools = Tools(works.ledger.db, HashEmbedder(), settings, actions=works.router.shop)
    return tools, a_job(replay_id=str(replay_id))


def test_it_waits_while_much_of_it_is_to_be_carried_out(
    app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened(app, works)
    save(app, PLAIN)
    replay_id = begun(app, "plain")
    monkeypatch.setattr(replay, "MOST_OPEN", 0)
    works.settle()
    assert standing(app, replay_id).row.decided == 0
    [waiting] = rows(app, "SELECT * FROM dispatches WHERE target = 'event_replayer' AND ended_at IS NULL")
    assert (waiting.status, waiting.attempt) == ("pending", 0)
    assert "still to be carried out" in waiting.error
    monkeypatch.setattr(replay, "MOST_OPEN", 400)
    for owed in run_one(works.ledger, TENANT, waiting.id):
        run_one(works.ledger, TENANT, owed.id)
    assert standing(app, replay_id).row.status == "done"


@pytest.mark.usefixtures("small_pages")
def test_a_rule_that_was_switched_off_meanwhile_acts_no_more_and_an_edit_changes_nothing(
    app: Database, works: Works
) -> None:
    happened(app, works, 6)
    save(app, PLAIN, PLAIN | {"name": "other"})
    replay_id = begun(app, "plain", "other")
    save(app, PLAIN | {"enabled": False}, PLAIN | {"name": "other", "event_type": "nothing"})
    works.settle()
    counts = standing(app, replay_id).row.counts
    assert counts["plain"]["held"] == {"disabled": 6}
    assert (counts["other"]["fired"], counts["other"]["dispatches"]) == (6, 6)


def test_an_action_that_cannot_be_made_is_set_aside_and_stops_nothing(
    app: Database, works: Works, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened(app, works, 2)
    save(app, PLAIN, PLAIN | {"name": "large", "actions": [EMIT | {"payload": {"x": "{{payload.n}}" * 20}}]})
    monkeypatch.setattr(replay, "PAGE", 1)
    replay_id = begun(app, "plain", "large")
    tools, _ = a_job_of(works, settings, replay_id)
    monkeypatch.setattr(type(tools.actions), "characters", 60, raising=False)
    works.settle()
    found = rows(
        app, "SELECT rule, status, action_type FROM dispatches WHERE replay_id = :id ORDER BY id", id=replay_id
    )
    assert {tuple(row) for row in found if row.rule == "plain"} == {("plain", "done", "emit")}
    assert {tuple(row) for row in found if row.rule == "large"} == {("large", "dead", "decide")}


def test_what_was_gathered_and_then_erased_from_the_log_acts_no_more(
    app: Database, works: Works, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened(app, works, 4)
    save(app, WAITS)
    monkeypatch.setattr(replay, "PAGE", 2)
    replay_id = begun(app, "waits")
    outcome = replay.replay_events(*a_job_of(works, settings, replay_id))
    with app.tenant(TENANT) as tx:
        outcome.pending.write(tx, Author("test"))
        tx.execute(text("DELETE FROM events WHERE id IN ('o0', 'o1')"))
    works.settle()
    assert standing(app, replay_id).row.status == "done"
    assert {event_id for ids in gathered(app, replay_id) for event_id in ids} == {"o2", "o3"}


def test_without_a_replay_it_says_what_it_needs(works: Works, settings: Settings) -> None:
    tools, _ = a_job_of(works, settings, UUID(int=0))
    with pytest.raises(Never, match="replay_id"):
        replay.replay_events(tools, a_job())
    assert replay.replay_events(tools, a_job(replay_id=str(UUID(int=7)))).pending.result == {"replay": "ended"}
