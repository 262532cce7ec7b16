"""What is erased is gone from every table, with what was drawn from it; and nothing else is."""

from __future__ import annotations

import threading
from dataclasses import replace
from uuid import uuid4

import pytest

from core.entities.decisions import Deciding
from core.erasure import memory
from core.errors import Conflict, NotFound
from core.memory import tombstones, writer
from core.memory.changes import Archive, Confirm, Edit, Link, Owner, Replace
from core.storage.db import Database
from core.types import Evidence, Relation
from tests.core.changing import Bench, an_add
from tests.core.erasing import AUTHOR, COMPOUND, erased, holding, rows
from tests.databases import is_waited_for
from tests.factories import EMBEDDER, a_candidate
from tests.patience import wait_until
from tests.samples import TENANT, accept, accept_all, ended, said
from tests.spans import PARENT
from tests.works import Works

# One memory


def test_an_erased_memory_is_in_no_table_any_more(app: Database, bench: Bench, unique: str) -> None:
    add = an_add(f"Ada keeps {unique} at home.", attribute="home.pet", value=unique, tags=(unique,), importance=0.9)
    bench.apply(add)
    bench.apply(Confirm(bench.known(add.id), a_candidate(f"Ada keeps {unique} at home.", 1), f"{unique} again"))
    bench.apply(Edit(add.id, 2, {"content": f"Ada keeps a {unique} at home."}, f"about {unique}"))
    assert {"memories", "memory_versions", "evidence", "verdicts", "events"} <= set(holding(app, unique))
    done = erased(app, add.id)
    assert holding(app, unique) == []
    assert done.memory_ids == [add.id]
    assert {"memories": 1, "memory_versions": 3}.items() <= done.counts.items()
    with pytest.raises(NotFound):
        bench.row(add.id)


def test_a_name_decided_by_hand_goes_with_the_last_text_that_has_it(app: Database, bench: Bench, unique: str) -> None:
    name = unique.title()
    first, second = an_add(f"{name} is Ada's sister."), an_add(f"{name} lives in Porto.", 1)
    bench.apply(first, second, an_add("Nora paints.", 2), an_add("Kim sings.", 3))
    with app.tenant(TENANT) as tx:
        Deciding(TENANT, "ada", AUTHOR).merge(tx, ["Nora", name])
        Deciding(TENANT, "ada", AUTHOR).merge(tx, ["Nora", "Kim"])
    erased(app, first.id)
    assert "naming_decisions" in holding(app, name)
    erased(app, second.id)
    assert holding(app, name) == holding(app, unique) == []
    assert len(rows(app, "SELECT FROM naming_decisions")) == 1


def test_what_was_said_of_it_by_another_memorys_history_goes_with_it(app: Database, bench: Bench, unique: str) -> None:
    old = an_add("Ada lives somewhere.", attribute="home.city", value=unique)
    bench.apply(old)
    new = an_add("Ada lives in Porto.", 1, attribute="home.city", value="Porto")
    bench.apply(replace(new, supersedes=bench.known(old.id), reason=f"home.city: {unique} → Porto"))
    erased(app, old.id)
    assert holding(app, unique) == []
    assert bench.row(new.id).content == "Ada lives in Porto."
    assert bench.row(new.id).status == "active"


def test_others_memories_and_those_beside_it_are_untouched(app: Database, bench: Bench) -> None:
    beside, mine = an_add("Ada plays chess."), an_add("Ada lives in Lisbon.", 1)
    bench.apply(beside, mine, Link(beside.id, Relation.FOLLOWS, mine.id))
    other = Bench(app, "bob")
    theirs = an_add("Ada lives in Lisbon.")
    other.apply(theirs)
    picture = other.picture()
    erased(app, mine.id)
    assert other.picture() == picture
    assert bench.row(beside.id).content == "Ada plays chess."
    assert rows(app, "SELECT FROM relations") == []


def test_every_wording_it_ever_had_stays_away(app: Database, bench: Bench) -> None:
    add = an_add("Ada lives in Lisbon near the sea.")
    bench.apply(add)
    put_right = a_candidate("Ada lives in Porto near the sea.", 1)
    bench.apply(Replace(bench.known(add.id), put_right, "put right", EMBEDDER.embed([put_right.content])[0]))
    bench.apply(Confirm(bench.known(add.id), a_candidate("Porto by the sea is home to Ada.", 2), "a model says so"))
    erased(app, add.id)
    told_again = ["Ada lives in Lisbon near the sea.", put_right.content, "Porto by the sea is home to Ada."]
    with app.tenant(TENANT) as tx:
        candidates = [a_candidate(one, 5) for one in told_again]
        assert tombstones.are_erased(tx, TENANT, "ada", candidates) == [True, True, True]
        assert tombstones.are_erased(tx, TENANT, "ada", [a_candidate("Ada lives in Faro near the sea.", 5)]) == [False]


