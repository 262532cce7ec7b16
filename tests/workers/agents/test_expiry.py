"""The sweeper of retention: run by its rule, resumed where it was interrupted, counted."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.config import Settings
from core.expiry import conversations
from core.storage import db
from core.storage.db import Database
from rules.flow import schedules
from rules.registry import store
from rules.registry.live_rules import LiveRules
from tests.core.erasing import rows
from tests.core.expiry.sweeping import choose, swept
from tests.doors import OTHER, key_of
from tests.faults.stand import eventually
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.workers.running import run
from tests.works import Works
from workers.agents import expiry

AGO = (datetime.now(UTC) - timedelta(days=5)).isoformat()


def conversation(app: Database, messages: int, session: str = "s1", tenant: str = TENANT) -> None:
    spoken = [said(f"hm {n}", session=session, message_id=f"m{n}", time=AGO) for n in range(messages)]
    accept_all(app, [*spoken, ended(session, time=AGO)], tenant=tenant)


def counted() -> float:
    return REGISTRY.get_sample_value("imprint_expired_rows_total", {"kind": "messages"}) or 0


def tick(app: Database, queue: Database, works: Works) -> None:
    """Let the clock fire every schedule of the tenants, as ten minutes later."""
    book = LiveRules(0)
    with queue.queue() as tx:
        book.refresh(tx)
        tx.execute(text("UPDATE schedules SET fired_to = now() - interval '11 minutes' WHERE rule = 'apply_retention'"))
    for scheduled in schedules.of_all(book.sets):
        if scheduled.rule.name == "apply_retention":
            with queue.queue() as tx:
                schedules.fire(tx, scheduled, datetime.now(UTC), "latest", 100)
    works.settle()


def test_the_default_rule_sweeps_each_tenant_by_its_own_choice(
    settings: Settings, app: Database, queue: Database, works: Works
) -> None:
    key_of(settings, OTHER)
    for tenant in (TENANT, OTHER):
        conversation(app, 3, tenant=tenant)
    works.settle()
    tick(app, queue, works)
    choose(app, sessions_days=0)
    before = counted()
    tick(app, queue, works)
    assert not rows(app, "SELECT FROM messages")
    assert counted() == before + 3
    with app.tenant(OTHER) as tx:
        assert tx.execute(text("SELECT count(*) FROM messages")).scalar_one() == 3
        results = tx.execute(text("SELECT result FROM dispatches WHERE target = 'retention_sweeper'")).scalars().all()
    assert set(map(str, results)) == {"{}"}


def test_a_sweep_that_takes_long_goes_on_in_a_dispatch_of_its_own(
    app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation(app, 30)
    works.settle()
    choose(app, sessions_days=0)
    monkeypatch.setattr(conversations, "MESSAGES", 10)
    monkeypatch.setattr(expiry, "SECONDS", 1e-9)
    results = run(app, works, "retention_sweeper")
    assert len(results) > 3
    assert sum(result.get("messages", 0) for result in results) == 30
    assert not rows(app, "SELECT FROM sessions")


def test_a_place_that_no_sweep_has_returned_is_set_aside(app: Database, works: Works) -> None:
    rule = a_document(
        name="by_hand",
        event_type="order.placed",
        actions=[{"action_type": "run_agent", "target": "retention_sweeper", "params": {"after": {"stage": "x"}}}],
    )
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, rule, author="test")
    accept(app, event())
    works.settle()
    ((error,),) = rows(app, "SELECT error FROM dispatches WHERE status = 'dead'")
    assert "is not a place of a sweep" in error


INTERRUPTED = """
import sys, time
from core.expiry import conversations, sweep
from core.storage import db
conversations.MESSAGES = 10
app = db.connect(sys.argv[1], 1)
with app.tenant("acme") as tx:
    place = sweep.step(tx, "acme", sweep.BEGINNING).after
with app.tenant("acme") as tx:
    sweep.step(tx, "acme", place)
    print("in the middle", flush=True)
    time.sleep(60)
"""


def test_a_sweep_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    settings: Settings, app: Database, works: Works
) -> None:
    conversation(app, 35)
    works.settle()
    choose(app, sessions_days=0)
    url = db.app_url(settings).render_as_string(hide_password=False)
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, url], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "in the middle\n"
        killed.kill()
    eventually(lambda: len(rows(app, "SELECT FROM messages")) == 25)  # Its server notices late that it was killed.
    eventually(lambda: not swept(app))
    assert not rows(app, "SELECT FROM sessions")
    ((total,),) = rows(app, "SELECT total FROM expiries WHERE kind = 'messages'")
    assert total == 35


def test_a_sweep_while_people_talk_holds_nobody_up(app: Database, works: Works) -> None:
    conversation(app, 3)
    works.settle()
    choose(app, messages_days=1)
    accept(app, said("and on it goes", message_id="new", time=datetime.now(UTC).isoformat()))
    assert swept(app)["messages"] == 3
    works.settle()
    assert [row.content for row in rows(app, "SELECT content FROM messages WHERE content <> ''")] == ["and on it goes"]
