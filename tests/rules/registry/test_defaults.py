from __future__ import annotations

from pathlib import Path

import pytest

from bench import default_rules
from core.types import Json
from rules.document.schema import parse
from rules.document.targets import TARGETS as AGENTS
from rules.engine.ruleset import Ruleset
from rules.registry import defaults
from tests.rules.samples import an_event

DOCUMENTS = {str(document["name"]): document for document in defaults.load()}


def test_the_rule_of_the_contract_is_there_word_for_word() -> None:
    assert DOCUMENTS["consolidate_on_session_end"] == {
        "name": "consolidate_on_session_end",
        "event_type": "session.ended",
        "conditions": {"all": [{"field": "payload.message_count", "op": ">=", "value": 3}]},
        "action_mode": "auto",
        "actions": [{"action_type": "run_agent", "target": "memory_consolidator"}],
        "risk_level": "low",
    }


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_default_rule_is_right_and_explains_itself(name: str) -> None:
    rule = parse(DOCUMENTS[name], AGENTS)
    assert len(rule.description) > 100 or name == "consolidate_on_session_end"


@pytest.mark.parametrize(
    ("event_type", "payload", "met"),
    [
        ("session.ended", {"message_count": 3}, ["consolidate_on_session_end"]),
        ("session.ended", {"message_count": 2}, []),
        ("session.ended", {}, []),
        ("message.added", {"role": "user", "content": "I moved."}, ["extract_while_chatting", "write_units"]),
        ("message.added", {"role": "assistant", "content": "Where to?"}, ["extract_while_chatting", "write_units"]),
        ("message.added", {"role": "user", "content": ""}, []),
        ("message.added", {"role": "system", "content": "Be kind."}, []),
        ("message.added", {"role": "tool", "content": "{}", "importance": 0.7}, []),
        ("message.added", {"role": "tool", "content": "{}", "importance": 0.71}, ["extract_important_now"]),
        ("memory.recalled", {"memory_ids": []}, ["reinforce_recalled"]),
        ("clock.ticked", {"rule": "forget_nightly"}, ["forget_nightly"]),
        ("clock.ticked", {"rule": "close_idle_sessions"}, ["close_idle_sessions"]),
        ("plan.updated", {"plan": ["a"]}, ["track_plans"]),
        ("document.added", {"document_id": "d1"}, ["embed_documents"]),
        (
            "message.added",
            {"role": "assistant", "content": "Plan:\n1. Buy eggs\n2. Boil them"},
            ["extract_while_chatting", "track_plans", "write_units"],
        ),
        ("clock.ticked", {"rule": "keep_within_limits"}, ["keep_within_limits"]),
        (
            "message.added",
            {"role": "user", "content": "I moved.", "importance": 1},
            ["extract_important_now", "extract_while_chatting", "write_units"],
        ),
    ],
)
def test_the_default_rules_meet_what_they_are_for(event_type: str, payload: Json, met: list[str]) -> None:
    ruleset = Ruleset([(parse(document, AGENTS), 1) for document in DOCUMENTS.values()])
    verdicts = ruleset.decide(an_event(payload, event_type=event_type))
    assert [verdict.name for verdict in verdicts if verdict.fired] == met


def test_the_end_of_a_session_ends_the_wait_of_that_session() -> None:
    ruleset = Ruleset([(parse(document, AGENTS), 4) for document in DOCUMENTS.values()])
    waiting = ("extract_while_chatting", "summarize_long_sessions", "write_units")
    flushed = ruleset.flushed_by(an_event(event_type="session.ended"))
    assert flushed == [(name, 4, "session:s1") for name in waiting]


def test_the_page_of_default_rules_is_made_from_them(root: Path) -> None:
    written = (root / "docs" / "default-rules.md").read_text()
    assert written == default_rules.page(), "Run `python -m bench.default_rules > docs/default-rules.md`."


def test_every_default_rule_has_its_row_and_its_description() -> None:
    page = default_rules.page()
    for document in defaults.load():
        name = document["name"]
        assert page.count(f"| [{name}](#{name}) |") == 1
        assert page.count(f"\n## {name}\n") == 1
        assert str(document.get("description", "")) in page
