from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.consolidation import dedup_sweep
from core.consolidation.dedup_sweep import UnseenMemory
from core.consolidation.judge import Thresholds
from core.errors import Conflict
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.memory import identity, memories, writer
from core.memory.changes import Add, Change, Confirm, Dispute, Ignore, Merge, Owner, Replace
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Candidate, Category, Event, Evidence, Topic
from tests.factories import events_since
from tests.samples import TENANT, accept, event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ADA = Owner("ada")
EMBEDDER = HashEmbedder()
LOOSE = Thresholds(near=0.5)
"""Hashed vectors of words that mean the same are further apart than those of a model."""


def a_candidate(content: str, day: int = 0, **fields: Any) -> Candidate:
    quote = Evidence("s1", f"m{day}", "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (quote,), NOON + timedelta(days=day))
    return replace(plain, **fields)


def said(*evidence: Evidence) -> Candidate:
    return a_candidate("I do.", evidence=evidence)


def an_add(content: str, day: int = 0, **fields: Any) -> Add:
    return Add(a_candidate(content, day, **fields), "because", EMBEDDER.embed([content])[0])


def the_author(app: Database) -> Author:
    accept(app, event(id="cause"))
    with app.tenant(TENANT) as tx:
        cause: Event = log.get(tx, "cause")
    return Author("tester", Cause(cause), "a_rule", 3)


def carry_out(app: Database, *wanted: Change, owner: Owner = ADA) -> dict[str, int]:
    author = the_author(app)
    with app.tenant(TENANT) as tx:
        return writer.apply(tx, TENANT, owner, wanted, author)


def stored(app: Database, memory_id: UUID) -> KnownMemory:
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, memory_id)
    return KnownMemory(row.id, row.version, row.content, row.subject, row.attribute, row.value, row.occurred_at)


def row_of(app: Database, memory_id: UUID) -> Any:
    with app.tenant(TENANT) as tx:
        return memories.get(tx, memory_id)


def changes_of(app: Database, memory_id: UUID) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [version.change for version in memories.history(tx, memory_id)]


def emitted(app: Database, event_type: str) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return [e for e in events_since(tx, 0, 500) if e.event_type == event_type]


def swept(app: Database, user: str = "ada", thresholds: Thresholds = LOOSE) -> dict[str, Any]:
    author = the_author(app)
    found = dedup_sweep.sweep(app, TENANT, user, thresholds)
    with app.tenant(TENANT) as tx:
        return found.write(tx, author)


def test_a_merge_takes_the_richer_wording_in_place_with_evidence_tags_and_index(app: Database) -> None:
    less = an_add("Ada likes coffee.", tags=("taste",))
    carry_out(app, less)
    more = an_add("Ada likes coffee, black and strong.", 1, tags=("drinks", "taste"), importance=0.7)
    merged = Merge(stored(app, less.id), more.candidate, "says more", more.vector)
    assert carry_out(app, merged) == {"merged": 1}
    row = row_of(app, less.id)
    assert (row.content, row.version, row.trust) == (more.candidate.content, 2, "confirmed")
    assert (sorted(row.tags), row.importance) == (["drinks", "taste"], 0.7)
    assert row.statement_key == identity.statement_key("ada", row.content)
    assert changes_of(app, less.id) == ["add", "merge"]
    with app.tenant(TENANT) as tx:
        assert len(memories.evidence(tx, [less.id])[less.id]) == 2
        indexed = tx.execute(text("SELECT embedding::text AS v FROM search_index WHERE type = 'memory'")).all()
        assert memories.count(tx, "ada") == 1
    assert len(indexed) == 1
    assert more.vector is not None
    near = [float(x) for x in indexed[0].v[1:-1].split(",")]
    assert near == pytest.approx(list(more.vector), abs=1e-2)
    (said,) = emitted(app, "memory.merged")
    assert (said.payload["memory_id"], said.payload["reason"]) == (str(less.id), "says more")


