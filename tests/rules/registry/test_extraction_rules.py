"""Which rules would have a conversation read, by whom, and what would keep them from it."""

from __future__ import annotations

from datetime import UTC, datetime

from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Json
from rules.engine.similarity import Meanings
from rules.registry import extraction_rules, store
from rules.registry.extraction_rules import ReadingRule
from tests.rules.samples import a_document, a_leaf
from tests.samples import TENANT

SAID: Json = {"session_id": "preview", "user_id": "ada", "role": "user", "content": "the cat sleeps"}
EXTRACT: Json = {"actions": [{"action_type": "run_agent", "target": "memory_extractor"}]}


def reading(app: Database, count: int = 1, **fields: object) -> dict[str, ReadingRule]:
    with app.tenant(TENANT) as tx:
        if fields:
            store.save(tx, TENANT, a_document(name="mine", event_type="message.*", **EXTRACT, **fields), author="test")
        conversation = extraction_rules.read(tx, TENANT, {**SAID}, count, datetime.now(UTC))
    return {one.rule: one for one in extraction_rules.explain(conversation, Meanings(HashEmbedder()))}


def test_the_default_rules_read_while_chatting_and_at_the_end(app: Database) -> None:
    few, many = reading(app), reading(app, count=3)
    assert set(few) == {"extract_while_chatting", "extract_important_now", "consolidate_on_session_end"}
    assert (few["consolidate_on_session_end"].matched, many["consolidate_on_session_end"].matched) == (False, True)
    assert (few["extract_while_chatting"].agent, few["extract_while_chatting"].waits_for) == (
        "memory_extractor",
        ["debounce"],
    )


def test_a_rule_for_a_family_of_events_is_named_if_it_matches(app: Database) -> None:
    met = reading(app, conditions=a_leaf("means", "the cat sleeps", field="payload.content", threshold=0.9))
    assert (met["mine"].event_type, met["mine"].matched, met["mine"].held_by) == ("message.added", True, None)
    assert "mine" not in reading(app, conditions=a_leaf("==", "tool", field="payload.role"))


def test_what_holds_a_rule_back_is_told(app: Database) -> None:
    assert reading(app, enabled=False)["mine"].held_by == "disabled"
