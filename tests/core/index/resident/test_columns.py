from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from core.index.resident import columns
from core.index.resident.columns import FIELDS, Columns, ColumnsBuilder, Row, Stated, StatedRow
from core.index.resident.encoding import seconds
from core.index.resident.vectors import scales
from core.index.search_index import sparse_literal
from core.storage.db import Database, stream_chunks
from tests.samples import TENANT

DIMENSION = 4


def sparse(weights: Mapping[int, float]) -> bytes:
    """A sparse vector as the database sends it."""
    head = struct.pack(">iii", 2**30, len(weights), 0)
    return head + struct.pack(f">{len(weights)}i{len(weights)}f", *(term - 1 for term in weights), *weights.values())


EARLIEST, LATEST = struct.pack(">q", -(2**63)), struct.pack(">q", 2**63 - 1)


def row(key: str, vector: list[float] | None = None, terms: Mapping[int, float] | None = None, **fields: Any) -> Any:
    half = None if vector is None else struct.pack(">hh", DIMENSION, 0) + np.array(vector, ">f2").tobytes()
    sent = Row(
        *("memory", "", key, "Ada", None, bytes(1), bytes(1), bytes(2), bytes(2), bytes(4), bytes(8), half),
        sparse(terms or {}),
    )
    return sent._replace(**fields)


def stated(key: str, **fields: Any) -> Any:
    kinds = ("active", "confirmed", "semantic", "fact", "work")
    times = (EARLIEST, LATEST, LATEST, bytes(8))
    return StatedRow(key, "s1", ["tag"], *kinds, bytes(4), *times, None, None)._replace(**fields)


def built(*batches: list[Any], memories: list[Any] | None = None) -> Columns:
    memories = [stated(one.ref) for batch in batches for one in batch] if memories is None else memories
    builder = ColumnsBuilder(DIMENSION, Stated([memories] if memories else []))
    for batch in batches:
        builder.add(batch)
    return builder.columns()


def test_rows_of_several_batches_stand_one_behind_the_other() -> None:
    found = built(
        [row("a", position=struct.pack(">i", 1)), row("b", position=struct.pack(">i", 2))],
        [row("c", position=struct.pack(">i", 3))],
    )
    assert list(found.keys) == ["a", "b", "c"]
    assert found.fields["position"].tolist() == [1, 2, 3]
    assert found.fields["position"].dtype == np.dtype("int32"), "in the order of bytes of this machine"
    assert len(found) == 3


def test_a_row_without_a_vector_has_zeros_and_takes_no_other_rows_vector() -> None:
    found = built([row("a", [3, 0, 0, 4]), row("b"), row("c", [0, 1, 0, 0])])
    assert np.asarray(found.vectors.values, np.float32).tolist() == [[3, 0, 0, 4], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert found.vectors.scales.tolist() == pytest.approx([0.2, 0, 1])
    assert scales(np.array([[3, 0, 0, 4]], np.float16)).tolist() == pytest.approx([0.2])


def test_entries_are_sorted_by_term_and_know_their_rows() -> None:
    found = built([row("a", terms={5: 1.0, 9: 2.0}), row("b")], [row("c", terms={2: 3.0, 5: 0.5})])
    assert found.terms.ids.tolist() == [2, 5, 5, 9]
    assert found.terms.rows.tolist() == [2, 0, 2, 0]
    assert found.terms.weights.tolist() == [3.0, 1.0, 0.5, 2.0]


def test_a_query_is_multiplied_with_the_terms_that_a_row_shares_with_it() -> None:
    terms = built([row("a", terms={5: 1.0, 9: 2.0}), row("b", terms={7: 4.0}), row("c", terms={5: 0.5})]).terms
    assert terms.products({5: 2.0, 9: 1.0, 1_000: 8.0}, 3).tolist() == [4.0, 0.0, 1.0]
    assert terms.products({}, 3).tolist() == [0.0, 0.0, 0.0]


def test_no_rows_have_every_column_and_match_nothing() -> None:
    found = columns.none(DIMENSION)
    assert len(found) == 0
    assert found.fields.keys() == {*(FIELDS.names or ()), "changed"}
    assert found.terms.products({5: 1.0}, 0).tolist() == []


def test_the_name_of_a_session_is_kept_once_for_all_rows_of_a_batch() -> None:
    names = [f"s{one}" for one in (1, 1, 1)]
    memories = [stated(str(n), session_id=name, tags=None) for n, name in enumerate(names)]
    found = built([row(str(n), speaker=name) for n, name in enumerate(names)], memories=memories)
    assert len({id(one) for one in (*found.sessions, *found.speakers)}) <= 2
    assert list(found.tags) == [(), (), ()]


def test_a_row_takes_what_its_own_memory_says_and_one_without_a_memory_is_left_out() -> None:
    changed = struct.pack(">q", 5)
    memories = [
        stated("b", status="archived", tags=["x", "y"], session_id=None, changed=changed, labels=["team"]),
        stated("a", session_id="s9", group_id="club"),
    ]
    message = row("m1", type="message", session_id="s2", role="user")
    found = built([row("a"), row("gone"), message, row("b")], memories=memories)
    assert list(found.keys) == ["a", "s2\x1fm1", "b"]
    assert list(found.sessions) == ["s9", "s2", ""]
    assert list(found.tags) == [["tag"], (), ["x", "y"]]
    assert found.fields["status"].tolist() == [1, 0, 3], "a message has none"
    assert found.fields["until"].tolist() == [np.inf] * 3
    assert list(found.places) == [("club", ()), (None, ()), (None, ("team",))]
    assert found.fields["changed"].tolist() == [946_684_800_000_000, 0, 946_684_800_000_005]


def test_rows_whose_memories_are_all_hidden_leave_nothing() -> None:
    assert len(built([row("a"), row("b")], memories=[])) == 0


def test_a_sparse_vector_is_read_as_the_database_sends_it(app: Database) -> None:
    weights = {3: 0.25, 70_000: 1.5}
    statement = f"SELECT cast('{sparse_literal(weights)}' AS sparsevec)"
    with app.tenant(TENANT) as tx:
        ((sent,),) = next(iter(stream_chunks(tx, statement, {}, raw=True)))
    found = built([row("a")._replace(terms=sent)]).terms
    assert dict(zip(found.ids.tolist(), found.weights.tolist(), strict=True)) == weights


def test_sorting_keeps_the_order_of_rows_within_a_term() -> None:
    ids, far = [9, 2, 9, 70_000, 2], np.array([1, 2, 3, 4, 5], np.float32)
    found = columns.sort_by_term(np.array(ids, np.int32), np.arange(5), far)
    assert found.ids.tolist() == [2, 2, 9, 9, 70_000], "terms that differ in their upper bits alone, too"
    assert (found.rows.tolist(), found.weights.tolist()) == ([1, 4, 0, 2, 3], [2, 5, 1, 3, 4])


def test_times_are_the_seconds_that_a_filter_compares_with(app: Database) -> None:
    times = ["2026-11-24T10:00:00.123457+00:00", "1900-01-01T00:00:00.000001+00:00"]
    statement = f"SELECT '{times[0]}'::timestamptz, '{times[1]}'::timestamptz, 'infinity'::timestamptz"
    with app.tenant(TENANT) as tx:
        (((at, since, until),),) = stream_chunks(tx, statement, {}, raw=True)
    found = built([row("a", at=at)], memories=[stated("a", since=since, until=until)]).fields
    assert found["at"][0] == seconds(datetime.fromisoformat(times[0]))
    assert found["since"][0] == seconds(datetime.fromisoformat(times[1]))
    assert found["until"][0] == np.inf
