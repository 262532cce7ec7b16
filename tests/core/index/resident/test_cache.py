from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from core.config import Settings
from core.erasure import user as erasure_user
from core.errors import Conflict
from core.events.publishing import Author
from core.index.resident import cache, vectors
from core.memory import writer
from core.memory.changes import Archive, Edit, Owner, Restore
from core.search import filters, query
from core.search.question import Question
from core.storage import db
from core.storage.db import Database, run_together
from tests.core.index.resident.kept import DIMENSION, WORDS, answered, at_hand, cold, living, view
from tests.core.memory.writing import an_add
from tests.core.search.searching import EMBEDDER, contents, remember, search
from tests.factories import a_candidate
from tests.samples import TENANT, accept, accept_all, said
from tests.works import Works


class Life:
    """What happens to a user's memories and messages, one thing after the other."""

    def __init__(self, app: Database, works: Works) -> None:
        self.app, self.works, self.messages = app, works, 0

    def said(self, n: int) -> None:
        self.messages += 1
        accept(self.app, said(f"I speak of {WORDS[n % 6]} and {self.messages}.", session=f"s{n % 3}"))

    def settled(self, _n: int) -> None:
        self.works.settle(flush=False)

    def remembered(self, n: int) -> None:
        self.messages += 1
        candidate = a_candidate(f"Ada knows {WORDS[n % 6]} {self.messages}.", self.messages)
        self._carry_out(an_add(candidate))

    def edited(self, n: int) -> None:
        if (row := self._one(n)) is not None:
            self._carry_out(Edit(row.id, row.version, {"content": f"{row.content} And {WORDS[n % 6]}."}, "more"))

    def weighed(self, n: int) -> None:
        if (row := self._one(n)) is not None:
            self._carry_out(Edit(row.id, row.version, {"importance": (n % 10) / 10, "tags": [WORDS[n % 6]]}, "so"))

    def archived(self, n: int) -> None:
        if (row := self._one(n)) is not None:
            self._carry_out(Archive(row.id, row.version, "old"))

    def restored(self, n: int) -> None:
        if (row := self._one(n, "archived")) is not None:
            self._carry_out(Restore(row.id, row.version, "again"))

    def witnessed(self, n: int) -> None:
        if (row := self._one(n)) is not None:
            with self.app.tenant(TENANT) as tx:
                tx.execute(_EVIDENCE, {"memory": row.id, "session": f"s{n % 3}", "message": f"m{n}"})

    def erased(self, n: int) -> None:
        with self.app.tenant(TENANT) as tx:
            row = tx.execute(
                text("SELECT session_id, ref FROM search_index WHERE type = 'message' OFFSET :n"), {"n": n}
            )
            if (one := row.first()) is not None:
                tx.execute(_UNINDEX, {"session": one.session_id, "ref": one.ref})

    def dropped(self, n: int) -> None:
        if (row := self._one(n)) is not None:
            with self.app.tenant(TENANT) as tx:
                tx.execute(text("DELETE FROM search_index WHERE ref = cast(:id AS text)"), {"id": row.id})
                tx.execute(text("DELETE FROM evidence WHERE memory_id = :id"), {"id": row.id})
                tx.execute(text("DELETE FROM memories WHERE id = :id"), {"id": row.id})

    def _one(self, n: int, status: str = "active") -> Any:
        with self.app.tenant(TENANT) as tx:
            wanted = text("SELECT * FROM memories WHERE status = :status ORDER BY id OFFSET :n LIMIT 1")
            return tx.execute(wanted, {"status": status, "n": n % 4}).first()

    def _carry_out(self, *what: Any) -> None:
        # What others say already cannot be said again.
        with contextlib.suppress(Conflict), self.app.tenant(TENANT) as tx:
            writer.apply(tx, TENANT, Owner("ada"), list(what), Author("test"))


