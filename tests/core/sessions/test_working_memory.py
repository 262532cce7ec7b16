from __future__ import annotations

import math
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st
from sqlalchemy import text

from core.errors import Conflict, Invalid, NotFound
from core.sessions import working_memory
from core.storage.db import Database
from tests.doors import OTHER, key_of
from tests.samples import TENANT, accept, ended, event, said


def put(
    app: Database, key: str, value: object, ttl: float | None = None, session: str = "s1"
) -> working_memory.WorkingValue:
    with app.tenant(TENANT) as tx:
        return working_memory.put(tx, TENANT, session, key, value, ttl)


def kept(app: Database, session: str = "s1") -> dict[str, Any]:
    with app.tenant(TENANT) as tx:
        return {one.key: one.value for one in working_memory.of_session(tx, session)[0]}


def pass_time(app: Database, seconds: float) -> None:
    """As if so much time had gone by."""
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE working SET expires_at = expires_at - make_interval(secs => :s)"), {"s": seconds})


@pytest.fixture
def talk(app: Database) -> Database:
    accept(app, event("session.started", {"session_id": "s1", "user_id": "ada"}))
    return app


@given(
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**30), 10**30)
        | st.floats(-1e15, 1e15)
        | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=5),
                inner,
                max_size=3,
            )
        ),
        max_leaves=8,
    )
)
@settings_of_hypothesis(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_json_comes_back_as_it_was_put(talk: Database, value: object) -> None:
    assert put(talk, "k", value).value == value
    assert kept(talk) == {"k": value}


def test_a_key_holds_the_last_value_and_its_time(talk: Database) -> None:
    first = put(talk, "plan", {"step": 1}, ttl=60)
    second = put(talk, "plan", {"step": 2})
    assert first.expires_at is not None
    assert (second.value, second.expires_at) == ({"step": 2}, None)
    assert second.updated_at > first.updated_at
    assert kept(talk) == {"plan": {"step": 2}}


def test_what_has_expired_is_gone_before_anything_sweeps_it(talk: Database) -> None:
    put(talk, "short", 1, ttl=60)
    put(talk, "long", 2, ttl=3600)
    put(talk, "open", 3)
    pass_time(talk, 61)
    assert kept(talk) == {"long": 2, "open": 3}
    with talk.tenant(TENANT) as tx:
        with pytest.raises(NotFound, match="expired"):
            working_memory.get(tx, "s1", "short")
        assert not working_memory.drop(tx, "s1", "short")
        assert working_memory.get(tx, "s1", "long").value == 2


def test_a_sweep_removes_what_has_expired_and_nothing_else_a_page_at_a_time(talk: Database) -> None:
    for n in range(5):
        put(talk, f"k{n}", n, ttl=60)
    put(talk, "open", 3)
    pass_time(talk, 61)
    put(talk, "later", 4, ttl=60)
    with talk.tenant(TENANT) as tx:
        assert [working_memory.sweep(tx, 3) for _ in range(3)] == [3, 2, 0]
        assert tx.execute(text("SELECT count(*) FROM working")).scalar_one() == 2


def test_an_expired_key_can_be_put_anew(talk: Database) -> None:
    put(talk, "k", 1, ttl=60)
    pass_time(talk, 61)
    assert put(talk, "k", 2, ttl=60).value == 2
    assert kept(talk) == {"k": 2}


def test_all_goes_with_the_end_in_the_transaction_that_accepts_it(talk: Database) -> None:
    accept(talk, said("hello", session="s2"))
    put(talk, "a", 1)
    put(talk, "b", 2, session="s2")
    accept(talk, ended(id="end"))
    assert (kept(talk), kept(talk, "s2")) == ({}, {"b": 2})


def test_a_repeated_end_takes_nothing_that_was_put_since(talk: Database) -> None:
    accept(talk, ended(id="end"))
    accept(talk, said("on we go", time="2026-11-22T12:00:00Z"))
    put(talk, "a", 1)
    accept(talk, ended(id="end"))
    assert kept(talk) == {"a": 1}


def test_a_session_that_is_not_there_or_has_ended_keeps_nothing_and_says_what_to_do(talk: Database) -> None:
    with pytest.raises(NotFound, match=r"Publish `session\.started`"):
        put(talk, "k", 1, session="nobody")
    accept(talk, ended())
    with pytest.raises(Conflict, match=r"Publish `session\.started`"):
        put(talk, "k", 1)
    accept(talk, event("session.started", {"session_id": "s1", "user_id": "ada"}))
    assert put(talk, "k", 1).value == 1


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("x" * working_memory.VALUE_BYTES, "65538 bytes"),
        ("漢" * (working_memory.VALUE_BYTES // 3), "bytes"),
        (math.nan, "JSON"),
        (math.inf, "JSON"),
        ("\ud800", "JSON"),
        ({"a": ["b\x00c"]}, r"U\+0000"),
    ],
)
def test_what_cannot_be_kept_is_refused(talk: Database, value: object, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        put(talk, "k", value)
    assert kept(talk) == {}


def test_what_is_nested_too_deeply_is_refused(talk: Database) -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(Invalid, match="nested"):
        put(talk, "k", value)


def test_a_session_has_room_for_so_many_keys(talk: Database) -> None:
    with talk.tenant(TENANT) as tx:
        for n in range(working_memory.KEYS):
            working_memory.put(tx, TENANT, "s1", f"k{n}", n, 60)
    with pytest.raises(Invalid, match="delete some"):
        put(talk, "more", 1)
    assert put(talk, "k0", "again", 60).value == "again"
    pass_time(talk, 61)
    assert put(talk, "more", 1).value == 1


def test_pages_follow_each_other_by_key(talk: Database) -> None:
    keys = sorted(["a", "B", "é", "中", "z", "_"], key=lambda key: key.encode())
    for key in keys:
        put(talk, key, key)
    with talk.tenant(TENANT) as tx:
        first = working_memory.of_session(tx, "s1", limit=4)[0]
        rest = working_memory.of_session(tx, "s1", after=first[-1].key)[0]
    assert [one.key for one in [*first, *rest]] == keys


def test_another_tenant_sees_and_takes_nothing(talk: Database, settings: Any) -> None:
    key_of(settings, OTHER)
    accept(talk, event("session.started", {"session_id": "s1", "user_id": "ada"}), tenant=OTHER)
    put(talk, "k", "mine")
    with talk.tenant(OTHER) as tx:
        assert working_memory.of_session(tx, "s1")[0] == []
        assert not working_memory.drop(tx, "s1", "k")
        working_memory.put(tx, OTHER, "s1", "k", "theirs")
        assert working_memory.clear(tx, ["s1"]) == 1
    assert kept(talk) == {"k": "mine"}


def test_an_end_waits_for_what_is_being_put_and_takes_it_along(talk: Database) -> None:
    ends = Thread(target=accept, args=(talk, ended()))
    with talk.tenant(TENANT) as tx:
        working_memory.put(tx, TENANT, "s1", "k", 1)
        ends.start()
        ends.join(0.3)
        assert ends.is_alive()
    ends.join(10)
    assert kept(talk) == {}
