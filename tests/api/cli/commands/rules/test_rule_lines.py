"""A rule on one line says when it acts, and what it does."""

from __future__ import annotations

import pytest

from api.cli.commands.rules import rule_lines
from core.types import Json
from rules.registry import defaults
from tests.rules.samples import a_document

AGENT = {"action_type": "run_agent", "target": "episode_writer"}
HOOK = {"action_type": "send_webhook", "url": "https://example.com"}


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"event_type": "session.ended", "actions": [AGENT]}, "session.ended → episode_writer"),
        ({"event_type": ["a.b"], "actions": [HOOK]}, "a.b → send_webhook"),
        ({"event_type": ["a.b", "c.d"], "actions": [AGENT, HOOK]}, "2 types → episode_writer, send_webhook"),
        ({"schedule": {"cron": "0 3 * * *"}, "actions": [AGENT]}, "cron 0 3 * * * → episode_writer"),
        (
            {"schedule": {"every_seconds": 60, "for_each": "user"}, "actions": [AGENT]},
            "every 60 s for each user → episode_writer",
        ),
    ],
)
def test_when_and_what(fields: Json, line: str) -> None:
    assert rule_lines.when_and_what(fields) == line


def test_one_that_is_disabled_has_no_mode() -> None:
    approved = a_document(action_mode="approve")
    assert rule_lines.of_item({"name": "r", "version": 3, "rule": approved})[:3] == ["r", "v3", "approve"]
    assert rule_lines.of_item({"name": "r", "version": 3, "rule": approved | {"enabled": False}})[2] == "disabled"
    assert len(rule_lines.of_item({"name": "r", "version": 3, "rule": approved})) == len(rule_lines.COLUMNS)


def test_a_default_rule_says_its_purpose_in_one_sentence() -> None:
    found = [rule_lines.of_default(document) for document in defaults.load()]
    assert all(len(cells) == len(rule_lines.PURPOSES) and cells[2] and ". " not in cells[2] for cells in found)
    plain = a_document(description="Reads it. Then writes.")
    assert rule_lines.of_default(plain) == ["r", "auto", "Reads it"]


def test_one_without_a_description_is_described_by_what_it_does() -> None:
    document = a_document(description="")
    assert rule_lines.description(document) == rule_lines.when_and_what(document)
