from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from core.index.resident import cache, loading
from core.index.resident.loading import MEMORIES, Rows
from core.language.terms import TERM_IDS
from core.memory import nearest_vectors
from core.storage.db import Database, run_together
from tests.core.index.resident.kept import living, view
from tests.core.search.searching import EMBEDDER, search
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, accept, accept_all, said
from tests.works import Works


def test_only_what_has_changed_is_read(app: Database, works: Works, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(app, [said(f"I speak of tea {n}.", session=f"s{n}") for n in range(20)])
    works.settle(flush=False)
    read: list[int] = []
    whole, some = cache.loading.load_few, cache.loading.load_named
    monkeypatch.setattr(cache.loading, "load_few", lambda *a: read.append(-1) or whole(*a))
    monkeypatch.setattr(cache.loading, "load_named", lambda tx, r, n, d: read.append(len(n)) or some(tx, r, n, d))
    for _ in range(3):
        search(app, "tea")
    accept(app, said("And of cake.", session="s5"))
    works.settle(flush=False)
    for _ in range(3):
        search(app, "tea")
    assert read[0] == -1
    assert len(read) == 2
    assert 1 <= read[1] <= 3


def test_written_memories_are_read_with_the_question_like_others(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = a_memory("Ada keeps three rabbits."), a_memory("Ada plays the piano.")
    carry_out(app, one, other)
    vectors, ids = EMBEDDER.embed(["Ada keeps rabbits."]), [str(one.id), str(other.id)]
    with app.tenant(TENANT) as tx:
        nearest_vectors.nearest(tx, "ada", vectors, 5)
        asked = loading.reading_memories(Rows("ada", None, MEMORIES), ids, EMBEDDER.dimension)
        sent = loading.memories_of(run_together(tx, *asked), EMBEDDER.dimension)
        named = [("memory", "", key) for key in ids]
        read = loading.load_named(tx, Rows("ada", None, MEMORIES), named, EMBEDDER.dimension)
    order, same = [sent.keys.index(key) for key in ids], [read.keys.index(key) for key in ids]
    for columns, places in ((sent, order), (read, same)):
        assert columns.vectors.values[places].tobytes() == read.vectors.values[same].tobytes()
        assert {name: of[places].tolist() for name, of in columns.fields.items()} == {
            name: of[same].tolist() for name, of in read.fields.items()
        }
        assert [columns.tags[n] for n in places] == [read.tags[n] for n in same]
        assert [columns.places[n] for n in places] == [read.places[n] for n in same]
    assert sent.terms.term_ids.tolist() == read.terms.term_ids.tolist()
    assert sorted(sent.terms.weights.tolist()) == sorted(read.terms.weights.tolist())


def test_a_worker_reads_what_it_has_written_in_no_round_trip_of_its_own(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    some = cache.loading.load_named
    monkeypatch.setattr(cache.loading, "load_named", lambda tx, r, n, d: read.append(len(n)) or some(tx, r, n, d))
    first, later = a_memory("Ada keeps three rabbits."), a_memory("Ada plays the piano.")
    carry_out(app, first)

    def nearest(said: str) -> list[UUID]:
        with app.tenant(TENANT) as tx:
            return [key for key, _ in nearest_vectors.nearest(tx, "ada", EMBEDDER.embed([said]), 1)[0]]

    assert nearest("Ada plays the piano.") == [first.id]
    carry_out(app, later)
    assert nearest("Ada plays the piano.") == [later.id]
    assert read == []
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET status = 'archived' WHERE id = :id"), {"id": first.id})
    assert nearest("Ada plays the piano.") == [later.id]
    assert read == [1], "what others have written is read by its name"


def test_no_note_names_a_message_that_is_gone(app: Database, works: Works) -> None:
    accept(app, said("My pin is 4711.", message_id="secret-1", group_id="friends"))
    works.settle(flush=False)
    with app.tenant(TENANT) as tx:
        noted = text("SELECT owner, ref FROM search_changes WHERE type = 'message'")
        assert {row.ref for row in tx.execute(noted)} == {"secret-1"}
        tx.execute(text("DELETE FROM search_index WHERE ref = 'secret-1'"))
        assert {(row.owner, row.ref) for row in tx.execute(noted)} == {("user:ada", ""), ("group:friends", "")}


def fill(app: Database, first: int, last: int, group: str | None = None) -> None:
    """Messages with their rows of the index."""
    with app.tenant(TENANT) as tx:
        tx.execute(_SAY, {"first": first, "last": last, "group": group})
        tx.execute(_FILL, {"first": first, "last": last, "group": group})


_SAY = text("""
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, group_id, role, content,
                          occurred_at)
    SELECT current_setting('imprint.tenant'), 's', n, 'm' || n, n, 'e' || n, 'ada', cast(:group AS text), 'user', 'tea',
           now()
    FROM generate_series(cast(:first AS int), cast(:last AS int)) AS n
""")

_FILL = text(f"""
    INSERT INTO search_index
        (tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, terms, own_terms)
    SELECT current_setting('imprint.tenant'), 'message', 's', 'm' || n, n, 'ada', cast(:group AS text), now(),
           '{{1:1}}/{TERM_IDS}'::sparsevec, '{{1}}'
    FROM generate_series(cast(:first AS int), cast(:last AS int)) AS n
""")


def test_many_that_are_noted_twice_are_all_read(app: Database) -> None:
    fill(app, 1, 10, "friends")
    assert len(living(view(app, "ada", "friends"))) == 10
    fill(app, 11, 1_600, "friends")  # Noted for the user and for the group.
    assert len(living(view(app, "ada", "friends"))) == 1_600
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE search_index SET timed = true"))
    seen = view(app, "ada", "friends")
    assert int(seen.fields["timed"][seen.alive].sum()) == 1_600
