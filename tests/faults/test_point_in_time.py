"""A stack under load is killed and restored to a moment; its clients repeat what they have sent.

Nothing from before the moment is lost, nothing is doubled, and what was erased since is not back.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from api.stack.postgres import Postgres
from api.stack.up import alone
from bench.stand import Stand, home_stack
from core.storage.tables import TENANT_TABLES
from tests.faults.stand import IMPATIENT, eventually
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.workers import receiver
from tests.workers.receiver import Other

pytestmark = [pytest.mark.recovery, pytest.mark.timeout(6 * PATIENCE_SECONDS)]

other = receiver.other

BATCH = 5
USERS = 4
ERASED_WORDS = {"carla": "zumbakira", "dan": "velotrix"}
"""What is said before the moment and erased after it: of a user, and in a session."""


@dataclass
class Load:
    """Orders and messages, published as fast as they are accepted, until the stack is gone."""

    stand: Stand
    sent: dict[int, datetime] = field(default_factory=dict)
    acknowledged: dict[int, datetime] = field(default_factory=dict)

    def run(self) -> None:
        number = 0
        try:
            while True:
                self.sent[number] = datetime.now(UTC)
                self.stand.call("POST", "/v1/events", batch(number))
                self.acknowledged[number] = datetime.now(UTC)
                number += 1
        except httpx.HTTPError:
            return


def batch(number: int) -> list[dict[str, Any]]:
    """An order and a message for each of five numbers."""
    events = []
    for n in range(number * BATCH, (number + 1) * BATCH):
        owner = {"session_id": f"s{n % USERS}", "user_id": f"u{n % USERS}"}
        events.append({"id": f"o{n}", "source": "load", "event_type": "order.placed", "payload": {"number": n}})
        payload = owner | {"role": "user", "content": f"Order {n} is on its way.", "message_id": f"m{n}"}
        events.append({"id": f"m{n}", "source": "load", "event_type": "message.added", "payload": payload})
    return events


def settings_of(hook: Other) -> dict[str, str]:
    return IMPATIENT | {
        "webhook_hosts": json.dumps([hook.url.removesuffix("/hook")]),
        "webhook_private_networks": json.dumps(["127.0.0.0/8"]),
    }


def prepare(stand: Stand, hook: Other) -> None:
    """Two rules on orders, and what two people have said."""
    send = {"action_type": "webhook", "url": hook.url}
    count = {"action_type": "emit", "event_type": "order.counted", "payload": {"number": "{{payload.number}}"}}
    for name, action in (("send", send), ("count", count)):
        stand.call("PUT", f"/v1/rules/{name}", {"event_type": "order.placed", "actions": [action]})
    for user, word in ERASED_WORDS.items():
        payload = {"session_id": f"s-{user}", "user_id": user, "role": "user", "content": f"I keep {word} at home."}
        ended = {"event_type": "session.ended", "source": "test", "payload": {"session_id": f"s-{user}"}}
        message = {"event_type": "message.added", "source": "test", "payload": payload}
        stand.call("POST", "/v1/events", [message, ended])
        eventually(lambda user=user: stand.call("GET", f"/v1/memories?user_id={user}")["items"])


@contextmanager
def archiving(home: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    log = folder.with_suffix(".log")
    with log.open("wb") as written:
        command = [sys.executable, "-m", "api.cli.main", "backup", str(folder), "--continuous"]
        process = subprocess.Popen(command, env={**os.environ, "IMPRINT_HOME": str(home)}, stderr=written)
    try:
        wait_until(lambda: "is complete" in log.read_text() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.kill()
        process.wait()


def kill_all(home: Path, *pids: int) -> None:
    """Kill every process of a home at once, the database first."""
    groups = [int(path.read_text().split()[0]) for path in sorted((home / "run").glob("*.pid"), reverse=True)]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue


def restore(home: Path, folder: Path, at: datetime) -> dict[str, Any]:
    command = [sys.executable, "-m", "api.cli.main", "restore", str(folder), "--at", at.isoformat(), "--json"]
    environment = {**os.environ, "IMPRINT_HOME": str(home), "IMPRINT_EMBEDDING": "hash"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as db:
        return db.execute(query).fetchall()


def tables_with(url: str, word: str) -> list[str]:
    query = "SELECT count(*) FROM {} t WHERE strpos(lower(t::text), '{}') > 0"
    return [table.name for table in TENANT_TABLES if rows(url, query.format(table.name, word))[0][0]]


def check_restored(url: str, load: Load, at: datetime) -> set[str]:
    """Check what is there before the stack starts; return the ids of webhooks that are on record as sent."""
    there = {event_id for (event_id,) in rows(url, "SELECT id FROM events WHERE event_type = 'order.placed'")}
    before = {n for n, moment in load.acknowledged.items() if moment < at}
    after = {n for n, moment in load.sent.items() if moment > at}
    assert {f"o{n * BATCH + i}" for n in before for i in range(BATCH)} <= there
    assert not {f"o{n * BATCH + i}" for n in after for i in range(BATCH)} & there
    assert {word: tables_with(url, word) for word in [ERASED_WORDS["carla"]]} == {ERASED_WORDS["carla"]: []}
    assert "messages" not in tables_with(url, ERASED_WORDS["dan"])
    done = "SELECT tenant_id || ':' || id FROM dispatches WHERE target = 'webhook_sender' AND status = 'done'"
    return {message_id for (message_id,) in rows(url, done)}


def check_truth(url: str, total: int) -> None:
    """Check that each order and message has had each effect once."""
    counted = "SELECT count(*), count(DISTINCT {}) FROM events WHERE event_type = '{}'"
    assert rows(url, counted.format("id", "order.placed")) == [(total, total)]
    assert rows(url, counted.format("payload ->> 'number'", "order.counted")) == [(total, total)]
    sent = "SELECT count(*), count(DISTINCT event_seq), count(*) FILTER (WHERE status = 'done') FROM dispatches"
    assert rows(url, f"{sent} WHERE rule = 'send'") == [(total, total, total)]
    message = "SELECT count(*), count(DISTINCT id) FROM messages WHERE session_id IN ('s0', 's1', 's2', 's3')"
    assert rows(url, message) == [(total, total)]
    gaps = "SELECT session_id FROM messages GROUP BY session_id HAVING max(position) <> count(*)"
    assert rows(url, gaps) == []


def settled(url: str) -> bool:
    unrouted = "SELECT count(*) FROM events WHERE routed_at IS NULL"
    waiting = "SELECT count(*) FROM dispatches WHERE status IN ('pending', 'running', 'retrying') AND rule <> ''"
    return rows(url, f"SELECT ({unrouted}) + ({waiting})")[0][0] == 0


def check_webhooks(hook: Other, before_restart: int, done: set[str], total: int) -> int:
    """Check that receivers can tell repeats; return how many there were."""
    keys: defaultdict[str, list[str]] = defaultdict(list)
    for got in hook.got:
        keys[got.json["id"]].append(got.headers["idempotency-key"])
    assert len(keys) == total
    assert all(len(set(own)) == 1 for own in keys.values()), "each repeat has the key of the first"
    assert len({own[0] for own in keys.values()}) == total
    again = {got.headers["webhook-id"] for got in hook.got[before_restart:]}
    assert not again & done, "what was on record as sent is not sent again"
    return sum(len(own) - 1 for own in keys.values())


def test_a_moment_is_restored_and_everything_sent_again_has_one_effect(tmp_path: Path, other: Other) -> None:
    first, second, folder = tmp_path / "first", tmp_path / "second", tmp_path / "archive"
    settings = settings_of(other)
    with home_stack(first, **settings) as stand:
        prepare(stand, other)
        load = Load(stand)
        with archiving(first, folder) as archiver:
            thread = threading.Thread(target=load.run)
            thread.start()
            wait_until(lambda: len(load.acknowledged) >= 30 and len(other.got) >= 20)
            at = datetime.now(UTC)
            so_far = len(load.acknowledged), len(other.got)
            receipt = stand.call("DELETE", "/v1/users/carla")["receipt"]["id"]
            stand.call("DELETE", "/v1/sessions/s-dan")
            wait_until(lambda: len(load.acknowledged) >= so_far[0] + 30 and len(other.got) >= so_far[1] + 20)
            kill_all(first, stand.pid, archiver.pid)
            thread.join()
    posts = len(other.got)
    report = restore(second, folder, at)
    assert report["erasures_repeated"]["receipt"] == 1
    assert report["erasures_repeated"]["session"] == 1
    postgres = Postgres(second)
    with alone(second):
        postgres.start()
        try:
            done = check_restored(postgres.admin_url, load, at)
        finally:
            postgres.stop()
    with home_stack(second, **settings) as stand:
        for number in load.sent:
            stand.call("POST", "/v1/events", batch(number))
        wait_until(lambda: settled(stand.admin_url), every=0.5)
        total = len(load.sent) * BATCH
        check_truth(stand.admin_url, total)
        repeats = check_webhooks(other, posts, done, total)
        assert repeats > 0, "some were sent after the moment, and so twice"
        assert stand.call("GET", f"/v1/receipts/{receipt}")["receipt"]["scope"] == "user"
    print(f"{total} orders, {len(done)} webhooks on record, {repeats} sent again with the same key")
