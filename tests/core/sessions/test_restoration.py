"""Restored messages stand behind those that are there, are not read again, and touch nobody else's."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.events.log import Cause
from core.sessions import restoration, sessions
from core.sessions.restoration import RestoredMessage, RestoredSession
from core.storage.db import Database
from tests.factories import MET, NOON
from tests.samples import TENANT, accept, said


def a_message(id_: str, session: str = "s1", **more: Any) -> RestoredMessage:
    fields: dict[str, Any] = {
        "group_id": None, "agent_id": None, "role": "user", "speaker": None, "content": f"I am {id_}.",
        "occurred_at": NOON, "importance": None, "extras": None, "audience_labels": (), "hidden": False,
    }  # fmt: skip
    return RestoredMessage(session_id=session, id=id_, **(fields | more))


def restored(app: Database, *messages: RestoredMessage, user: str = "ada") -> list[str]:
    with app.tenant(TENANT) as tx:
        return list(restoration.restore_messages(tx, TENANT, user, messages, Cause(MET)))


def test_sessions_that_are_there_stay_and_those_of_others_are_told_apart(app: Database) -> None:
    accept(app, said("Hi.", session="s1"), said("Hi.", session="s2", user="bob"))
    asked = [RestoredSession(name, None, NOON, None, {"a": 1}) for name in ("s1", "s2", "s3")]
    with app.tenant(TENANT) as tx:
        assert restoration.restore_sessions(tx, TENANT, "ada", asked) == ["known", "of another", "restored"]
        assert (sessions.get(tx, "s1").state, sessions.get(tx, "s3").state) == ({}, {"a": 1})


def test_messages_are_appended_once_as_read_already(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        restoration.restore_sessions(tx, TENANT, "ada", [RestoredSession("s1", None, NOON, None, {})])
    assert (
        restored(app, a_message("m1", hidden=True), a_message("m2", audience_labels=("finance",))) == ["restored"] * 2
    )
    assert restored(app, a_message("m2"), a_message("m3")) == ["known", "restored"]
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
        hidden = tx.execute(text("SELECT message_id FROM hidden_messages")).scalars().all()
        waiting = tx.execute(text("SELECT count(*) FROM events WHERE routed_at IS NULL")).scalar_one()
        told = tx.execute(text("SELECT count(*) FROM events WHERE event_type = 'message.imported'")).scalar_one()
    assert (session.message_count, session.extracted_to, session.indexed_to) == (3, 3, 0)
    assert (hidden, waiting, told) == (["m1"], 0, 3)


def test_what_is_still_to_be_read_of_a_session_is_not_skipped(app: Database) -> None:
    accept(app, said("Not read yet.", session="s1", message_id="m0"))
    restored(app, a_message("m1"))
    with app.tenant(TENANT) as tx:
        assert (sessions.get(tx, "s1").message_count, sessions.get(tx, "s1").extracted_to) == (2, 0)


def test_nobody_writes_into_the_session_of_another_but_into_that_of_a_group(app: Database) -> None:
    accept(app, said("Mine.", session="s1", user="bob", message_id="m1"))
    accept(app, said("Ours.", session="g", user="bob", group_id="club", message_id="m1"))
    found = restored(app, a_message("m9"), a_message("m1", "g"), a_message("m2", "g", group_id="club"))
    assert found == ["of another", "of another", "restored"]
