from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import text

from core import changes, echo, memories
from core.change import Add, Author, Confirm, Ignore, Owner
from core.db import Database
from core.echo import Served
from core.embed import HashEmbedder
from core.errors import Conflict
from core.extract import session as extraction
from core.extract.session import Extract
from core.gateway import Gateway
from core.types import Candidate, Category, Evidence, Message, Topic
from tests.samples import TENANT, accept, said

CHESS = "Ada plays chess on Sunday with Bob."
PERSON = Author("key:test")


@pytest.fixture
def gate(app: Database) -> Gateway:
    return Gateway(app, HashEmbedder())


def believing(*roles: str) -> Extract:
    """Takes every message of these roles for a statement about Ada."""

    def extract(messages: Sequence[Message]) -> list[Candidate]:
        return [
            Candidate(
                m.content,
                Category.FACT,
                Topic.OTHER,
                "ada",
                (Evidence(m.session_id, m.id, m.event_id, m.content),),
                m.occurred_at,
            )
            for m in messages
            if m.role in roles
        ]

    return extract


def handed_out(app: Database, gate: Gateway) -> None:
    """Chess is known, and was handed out just now."""
    accept(app, said(CHESS, session="before"))
    found = extraction.session(gate, TENANT, "before", extract=believing("user"), limit=9)
    with app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
        row = tx.execute(text("SELECT id, content FROM memories")).one()
        echo.note(tx, TENANT, "ada", [Served(row.content, row.id)])


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_what_was_handed_out_and_comes_back_in_words_of_no_person_is_not_learnt(
    app: Database, gate: Gateway, role: str
) -> None:
    handed_out(app, gate)
    accept(app, said(CHESS, role=role))
    found = extraction.session(gate, TENANT, "s1", extract=believing(role), limit=9)
    ((owner, decided),) = found.changes
    assert (owner, [type(c) for c in decided]) == (Owner("ada"), [Ignore])
    with app.tenant(TENANT) as tx:
        assert found.write(tx, PERSON) == {"messages": 1, "ignored": 1}


def test_a_person_who_says_it_again_confirms_it(app: Database, gate: Gateway) -> None:
    handed_out(app, gate)
    accept(app, said(CHESS))
    found = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=9)
    assert [[type(c) for c in decided] for _, decided in found.changes] == [[Confirm]]


def test_each_statement_belongs_to_the_user_who_said_it(app: Database, gate: Gateway) -> None:
    accept(app, said("Ada plays chess."), said("Ada sings.", user="bob", group_id="g1"))
    found = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=9)
    assert {owner for owner, _ in found.changes} == {Owner("ada"), Owner("bob", "g1")}
    assert [type(c) for _, decided in found.changes for c in decided] == [Add, Add]


def test_a_session_is_read_on_from_where_it_was_left_and_once(app: Database, gate: Gateway) -> None:
    accept(app, *(said(f"Ada keeps {n} bees.") for n in range(2, 7)))
    first = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=3)
    rival = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=3)
    assert (first.read_from, first.read_to, first.more) == (0, 3, True)
    with app.tenant(TENANT) as tx:
        first.write(tx, PERSON)
    with app.tenant(TENANT) as tx, pytest.raises(Conflict):
        rival.write(tx, PERSON)
    rest = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=3)
    assert (rest.read_from, rest.read_to, rest.more) == (3, 5, False)
    with app.tenant(TENANT) as tx:
        rest.write(tx, PERSON)
        assert memories.count(tx, "ada") == 5
    nothing = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=3)
    assert (nothing.changes, nothing.more) == ([], False)


def test_where_the_writing_fails_the_session_is_read_again(
    app: Database, gate: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise Conflict

    accept(app, said(CHESS))
    found = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=9)
    with monkeypatch.context() as broken:
        broken.setattr(changes, "apply", fails)
        with pytest.raises(Conflict), app.tenant(TENANT) as tx:
            found.write(tx, PERSON)
    again = extraction.session(gate, TENANT, "s1", extract=believing("user"), limit=9)
    assert again.read_from == 0
