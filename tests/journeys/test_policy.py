"""A day of someone who runs agents: a schedule, a webhook, an approval, a backtest and a folder of rules, for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bench.stand import Stand, stack
from tests import servers
from tests.patience import PATIENCE_SECONDS
from tests.servers import Handler

NOTIFY = {"action_type": "notify", "channel": "log", "template": "{{payload.id}}"}


@dataclass
class Hook:
    """A service of somebody else that takes webhooks."""

    url: str
    got: list[tuple[dict[str, str], Any]] = field(default_factory=list)


@pytest.fixture(scope="module")
def hook() -> Iterator[Hook]:
    found = Hook("")

    class Taker(Handler):
        def do_POST(self) -> None:
            found.got.append(({name.lower(): value for name, value in self.headers.items()}, self.body()))
            self.send_response(204)
            self.end_headers()

    with servers.serving(Taker) as url:
        found.url = f"{url}/hook"
        yield found


@pytest.fixture(scope="module")
def stand(hook: Hook) -> Iterator[Stand]:
    allowed = json.dumps([hook.url.removesuffix("/hook")])
    here = {"webhook_hosts": allowed, "webhook_private_networks": '["127.0.0.0/8"]'}
    with stack(embedding="hash", webhook_secret="whsec_dGVzdA==", **here) as running:
        yield running


def command(stand: Stand, *words: str) -> str:
    """What a command prints."""
    own = {"IMPRINT_HOME": str(stand.home), "IMPRINT_URL": stand.url}
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.main", *words],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def until(holds: Any) -> Any:
    """What it answers once that is something."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (answer := holds()):
        assert time.monotonic() < end, "It did not happen."
        time.sleep(0.1)
    return answer


def publish(stand: Stand, event_type: str, **payload: Any) -> str:
    accepted = stand.call("POST", "/v1/events", {"event_type": event_type, "source": "shop", "payload": payload})
    return str(accepted["settle_token"])


def quiet(hook: Hook) -> bool:
    """Whether two and a half seconds pass in which nothing is posted."""
    before = len(hook.got)
    time.sleep(2.5)
    return len(hook.got) == before


def test_a_schedule_posts_signed_webhooks_each_due_time_once(stand: Stand, hook: Hook) -> None:
    action = {"action_type": "webhook", "url": hook.url, "payload": {"due": "{{payload.due_at}}"}}
    rule = {"name": "tick", "schedule": {"every_seconds": 1}, "actions": [action]}
    assert stand.call("POST", "/v1/rules", rule)["warnings"] == []
    until(lambda: len(hook.got) >= 4)
    stand.call("DELETE", "/v1/rules/tick")
    until(lambda: quiet(hook))
    due = [body["due"] for _, body in hook.got]
    assert len(due) == len(set(due))
    headers = hook.got[0][0]
    assert headers["webhook-signature"].startswith("v1,")
    assert len({h["webhook-id"] for h, _ in hook.got}) == len(due)
    time.sleep(1.5)
    assert len(hook.got) == len(due)


def test_what_is_held_runs_once_when_someone_agrees_and_its_actions_in_order(stand: Stand) -> None:
    rule = {
        "name": "careful",
        "event_type": "order.placed",
        "conditions": {"all": [{"field": "payload.total", "op": ">", "value": 100}]},
        "action_mode": "approve",
        "actions": [
            NOTIFY,
            {"action_type": "emit", "event_type": "order.approved", "payload": {"id": "{{payload.id}}"}},
        ],
    }
    stand.call("POST", "/v1/rules", rule)
    until(lambda: stand.call("GET", "/v1/rules/careful")["version"] == 1)
    time.sleep(3)  # A rule is in force within a second; the rest is for a machine that is busy.
    stand.settle(publish(stand, "order.placed", id="A1", total=150))
    [held] = until(lambda: stand.call("GET", "/v1/dispatches?hold=approval")["items"])
    assert held["id"][-8:] in command(stand, "approvals", "list")
    for _ in range(2):
        command(stand, "approvals", "approve", held["id"], "--comment", "looks right")
    done = until(lambda: stand.call("GET", "/v1/dispatches?rule=careful&status=done")["items"])
    until(lambda: len(stand.call("GET", "/v1/dispatches?rule=careful&status=done")["items"]) == 2)
    assert done[-1]["approval"]["comment"] == "looks right"
    assert len(stand.call("GET", "/v1/events?type=order.approved")["items"]) == 1
    notified, emitted = sorted(
        stand.call("GET", "/v1/dispatches?rule=careful&status=done")["items"], key=lambda d: d["id"]
    )
    assert notified["ended_at"] <= emitted["started_at"]


def test_a_draft_is_tried_on_the_past_before_it_is_trusted(stand: Stand, tmp_path: Path) -> None:
    for number in range(5):
        token = publish(stand, "ticket.opened", id=f"T{number}", user_id="ada")
    stand.settle(token)
    draft = {
        "name": "calm",
        "event_type": "ticket.*",
        "flow": {"throttle": {"limit": 2, "per_seconds": 3600}},
        "actions": [NOTIFY],
    }
    before = stand.call("GET", "/v1/stats")
    result = stand.call("POST", "/v1/rules/backtest", {"rule": draft})
    assert (result["matched"], result["fired"], result["held"]) == (5, 2, {"throttle": 3})
    assert stand.call("GET", "/v1/stats")["dispatches"] == before["dispatches"]
    file = tmp_path / "calm.json"
    file.write_text(json.dumps(draft))
    assert "throttle" in command(stand, "rules", "backtest", str(file))


def test_a_folder_of_rules_goes_out_and_in_again_byte_for_byte(stand: Stand, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    command(stand, "rules", "export", str(first))
    assert "Nothing to change" in command(stand, "rules", "apply", str(first), "--yes")
    command(stand, "rules", "export", str(second))
    names = sorted(file.name for file in first.iterdir())
    assert "consolidate_on_session_end.json" in names
    assert [(second / name).read_bytes() for name in names] == [(first / name).read_bytes() for name in names]


def test_a_rollback_is_a_new_version_in_force_everywhere(stand: Stand) -> None:
    name = "/v1/rules/extract_important_now"
    stand.call("PATCH", name, {"enabled": False})
    assert stand.call("POST", f"{name}/rollback", {"version": 1})["version"] == 3
    history = stand.call("GET", f"{name}/versions")["items"]
    assert [v["version"] for v in history] == [3, 2, 1]
    assert '"enabled": false' in history[1]["diff"]