_EVIDENCE = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    VALUES (current_setting('imprint.tenant'), :memory, :session, :message, 'e', 'q') ON CONFLICT DO NOTHING
""")
_UNINDEX = text("DELETE FROM search_index WHERE type = 'message' AND session_id = :session AND ref = :ref")
HAPPENINGS = "said settled remembered edited weighed archived restored witnessed erased dropped".split()
LIVES = st.lists(st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 9)), min_size=3, max_size=14)
TRIED = trying(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(LIVES)
@TRIED
def test_what_is_kept_answers_as_what_is_read_anew(
    app: Database, works: Works, happening: list[tuple[str, int]]
) -> None:
    lived(app, works, happening, session_id="s1")


@given(LIVES)
@TRIED
def test_what_is_kept_in_the_forms_of_a_large_store_answers_as_what_is_read_anew(
    app: Database, works: Works, happening: list[tuple[str, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        # All are named that have a vector: which of the last few are, hangs on what is kept in which layer.
        for module, name, value in ((vectors, "SIGNS_FROM", 2), (vectors, "BLOCK", 3), (filters, "READ_ALL", 3)):
            patched.setattr(module, name, value)
        patched.setattr(db, "CHUNK_ROWS", 2)
        lived(app, works, happening, min_similarity=0.2)


def lived(app: Database, works: Works, happening: list[tuple[str, int]], **also: Any) -> None:
    """What happens, one thing after the other, and after each the same question with and without a filter."""
    life = Life(app, works)
    for name, n in happening:
        getattr(life, name)(n)
        words = f"What about {WORDS[n % 6]}?"
        kept, filtered = answered(app, words), answered(app, words, **also)
        cold(app)
        assert answered(app, words) == kept
        # From here on the shelf is the new one; a second question finds it as it is.
        assert answered(app, words) == kept
        assert answered(app, words, **also) == filtered


def test_what_was_not_committed_yet_is_found_once_it_is(app: Database) -> None:
    remember(app, "Ada likes tea.", importance=0.2)
    matters = {"include": frozenset({"memories"}), "min_importance": 0.8}
    with app.tenant(TENANT) as late:
        late.execute(text("UPDATE memories SET importance = 0.9"))
        remember(app, "Ada sails a ship.")
        assert len(living(view(app))) == 2
        assert search(app, "tea", **matters) == []
    assert contents(search(app, "tea", **matters)) == ["Ada likes tea."]


def test_what_was_rolled_back_is_never_found(app: Database) -> None:
    remember(app, "Ada likes tea.")
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, Owner("ada"), [an_add(a_candidate("Ada has a cat.", 7))], Author("test"))
        tx.rollback()
    assert len(living(view(app))) == 1


def test_another_tenant_with_a_user_of_the_same_name_finds_nothing(app: Database) -> None:
    remember(app, "Ada likes tea.")
    assert contents(search(app, "tea")) == ["Ada likes tea."]
    assert search(app, "tea", tenant="other") == []


def test_whose_rows_have_all_gone_has_none_at_hand(app: Database) -> None:
    remember(app, "Ada likes tea.")
    assert len(view(app)) == 1
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM search_index"))
    assert len(view(app)) == 0
    assert cache.of(app.engine).owner(TENANT, "ada", None).state.view.bytes == 0


def test_a_database_put_back_to_an_earlier_state_is_read_anew(app: Database) -> None:
    remember(app, "Ada likes tea.")
    mine = cache.of(app.engine).owner(TENANT, "ada", None)
    view(app)
    mine.state = cache.CachedRows(mine.state.view, mine.state.horizon + 1_000_000, mine.state.seen)  # type: ignore[operator]
    remember(app, "Ada has a cat.")
    assert len(living(view(app))) == 2


def test_vectors_of_another_length_are_read_anew(app: Database) -> None:
    remember(app, "Ada likes tea.")
    seen = view(app)
    assert seen.fields["embedded"].tolist() == [True]
    with app.tenant(TENANT) as tx:
        other = at_hand(app, tx, "ada", None, DIMENSION + 1)
    assert other.fields["embedded"].tolist() == [False]
    assert other.dimension == DIMENSION + 1


def test_many_threads_ask_while_others_write_and_all_see_what_is_there_in_the_end(app: Database) -> None:
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(15):
                search(app, "tea")
        except BaseException as error:  # noqa: BLE001 - asserted below
            failed.append(error)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for n in range(15):
        remember(app, f"Ada likes tea number {n}.")
    for asker in askers:
        asker.join()
    assert failed == []
    kept = answered(app, "tea")
    cold(app)
    assert answered(app, "tea") == kept
    assert len(kept) == 15


def test_what_nobody_asked_about_is_let_go(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(cache.time, "monotonic", lambda: now)
    kept = cache.of(app.engine)
    for user in ("ada", "bob"):
        remember(app, "I like tea.", user=user)
        view(app, user)
    first = kept.owner(TENANT, "ada", None)
    now += cache.IDLE_SECONDS + 1
    kept.owner(TENANT, "cem", None)
    assert kept.owner(TENANT, "ada", None) is not first


def test_users_who_do_not_exist_leave_no_shelves(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(cache.time, "monotonic", lambda: now)
    kept = cache.of(app.engine)
    nobody = kept.owner(TENANT, "nobody", None)
    now += 2 * cache.SWEEP_SECONDS
    kept.owner(TENANT, "ada", None)
    assert kept.owner(TENANT, "nobody", None) is not nobody


def test_above_the_bytes_that_may_be_kept_the_longest_unused_goes(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(cache.time, "monotonic", lambda: now)
    kept = cache.of(app.engine)
    for user in ("ada", "bob", "cem"):
        remember(app, "I like tea.", user=user)
        view(app, user)
    shelves = {user: kept.owner(TENANT, user, None) for user in ("ada", "bob", "cem")}
    monkeypatch.setattr(cache, "MOST_BYTES", 2 * shelves["cem"].state.view.bytes)
    now += cache.SWEEP_SECONDS
    kept.owner(TENANT, "cem", None)
    assert kept.owner(TENANT, "bob", None) is shelves["bob"]
    assert kept.owner(TENANT, "ada", None) is not shelves["ada"]


def test_a_large_store_is_ranked_by_the_best_of_each_arm(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(30):
        remember(app, f"Ada has {WORDS[n % 6]} number {n}.")
    whole = answered(app, "tea number 12", limit=3)
    monkeypatch.setattr(filters, "READ_ALL", 20)
    monkeypatch.setattr(filters, "ARM_LIMIT", 10)
    assert answered(app, "tea number 12", limit=3) == whole
    assert query.search(app, TENANT, Question("tea", "ada"), EMBEDDER).total == 30


def test_a_user_who_comes_back_after_an_erasure_has_nothing_of_before(
    app: Database, works: Works, upgraded: Settings
) -> None:
    accept_all(app, [said(f"I speak of tea {n}.", session=f"s{n}") for n in range(5)])
    works.settle(flush=False)
    assert len(living(view(app))) == 5
    with app.tenant(TENANT) as tx:
        erasure_user.erase(tx, TENANT, "ada", Author("test"), upgraded)
    accept(app, said("I am back with tea.", session="new"))
    works.settle(flush=False)
    kept = living(view(app))
    cold(app)
    assert kept == living(view(app))
    assert query.search(app, TENANT, Question("tea", "ada"), EMBEDDER).total == 1


def test_while_someone_writes_for_long_nothing_else_is_read_again(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(app, "Ada likes tea.")
    view(app)
    read: list[int] = []
    some = cache.loading.load_named
    monkeypatch.setattr(cache.loading, "load_named", lambda tx, r, n, d: read.append(len(n)) or some(tx, r, n, d))
    with app.tenant(TENANT) as late:
        late.execute(text("SELECT pg_current_xact_id()"))
        remember(app, "Ada sails a ship.")
        for _ in range(5):
            assert len(living(view(app))) == 2
    assert len(read) == 1


def test_an_error_of_the_driver_is_one_that_every_door_knows_and_the_next_search_is_answered(app: Database) -> None:
    remember(app, "Ada likes tea.")
    with pytest.raises(DBAPIError):
        search(app, "tea", session_id="a\x00b")
    with pytest.raises(OperationalError), app.tenant(TENANT) as tx:
        run_together(tx, (text("SELECT pg_terminate_backend(pg_backend_pid())"), {}), (text("SELECT 1"), {}))
    assert contents(search(app, "tea")) == ["Ada likes tea."]
