"""What is left of the index, and of its counts, is what it would be had the removed rows never been there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.index import removal, search_index
from core.sessions import sessions
from core.storage.db import Database, Tx
from tests.samples import TENANT, accept, said

SPOKEN = ("I keep a parrot.", "My parrot likes dill.", "The kettle is red.", "Dill grows here.", "I play chess.")


def index(tx: Tx, session_id: str) -> None:
    session = sessions.get(tx, session_id)
    rows = search_index.plan(session, search_index.unindexed_messages(tx, session))
    search_index.put_messages(tx, TENANT, [(session, rows)])


def talk(app: Database, session: str, user: str, *contents: str, **fields: Any) -> None:
    """A conversation that is indexed; its messages are m1, m2, and so on."""
    for n, content in enumerate(contents, 1):
        accept(app, said(content, session=session, user=user, message_id=f"m{n}", **fields))
    with app.tenant(TENANT) as tx:
        index(tx, session)


def forget(app: Database, session: str, *positions: int) -> int:
    """Remove messages as an erasure does: their text first."""
    gone = [(session, f"m{position}", position) for position in positions]
    with app.tenant(TENANT) as tx:
        blank = text("UPDATE messages SET content = '' WHERE session_id = :session AND position = ANY(:positions)")
        tx.execute(blank, {"session": session, "positions": list(positions)})
        return removal.forget(tx, gone)


def weights(app: Database, session: str) -> dict[str, str]:
    with app.tenant(TENANT) as tx:
        found = text("SELECT ref, terms::text AS terms FROM search_index WHERE session_id = :session")
        return {row.ref: row.terms for row in tx.execute(found, {"session": session})}


def counts(app: Database, owner: str, *, documents: bool = True) -> dict[int, int]:
    with app.tenant(TENANT) as tx:
        found = text("SELECT term, documents FROM term_counts WHERE owner = :owner")
        counted = {row.term: row.documents for row in tx.execute(found, {"owner": owner})}
    if not documents:
        counted.pop(search_index.DOCUMENTS, None)
    return counted


def test_rows_beside_a_removed_message_weigh_as_if_it_had_been_empty(app: Database) -> None:
    talk(app, "s1", "ada", *SPOKEN)
    talk(app, "s2", "bob", *(content if n != 2 else "" for n, content in enumerate(SPOKEN, 1)))
    assert forget(app, "s1", 2) == 1
    without = {ref: terms for ref, terms in weights(app, "s2").items() if ref != "m2"}
    assert weights(app, "s1") == without
    assert counts(app, "user:ada", documents=False) == counts(app, "user:bob", documents=False)


def test_rows_farther_away_than_words_reach_are_not_touched(app: Database) -> None:
    talk(app, "s1", "ada", *SPOKEN)
    before = weights(app, "s1")
    forget(app, "s1", 1)
    after = weights(app, "s1")
    assert [ref for ref in after if after[ref] != before[ref]] == ["m2", "m3"]


def test_several_messages_are_removed_at_once_and_a_second_time_there_are_none(app: Database) -> None:
    talk(app, "s1", "ada", *SPOKEN)
    assert forget(app, "s1", 1, 2, 3, 4, 5) == 5
    assert (weights(app, "s1"), counts(app, "user:ada")) == ({}, {})
    assert forget(app, "s1", 1, 2) == 0
    with app.tenant(TENANT) as tx:
        assert removal.forget(tx, []) == 0


def test_what_a_user_said_in_a_group_counts_there_no_more_and_what_others_said_does(app: Database) -> None:
    talk(app, "s2", "bob", "I keep a parrot.", group_id="crew")
    alone = counts(app, "group:crew")
    talk(app, "s1", "ada", *SPOKEN, group_id="crew")
    assert counts(app, "group:crew") != alone
    with app.tenant(TENANT) as tx:
        assert removal.forget_user(tx, "ada") == len(SPOKEN)
    assert counts(app, "group:crew") == alone
    assert (counts(app, "user:ada"), weights(app, "s1")) == ({}, {})
    assert counts(app, "user:bob") == alone


def test_a_count_that_falls_to_nothing_is_no_row_any_more(app: Database) -> None:
    talk(app, "s1", "ada", "I keep a parrot.", "My parrot sings.")
    before = counts(app, "user:ada")
    with app.tenant(TENANT) as tx:
        removal.count_down(tx, {("user:ada", term): 1 for term in before})
    assert counts(app, "user:ada") == {term: count - 1 for term, count in before.items() if count > 1}
