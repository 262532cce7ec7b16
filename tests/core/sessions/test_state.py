from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.events import parsing
from core.sessions import state as sessions_state
from core.sessions.state import merge_patch
from core.storage.db import Database
from core.types import Json
from tests.core.sessions.spoken import stands, started
from tests.samples import accept, said


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({"a": 1}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_patch_is_merged_as_the_examples_of_rfc_7396(target: Json, patch: Json, merged: Json) -> None:
    before = dict(target)
    assert merge_patch(target, patch) == merged
    assert target == before


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


def test_a_session_begins_with_the_state_it_is_given(app: Database) -> None:
    accept(app, started(state={"topic": "旅行", "task": {"step": 1}}))
    assert stands(app).state == {"topic": "旅行", "task": {"step": 1}}
    accept(app, started(state={"task": {"done": False}, "topic": None}))
    assert stands(app).state == {"task": {"step": 1, "done": False}}
    accept(app, said("hi"))
    assert stands(app).state == {"task": {"step": 1, "done": False}}


@pytest.mark.parametrize("state", [[1], "x", 3])
def test_a_state_that_is_no_object_is_refused(state: object) -> None:
    with pytest.raises(Invalid, match="/0/payload/state"):
        parsing.check([started(state=state)])


def test_a_state_grows_to_its_limit_and_no_further(app: Database) -> None:
    accept(app, started(state={"a": "x" * 60_000}))
    with pytest.raises(Invalid, match="/payload/state: would make the state"):
        accept(app, started(state={"b": "x" * 6_000}), said("goes with it"))
    assert (list(stands(app).state), stands(app).message_count) == (["a"], 0)


@given(
    target=st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=3),
    patch=st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=3),
)
def test_merging_twice_is_merging_once_and_leaves_no_null_at_the_places_patched(target: Json, patch: Json) -> None:
    before = deepcopy(target)
    merged = sessions_state.merge_patch(target, patch)
    assert sessions_state.merge_patch(merged, patch) == merged
    assert target == before
    assert all(name in merged if value is not None else name not in merged for name, value in patch.items())
    assert {name: merged[name] for name in target.keys() - patch.keys()} == {
        name: target[name] for name in target.keys() - patch.keys()
    }
