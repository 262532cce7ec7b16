from __future__ import annotations

from core.sessions import sessions, transcripts
from core.storage.db import Database
from core.types import Json
from tests.core.sessions.spoken import resulted, spoken, stands
from tests.samples import TENANT, accept, said


def test_the_same_message_in_two_batches_is_one_and_the_first_counts_and_the_other_is_told(app: Database) -> None:
    accept(app, said("first", id="e1", message_id="m1"))
    tokens = stands(app).token_count
    accept(app, said("changed since", id="e2", message_id="m1"), said("first", id="e3", message_id="m1"))
    assert [m.content for m in spoken(app)] == ["first"]
    assert (stands(app).message_count, stands(app).token_count) == (1, tokens)
    with app.tenant(TENANT) as tx:
        told = transcripts.repeats(tx, sessions.message(tx, "s1", "m1"))
    assert [(one.event_id, one.differs) for one in told] == [("e2", True), ("e3", False)]


def test_what_a_tool_answers_is_a_message_of_the_session(app: Database) -> None:
    call: Json = {"tool_name": "weather", "tool_call_id": "c1", "tags": ["x"], "metadata": {"ms": 12}}
    accept(app, said("How is it outside?"), resulted("12 °C, rain", message_id="t1", id="e9", **call))
    message = spoken(app)[1]
    assert (message.role, message.content, message.id, message.event_id) == ("tool", "12 °C, rain", "t1", "e9")
    assert (message.speaker, message.position) == ("weather", 2)
    with app.tenant(TENANT) as tx:
        assert transcripts.extras(tx, "s1", "t1") == call
    assert stands(app).message_count == 2
    accept(app, resulted("another answer", message_id="t1"))
    assert [m.content for m in spoken(app)] == ["How is it outside?", "12 °C, rain"]
