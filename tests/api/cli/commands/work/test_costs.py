from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.storage.db import Database
from tests.commands import Imprint
from tests.core.inference.calls import call, dispatch


def test_the_command_shows_them_with_the_total(imprint: Imprint, app: Database) -> None:
    call(app, dispatch(app, "episode_writer", "on_[end]", "ada"), cost=1.5)
    call(app, cost=0.5)
    shown = imprint("costs", "--by", "rule")
    assert shown.code == 0
    for word in ("on_[end]", "1.5000", "–", "total", "2.0000", "50 ms"):
        assert word in shown.out


def test_the_command_answers_json(imprint: Imprint, app: Database) -> None:
    call(app, model="small")
    told = imprint("costs", "--by", "model", "--json").json
    assert [one["key"] for one in told["items"]] == ["small"]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert imprint("costs", "--from", tomorrow, "--json").json["total"]["calls"] == 0


def test_the_command_says_what_it_can_add_up_by(imprint: Imprint) -> None:
    refused = imprint("costs", "--by", "colour")
    assert refused.code == 2
    assert "rule, agent, user, model" in " ".join(refused.err.split())