def test_erasing_twice_finds_nothing_the_second_time(app: Database, bench: Bench) -> None:
    add = an_add("Ada lives in Lisbon.")
    bench.apply(add)
    erased(app, add.id)
    with pytest.raises(NotFound):
        erased(app, add.id)
    with pytest.raises(NotFound):
        erased(app, uuid4())


def test_a_change_that_was_decided_before_cannot_be_carried_out_any_more(app: Database, bench: Bench) -> None:
    add = an_add("Ada lives in Lisbon.")
    bench.apply(add)
    known = bench.known(add.id)
    erased(app, add.id)
    for late in (Confirm(known, a_candidate("Ada lives in Lisbon.", 1), "again"), Archive(add.id, 1, "old")):
        with pytest.raises(Conflict):
            bench.apply(late)


# With its evidence

LEARNT = "SELECT id FROM memories WHERE category <> 'episode' AND strpos(content, :w) > 0"


def _talk(app: Database, unique: str) -> None:
    words = ["Hello there.", f"I keep {unique} at home.", "How nice.", "I also play chess."]
    accept_all(app, [said(one, message_id=f"m{n}", id=f"e{n}") for n, one in enumerate(words)])


def test_by_default_the_messages_it_cites_stay(app: Database, works: Works, unique: str) -> None:
    _talk(app, unique)
    accept(app, ended(message_count=4))
    works.settle()
    memory = rows(app, LEARNT, w=unique)[0]
    erased(app, memory.id)
    assert set(holding(app, unique)) == {"messages", "events", "units"}


def test_with_its_evidence_their_text_goes_from_messages_log_quotes_and_index(
    app: Database, works: Works, unique: str
) -> None:
    _talk(app, unique)
    accept(app, ended(message_count=4))
    works.settle()
    before = {
        row.ref: row.terms for row in rows(app, "SELECT ref, terms::text FROM search_index WHERE type = 'message'")
    }
    memory = rows(app, LEARNT, w=unique)[0]
    erased(app, memory.id, evidence=True)
    assert holding(app, unique) == []
    after = {
        row.ref: row.terms for row in rows(app, "SELECT ref, terms::text FROM search_index WHERE type = 'message'")
    }
    assert set(before) - set(after) == {"m1"}
    assert all(after[one] != before[one] for one in after), "all of them stood within its reach"
    assert [(m.id, m.position, m.content == "") for m in rows(app, "SELECT * FROM messages ORDER BY position")] == [
        ("m0", 1, False),
        ("m1", 2, True),
        ("m2", 3, False),
        ("m3", 4, False),
    ]


def test_with_its_evidence_the_trace_state_of_its_publisher_goes_too(app: Database, works: Works, unique: str) -> None:
    state = f"publisher={unique}"
    spoken = said(f"I keep {unique} at home.", message_id="m1") | {"traceparent": PARENT, "tracestate": state}
    accept_all(app, [spoken, ended(message_count=1)])
    works.settle()
    assert rows(app, "SELECT FROM dispatches WHERE trace ->> 'tracestate' = :state", state=state)
    erased(app, rows(app, LEARNT, w=unique)[0].id, evidence=True)
    assert holding(app, unique) == []


def test_the_index_stands_as_if_the_message_had_been_empty_from_the_start(
    app: Database, works: Works, unique: str
) -> None:
    _talk(app, unique)
    accept(app, ended(message_count=4))
    for n, one in enumerate(["Hello there.", "", "How nice.", "I also play chess."]):
        accept(app, said(one, session="s2", user="bob", message_id=f"m{n}"))
    works.settle()
    memory = rows(app, LEARNT, w=unique)[0]
    erased(app, memory.id, evidence=True)
    weights = """
        SELECT ref, terms::text FROM search_index
        WHERE type = 'message' AND session_id = :s AND ref <> 'm1' ORDER BY 1
    """
    assert rows(app, weights, s="s1") == rows(app, weights, s="s2")
    counts = "SELECT term, documents FROM term_counts WHERE owner = :o AND term <> 0 ORDER BY 1"
    assert rows(app, counts, o="user:ada") == rows(app, counts, o="user:bob")