def test_a_replacement_puts_a_statement_right_in_place_and_keeps_what_it_said(app: Database) -> None:
    wrong = an_add("Ada's flight leaves at 10:30.")
    carry_out(app, wrong)
    right = an_add("Ada's flight leaves at 10:45.", 1)
    assert right.vector is not None
    assert carry_out(app, Replace(stored(app, wrong.id), right.candidate, "corrected", right.vector)) == {"replaced": 1}
    assert row_of(app, wrong.id).content == right.candidate.content
    with app.tenant(TENANT) as tx:
        first, second = memories.history(tx, wrong.id)
    assert (first.snapshot["content"], second.change) == (wrong.candidate.content, "replace")
    assert [e.payload["change"] for e in emitted(app, "memory.updated")] == ["replace"]


def test_of_two_that_deny_each_other_both_stay_and_neither_is_trusted(app: Database) -> None:
    one, other = an_add("Ada eats meat."), an_add("Ada does not eat meat.", 1)
    carry_out(app, one)
    fresh = KnownMemory(other.id, 1, other.candidate.content, "ada", None, None, NOON)
    assert carry_out(app, other, Dispute(fresh, stored(app, one.id), "denied")) == {"added": 1, "disputed": 1}
    assert [row_of(app, a.id).trust for a in (one, other)] == ["disputed"] * 2
    assert [row_of(app, a.id).status for a in (one, other)] == ["active"] * 2
    (said,) = emitted(app, "memory.conflicted")
    assert (said.payload["memory_id"], said.payload["with"]) == (str(one.id), str(other.id))
    with app.tenant(TENANT) as tx:
        link = tx.execute(text("SELECT from_id, relation, to_id FROM relations")).one()
    assert tuple(link) == (other.id, "contradicts", one.id)


def test_what_is_disputed_is_not_trusted_again_for_being_said_again(app: Database) -> None:
    one, other = an_add("Ada eats meat."), an_add("Ada does not eat meat.", 1)
    carry_out(app, one, other)
    carry_out(app, Dispute(stored(app, other.id), stored(app, one.id), "denied"))
    carry_out(app, Confirm(stored(app, one.id), said(Evidence("s2", "m9", "e9", "I do")), "again"))
    assert row_of(app, one.id).trust == "disputed"


def test_what_is_ignored_is_counted_and_not_written(app: Database) -> None:
    assert carry_out(app, Ignore(a_candidate("Hello!"), "a pleasantry")) == {"ignored": 1}
    with app.tenant(TENANT) as tx:
        assert memories.count(tx, "ada") == 0


def test_several_changes_of_one_memory_in_one_batch_follow_each_other(app: Database) -> None:
    one = an_add("Ada likes coffee.")
    carry_out(app, one)
    known, more = stored(app, one.id), an_add("Ada likes coffee, black and strong.", 1)
    again = Confirm(known, said(Evidence("s2", "m9", "e9", "I do")), "again")
    over = replace(an_add("Ada no longer likes coffee.", 5), supersedes=known)
    carry_out(app, over, Merge(known, more.candidate, "says more", more.vector), again)
    assert changes_of(app, one.id) == ["add", "confirm", "merge", "supersede"]


@pytest.mark.parametrize("kind", [Merge, Replace, Dispute])
def test_what_was_judged_on_an_old_version_is_a_conflict_and_leaves_nothing(app: Database, kind: type) -> None:
    one, other = an_add("Ada likes coffee."), an_add("Ada has a cat.", 1)
    carry_out(app, one, other)
    stale = stored(app, one.id)
    carry_out(app, Confirm(stale, said(Evidence("s2", "m9", "e9", "I do")), "meanwhile"))
    more = an_add("Ada likes coffee, black.", 2)
    assert more.vector is not None
    wanted: Change = Merge(stale, more.candidate, "x", more.vector)
    if kind is Replace:
        wanted = Replace(stale, more.candidate, "x", more.vector)
    if kind is Dispute:
        wanted = Dispute(stored(app, other.id), stale, "x")
    before = row_of(app, one.id)
    with pytest.raises(Conflict):
        carry_out(app, wanted)
    assert row_of(app, one.id) == before


