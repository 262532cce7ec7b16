from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text

from core.index.resident import excerpt
from core.index.resident.excerpt import Excerpt, Name
from core.index.resident.loading import MESSAGES_AND_MEMORIES, Rows
from core.storage.db import Database
from tests.core.index.resident.kept import DIMENSION, living
from tests.core.search.searching import remember
from tests.samples import TENANT, accept_all, said
from tests.works import Works

ADA = Rows("ada", None, MESSAGES_AND_MEMORIES)


def loaded(app: Database, names: Sequence[Name], around: int = 0) -> Excerpt:
    with app.tenant(TENANT) as tx:
        return excerpt.load(tx, ADA, names, DIMENSION, around)


def spoken(app: Database, works: Works) -> None:
    accept_all(app, [said(f"I speak of tea {n}.", message_id=f"m{n}") for n in range(1, 8)])
    works.settle(flush=False)


def cite(app: Database, *messages: str) -> str:
    """A memory that cites these messages of session s1."""
    add = remember(app, f"Ada spoke of {', '.join(messages)}.")
    with app.tenant(TENANT) as tx:
        found = tx.execute(
            text("SELECT id FROM memories WHERE content = :c"), {"c": add.candidate.content}
        ).scalar_one()
        tx.execute(text("DELETE FROM evidence WHERE memory_id = :id"), {"id": found})
        for one in messages:
            tx.execute(_CITE, {"id": found, "message": one})
    return str(found)


_CITE = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    VALUES (current_setting('imprint.tenant'), :id, 's1', :message, 'e', 'q')
""")


def key(n: int) -> str:
    return f"s1\x1fm{n}"


def test_an_excerpt_has_what_its_rows_cite_and_what_cites_them_and_no_more(app: Database, works: Works) -> None:
    spoken(app, works)
    first, second, third = cite(app, "m1", "m2"), cite(app, "m2", "m3"), cite(app, "m5")
    assert living(loaded(app, [("memory", "", first)])) == {first, key(1), key(2)}
    found = loaded(app, [("message", "s1", "m2")])
    assert living(found) == {key(2), first, second}
    pairs = {(found.keys[a], found.keys[b]) for a, b in zip(found.citing, found.cited, strict=True)}
    assert pairs == {(first, key(2)), (second, key(2))}
    assert third not in living(found)


def test_neighbours_come_with_the_best_messages_alone(app: Database, works: Works) -> None:
    spoken(app, works)
    third = cite(app, "m6")
    names: list[Name] = [("message", "s1", "m2"), ("memory", "", third)]
    assert living(loaded(app, names, around=1)) == {key(1), key(2), key(3), key(4), key(6), third}
    assert living(loaded(app, names[::-1], around=1)) == {key(2), key(4), key(5), key(6), key(7), third}


def test_a_message_is_retired_if_all_that_cite_it_are_superseded_whether_they_are_here_or_not(
    app: Database, works: Works
) -> None:
    spoken(app, works)
    old, kept = cite(app, "m1", "m2"), cite(app, "m2")
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET status = 'superseded' WHERE id = cast(:id AS uuid)"), {"id": old})
    found = loaded(app, [("memory", "", old)])
    assert living(found) == {old, key(1), key(2)}
    assert kept not in living(found)
    assert set(found.keys[found.retired]) == {key(1)}
    assert set(found.keys[found.outdated]) == {key(1), key(2)}


def test_names_of_nothing_and_of_others_rows_are_left_out(app: Database, works: Works) -> None:
    spoken(app, works)
    remember(app, "Ben likes tea.", user="ben")
    with app.tenant(TENANT) as tx:
        bens = tx.execute(text("SELECT id FROM memories WHERE user_id = 'ben'")).scalar_one()
    names: list[Name] = [("memory", "", str(bens)), ("message", "s9", "m1"), ("message", "s1", "m1")]
    found = loaded(app, names)
    assert str(bens) not in living(found)
    assert key(1) in living(found)
    assert len(loaded(app, [])) == 0