def test_with_its_evidence_what_else_quotes_it_keeps_its_own_words_alone(
    app: Database, works: Works, bench: Bench, unique: str
) -> None:
    accept(app, said(f"I keep {unique} at home.", message_id="m0"), said("I play chess.", message_id="m1"))
    quote = Evidence("s1", "m0", "e0", f"I keep {unique} at home.")
    chess = an_add("Ada plays chess.", evidence=(quote,))
    bench.apply(chess, an_add(f"Ada keeps {unique} at home.", 1, evidence=(quote,)))
    confirm = Confirm(bench.known(chess.id), a_candidate("Ada plays chess.", 2, evidence=(quote,)), "again")
    bench.apply(confirm)
    bench.undo(confirm.change_id)
    memory = rows(app, LEARNT, w=unique)[0]
    erased(app, memory.id, evidence=True)
    assert holding(app, unique) == []
    assert bench.row(chess.id).content == "Ada plays chess."


def test_with_its_evidence_what_others_tell_of_it_goes_too(app: Database, works: Works, unique: str) -> None:
    spoken = [said(f"I keep {unique} at home.", group_id="g"), said("How nice.", user="bob", group_id="g")]
    accept_all(app, [*spoken, said("I play chess.", user="bob", group_id="g"), ended(message_count=3)])
    works.settle()
    told_by_bob = "SELECT id FROM memories WHERE user_id = 'bob' AND category = 'episode'"
    assert rows(app, told_by_bob)
    memory = rows(app, LEARNT, w=unique)[0]
    erased(app, memory.id, evidence=True)
    assert holding(app, unique) == []
    assert rows(app, told_by_bob) == []
    assert rows(app, "SELECT FROM memories WHERE user_id = 'bob'")


# What says the same beside something else


def test_the_rest_of_a_compound_statement_may_be_learnt_and_the_erased_half_may_not(
    app: Database, works: Works, unique: str
) -> None:
    accept(app, said(COMPOUND.format(unique), message_id="m1"))
    works.settle()
    allergy = rows(app, "SELECT * FROM memories WHERE attribute IS NULL AND category <> 'episode'")[0]
    erased(app, allergy.id)
    accept(app, said(COMPOUND.format(unique), session="s2"), said("I moved to Porto.", session="s3"))
    works.settle()
    active = rows(app, "SELECT content FROM memories WHERE status = 'active' AND category <> 'episode'")
    assert [row.content for row in active] == ["ada moved to Porto."]


def test_a_value_of_a_slot_goes_in_whatever_words_it_was_told(app: Database, bench: Bench, unique: str) -> None:
    old = an_add(f"Ada lives in {unique}.", attribute="home.city", value=unique)
    bench.apply(old)
    bench.apply(
        replace(an_add("Ada lives in Porto.", 1, attribute="home.city", value="Porto"), supersedes=bench.known(old.id))
    )
    again = an_add(f"Home is {unique} for Ada.", 2, attribute="home.city", value=unique)
    porto = rows(app, "SELECT id FROM memories WHERE value = 'Porto'")[0].id
    bench.apply(replace(again, supersedes=bench.known(porto)))
    erased(app, again.id)
    assert holding(app, unique) == []


def test_a_memory_that_changes_while_its_erasure_waits_is_kept_if_another_version_was_seen(
    app: Database, bench: Bench
) -> None:
    add = an_add("Ada has a cat.")
    bench.apply(add)
    outcome: list[object] = []

    def erase() -> None:
        try:
            with app.tenant(TENANT) as tx:
                outcome.append(memory.erase(tx, TENANT, add.id, AUTHOR, version=1))
        except Conflict as error:
            outcome.append(error)

    with app.tenant(TENANT) as tx:
        edit = Edit(add.id, 1, {"content": "Ada has two cats."}, "put right")
        writer.apply(tx, TENANT, Owner("ada"), [edit], AUTHOR)
        thread = threading.Thread(target=erase)
        thread.start()
        wait_until(lambda: is_waited_for(app))
    thread.join()
    assert [type(one) for one in outcome] == [Conflict]
    assert bench.row(add.id).content == "Ada has two cats."
    with app.tenant(TENANT) as tx:
        assert memory.erase(tx, TENANT, add.id, AUTHOR, version=2).memory_ids == [add.id]