def test_the_sweep_merges_what_is_new_into_the_older_one_and_archives_the_other(app: Database) -> None:
    old = an_add("Ada likes coffee.", tags=("taste",))
    carry_out(app, old)
    assert swept(app) == {"compared": 1}
    new = an_add("Ada likes coffee, black and strong.", 1, tags=("drinks",))
    carry_out(app, new, an_add("Ada likes 3 coffees.", 2))
    assert swept(app) == {"compared": 2, "merged": 1}
    kept, gone = row_of(app, old.id), row_of(app, new.id)
    assert (kept.content, kept.status, sorted(kept.tags)) == (new.candidate.content, "active", ["drinks", "taste"])
    assert (gone.status, changes_of(app, new.id)) == ("archived", ["add", "merge"])
    (said,) = emitted(app, "memory.merged")
    assert said.payload["absorbed"] == str(new.id)
    with app.tenant(TENANT) as tx:
        found = memories.evidence(tx, [old.id, new.id])
        link = tx.execute(text("SELECT from_id, relation, to_id FROM relations")).one()
    assert [len(found[one]) for one in (old.id, new.id)] == [2, 1]
    assert tuple(link) == (old.id, "derived_from", new.id)


def test_a_sweep_looks_at_nothing_twice_and_at_nobody_else(app: Database) -> None:
    carry_out(app, an_add("Ada likes coffee."))
    carry_out(app, an_add("Ada likes coffee, black and strong."), owner=Owner("bob"))
    assert [swept(app), swept(app), swept(app, "bob")] == [{"compared": 1}, {"compared": 0}, {"compared": 1}]


def test_a_chain_of_ever_richer_wordings_becomes_one_memory(app: Database) -> None:
    said = ["Ada likes coffee.", "Ada likes coffee, black.", "Ada likes coffee, black, in the garden."]
    for day, content in enumerate(said):
        carry_out(app, an_add(content, day))
    assert swept(app) == {"compared": 3, "merged": 2}
    with app.tenant(TENANT) as tx:
        (row,) = tx.execute(text("SELECT * FROM memories WHERE status = 'active'")).all()
        assert len(memories.evidence(tx, [row.id])[row.id]) == 3
    assert row.content == said[-1]


def test_two_sweeps_at_once_merge_once(app: Database) -> None:
    for day, content in enumerate(["Ada likes coffee.", "Ada likes coffee, black."]):
        carry_out(app, an_add(content, day))
    author = the_author(app)
    first, second = (dedup_sweep.sweep(app, TENANT, "ada", LOOSE) for _ in range(2))
    with app.tenant(TENANT) as tx:
        first.write(tx, author)
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        second.write(tx, author)
    assert len(emitted(app, "memory.merged")) == 1


def test_a_sweep_goes_on_where_the_batch_ended(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup_sweep, "BATCH", 2)
    carry_out(app, *(an_add(f"Ada has {n} cats.", n) for n in range(5)))
    assert [swept(app)["compared"] for _ in range(4)] == [2, 2, 1, 0]


def as_stored(contents: Sequence[str]) -> list[UnseenMemory]:
    """Each beside all that are older, with cosines as if their vectors were one."""
    found: list[UnseenMemory] = []
    for day, content in enumerate(contents):
        c = a_candidate(content, day)
        known = KnownMemory(uuid4(), 1, content, "ada", None, None, c.occurred_at, 1.0)
        found.append(UnseenMemory(known, c, EMBEDDER.embed([content])[0], [one.known for one in found]))
    return found


STATEMENTS = st.lists(
    st.sampled_from(
        [
            "Ada likes tea.",
            "Ada likes tea, green.",
            "ada likes TEA",
            "Ada likes 2 teas.",
            "Ada hates tea.",
            "我喜欢喝茶",
        ]
    ),
    max_size=6,
)


@settings(deadline=None)
@given(STATEMENTS)
def test_nothing_is_merged_twice_nor_into_what_is_gone_and_a_second_sweep_finds_nothing(contents: list[str]) -> None:
    stored_ones = as_stored(contents)
    found = dedup_sweep.find_merges(stored_ones, LOOSE)
    gone = [m.absorbs.id for m in found if m.absorbs]
    assert len(gone) == len(set(gone))
    into = {m.known.id for m in found}
    assert not into & set(gone)
    worded = {m.known.id: m.candidate.content for m in found if m.vector is not None}
    left = [worded.get(s.known.id, s.known.content) for s in stored_ones if s.known.id not in gone]
    assert dedup_sweep.find_merges(as_stored(left), LOOSE) == []
