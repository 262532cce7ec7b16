from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import NotFound
from core.events.publishing import Author
from core.sessions import hidden_messages, sessions
from core.storage.db import Database
from core.types import Event
from tests.core.erasing import user_erased
from tests.doors import OTHER, key_of
from tests.factories import events_since
from tests.samples import TENANT, accept, said

ADA, BOB = Author("key:ada"), Author("key:bob")


@pytest.fixture
def talk(app: Database) -> Database:
    accept(
        app, said("one", message_id="m1"), said("two", message_id="m2"), said("three", session="s2", message_id="m1")
    )
    return app


def hide(
    app: Database, message: str = "m1", author: Author = ADA, reason: str | None = None
) -> hidden_messages.HiddenMessage:
    with app.tenant(TENANT) as tx:
        return hidden_messages.hide(tx, TENANT, "s1", message, author, reason)


def restore(app: Database, message: str = "m1", author: Author = ADA) -> bool:
    with app.tenant(TENANT) as tx:
        return hidden_messages.restore(tx, TENANT, "s1", message, author)


def hidden(app: Database, session: str = "s1", tenant: str = TENANT) -> frozenset[str]:
    with app.tenant(tenant) as tx:
        return hidden_messages.hidden_ids(tx, session)


def told(app: Database) -> list[Event]:
    with app.tenant(TENANT) as tx:
        told = events_since(tx, 0, 100)
    return [e for e in told if e.event_type in {hidden_messages.HIDDEN, hidden_messages.RESTORED}]


def test_a_message_is_hidden_and_shown_again_and_stays_where_it_is(talk: Database) -> None:
    assert hidden(talk) == frozenset()
    hide(talk, reason="wrong")
    assert (hidden(talk), hidden(talk, "s2")) == (frozenset({"m1"}), frozenset())
    with talk.tenant(TENANT) as tx:
        assert [m.content for m in sessions.transcript(tx, "s1")] == ["one", "two"]
        assert sessions.get(tx, "s1").message_count == 2
    assert restore(talk)
    assert hidden(talk) == frozenset()


def test_who_hid_it_first_and_when_stays_whoever_asks_again(talk: Database) -> None:
    first = hide(talk, reason="wrong")
    assert hide(talk, author=BOB, reason="another reason") == first
    assert (first.author, first.reason, first.message_id) == ("key:ada", "wrong", "m1")
    restore(talk)
    again = hide(talk, author=BOB)
    assert (again.author, again.reason) == ("key:bob", None)
    assert again.at > first.at


def test_each_hiding_and_restoring_stands_in_the_log_once(talk: Database) -> None:
    for _ in range(2):
        hide(talk, reason="wrong")
    assert [restore(talk, author=BOB) for _ in range(2)] == [True, False]
    assert [(e.event_type, e.payload) for e in told(talk)] == [
        (hidden_messages.HIDDEN, {"session_id": "s1", "message_id": "m1", "by": "key:ada", "reason": "wrong"}),
        (hidden_messages.RESTORED, {"session_id": "s1", "message_id": "m1", "by": "key:bob"}),
    ]
    assert {e.session_id for e in told(talk)} == {"s1"}


def test_what_is_not_there_cannot_be_hidden_or_restored(talk: Database) -> None:
    for message in ("m9", ""):
        with pytest.raises(NotFound, match="There is no message"):
            hide(talk, message)
        with pytest.raises(NotFound, match="There is no message"):
            restore(talk, message)
    assert told(talk) == []


def test_another_tenant_hides_nothing_of_this_one(talk: Database, settings: Settings) -> None:
    key_of(settings, OTHER)
    with talk.tenant(OTHER) as tx, pytest.raises(NotFound):
        hidden_messages.hide(tx, OTHER, "s1", "m1", BOB)
    accept(talk, said("theirs", message_id="m1"), tenant=OTHER)
    hide(talk)
    assert hidden(talk, tenant=OTHER) == frozenset()


def test_with_the_user_the_marks_go(talk: Database, settings: Settings) -> None:
    hide(talk, reason="it says zyxomma")
    user_erased(talk, settings, "ada")
    assert hidden(talk) == frozenset()
    assert "zyxomma" not in str(told(talk))
