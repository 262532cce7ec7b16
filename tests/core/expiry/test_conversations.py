"""A conversation leaves when its time is over and its work is done; what was learnt from it stays."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from tests.core.erasing import a_word, holding, rows
from tests.core.expiry.sweeping import choose, swept
from tests.samples import accept_all, ended, event, said
from tests.works import Works

KEPT_OF_MEMORIES = {"memories", "memory_versions", "events", "dispatches", "search_index", "search_changes"}


def talked(app: Database, word: str, session: str = "s1", keep_days: int | None = None) -> None:
    """A conversation of which the first message is worth a memory and all of them hold the word."""
    owned = {"session_id": session, "user_id": "ada"}
    accept_all(
        app,
        [
            event("session.started", owned | {"state": {"topic": word}, "keep_days": keep_days}),
            said("I live in Lisbon.", session=session, message_id="m1", metadata={"x": word}),
            said(f"hm, and {word}?", session=session, message_id="m2"),
            said(f"{word}, as you say", session=session, message_id="m3", role="assistant"),
            event("tool.result.added", owned | {"content": f"{word} {word}", "tool_name": "web", "message_id": "t1"}),
            event("plan.updated", owned | {"plan": [f"find {word}"]}),
        ],
    )


def finished(app: Database, works: Works, word: str, session: str = "s1", keep_days: int | None = None) -> None:
    talked(app, word, session, keep_days)
    accept_all(app, [ended(session)])
    works.settle()


def contents(app: Database) -> list[str]:
    return [row.content for row in rows(app, "SELECT content FROM memories WHERE status = 'active' ORDER BY id")]


def test_without_a_choice_nothing_leaves(app: Database, works: Works) -> None:
    word = a_word()
    finished(app, works, word)
    before = holding(app, word)
    assert swept(app) == {}
    assert holding(app, word) == before


@pytest.mark.parametrize("chosen", [{}, {"sessions_days": 0}, {"messages_days": 1}])
def test_a_conversation_leaves_no_word_behind_and_its_memories_stay(
    app: Database, works: Works, chosen: dict[str, int]
) -> None:
    word = a_word()
    finished(app, works, word, keep_days=None if chosen else 0)
    assert {"messages", "events", "units", "plans", "sessions"} <= set(holding(app, word))
    choose(app, **chosen)
    counts = swept(app)
    assert {name: counts[name] for name in ("messages", "tool_results", "sessions")} == {
        "messages": 3,
        "tool_results": 1,
        "sessions": 1,
    }
    assert [text for text in contents(app) if "Lisbon" in text]
    assert not set(holding(app, word)) - {"memories", "memory_versions"}
    assert swept(app) == {}
