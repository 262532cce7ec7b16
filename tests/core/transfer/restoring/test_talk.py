"""Sessions, messages and plans are stored once, without secrets, and not where they were erased."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text

from core.config import Settings
from core.sessions import sessions
from core.storage.db import Database
from core.transfer import imports
from core.transfer.restoring import talk
from core.transfer.restoring.context import ERASED, ErasedUntil
from tests.core.transfer.restoring.contexts import begun, read
from tests.core.transfer.rich import NOON, SECRET, a_message, a_session
from tests.samples import TENANT

THEN = datetime.fromisoformat(NOON)

NEVER = ErasedUntil(None, {})


def a_plan(**fields: Any) -> dict[str, Any]:
    step = {"id": "1", "title": "Rent a room", "status": "done", "steps": []}
    return {
        "session_id": "s1", "id": "p1", "group_id": None, "goal": "Open the workshop", "status": "in_progress",
        "steps": [step], "current": None, "version": 3, "updated_at": NOON, **fields,
    }  # fmt: skip


def test_what_is_there_is_known_and_what_was_erased_stays_away(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings)
    late = (THEN + timedelta(days=1)).isoformat()
    batch = read("sessions", a_session("s1"), a_session("s2") | {"started_at": late})
    with app.tenant(TENANT) as tx:
        assert list(talk.write_sessions(tx, context, batch, ErasedUntil(THEN, {}))) == ["restored", ERASED]
        assert list(talk.write_sessions(tx, context, batch, NEVER)) == ["restored", "known"]


def test_messages_are_found_by_their_words_and_by_their_place_in_the_archive(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings)
    batch = read("messages", a_message("s1", 1), a_message("s1", 2), a_message("elsewhere", 1))
    with app.tenant(TENANT) as tx:
        list(talk.write_sessions(tx, context, read("sessions", a_session("s1")), NEVER))
        fates = list(talk.write_messages(tx, context, batch, NEVER))
        assert fates[:2] == ["restored", "restored"]
        session = sessions.get(tx, "s1")
        assert (session.message_count, session.indexed_to) == (2, 2)
        found = imports.places(tx, context.import_id, "messages", [("s1", 1), ("s1", 2), ("s1", 3)])
        assert found == {("s1", 1): "m1", ("s1", 2): "m2"}
        imports.cancel(tx, context.import_id)
    again, _ = begun(app, settings, b"another")
    with app.tenant(TENANT) as tx:
        assert list(talk.write_messages(tx, again, batch[:2], NEVER)) == ["known", "known"]


def test_a_plan_is_stored_without_its_secrets_and_only_where_its_session_is(app: Database, settings: Settings) -> None:
    context, _ = begun(app, settings)
    batch = read("plans", a_plan(goal=f"Use {SECRET}"), a_plan(session_id="s9"))
    with app.tenant(TENANT) as tx:
        list(talk.write_sessions(tx, context, read("sessions", a_session("s1")), NEVER))
        assert list(talk.write_plans(tx, context, batch, ErasedUntil(THEN, {}))) == [ERASED, ERASED]
        assert list(talk.write_plans(tx, context, batch, NEVER)) == ["restored", "known"]
        ((goal, version),) = tx.execute(text("SELECT goal, version FROM plans")).all()
    assert goal.startswith("Use ")
    assert SECRET not in goal
    assert version == 3
