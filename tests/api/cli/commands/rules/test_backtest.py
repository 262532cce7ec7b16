"""`imprint rules backtest`: a file or a name, and a result that can be read."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from api.cli.commands.rules import backtest
from core.storage.db import Database
from tests.commands import Imprint
from tests.rules.samples import a_document
from tests.samples import accept_all, event

DRAFT = a_document(
    name="draft",
    event_type="order.*",
    stop=True,
    priority=5,
    flow={"cooldown": {"seconds": 3600, "key": ["payload.n"]}, "concurrency": {"limit": 1}},
    conditions={"all": [{"field": "payload.n", "op": "<", "value": 3}]},
)


@pytest.fixture(autouse=True)
def log(app: Database) -> None:
    """Four orders on the first and on the third day."""
    numbered = [(day, place, n) for day in (20, 22) for place, n in enumerate((1, 1, 2, 9))]
    orders = [
        event(payload={"n": n}, id=f"e{day}{place}", time=f"2026-11-{day}T10:00:00Z") for day, place, n in numbered
    ]
    accept_all(app, orders)


@pytest.fixture
def file(tmp_path: Path) -> str:
    place = tmp_path / "draft.json"
    place.write_text(json.dumps(DRAFT))
    return str(place)


def test_a_file_is_tried_and_the_result_can_be_read(imprint: Imprint, file: str) -> None:
    applied = Path(file).with_name("later.json")
    applied.write_text(json.dumps(a_document(name="later", event_type="order.placed")))
    assert imprint("rules", "apply", str(applied), "--yes").code == 0
    said = imprint("rules", "backtest", file, "--from", "2026-11-20T00:00:00Z", "--to", "2026-11-23T00:00:00Z")
    assert said.code == 0
    assert "draft over 8 events" in said.out
    assert "It matches 6 events and acts 4 times" in said.out
    assert "Held back: cooldown 2" in said.out
    drawn, _, samples = said.out.partition("First and last")
    bars = [line.split() for line in drawn.splitlines() if line.startswith("  2026-11-")]
    assert all(f"e{number}" in samples for number in (200, 220))
    assert [(bar[0], bar[-1]) for bar in bars] == [("2026-11-20", "2"), ("2026-11-21", "0"), ("2026-11-22", "2")]
    assert "later 6 times" in said.out
    assert "4 dispatches, time unknown" in said.out
    assert "`concurrency` is not simulated" in said.out


def test_a_rule_in_force_is_tried_by_its_name(imprint: Imprint, file: str) -> None:
    imprint("rules", "apply", file, "--yes")
    answer = imprint("rules", "backtest", "draft", "--to", "2026-11-23T00:00:00Z", "--json", "--samples", "1")
    assert answer.code == 0
    assert answer.json["fired"] == 4
    compared = answer.json["compared"]
    assert [compared[name] for name in ("version", "both", "only_draft", "only_in_force")] == [1, 4, 0, 0]
    assert len(answer.json["samples"]) == 2


def test_faults_of_the_draft_are_named_with_their_places(imprint: Imprint, tmp_path: Path) -> None:
    place = tmp_path / "broken.json"
    place.write_text(json.dumps({**DRAFT, "priority": "high"}))
    said = imprint("rules", "backtest", str(place))
    assert (said.code, "/rule/priority" in said.err) == (1, True)
    place.write_text("{")
    assert "is not JSON" in imprint("rules", "backtest", str(place)).err


def test_what_is_not_there_is_said(imprint: Imprint) -> None:
    assert "There is no file nowhere.json" in imprint("rules", "backtest", "nowhere.json").err
    assert "There is no rule 'nobody'" in imprint("rules", "backtest", "nobody").err


def test_a_time_that_is_none_is_wrong_usage(imprint: Imprint, file: str) -> None:
    assert imprint("rules", "backtest", file, "--from", "yesterday").code == 2
    assert imprint("rules", "backtest", file, "--from", "2026-11-23", "--to", "2026-11-22").code == 1


def test_many_days_are_shown_as_months() -> None:
    days = {date(2026, 1, 31): 2, date(2026, 1, 1): 1, date(2026, 4, 2): 5}
    assert backtest._bars(days) == {"2026-01": 3, "2026-02": 0, "2026-03": 0, "2026-04": 5}
