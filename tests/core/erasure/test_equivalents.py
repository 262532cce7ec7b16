from __future__ import annotations

import pytest
from sqlalchemy import text

from core.memory.changes import Archive, Ignore
from core.storage.db import Database
from tests.core.changing import Bench, an_add
from tests.core.erasing import COMPOUND, erased, holding, rows
from tests.factories import a_candidate
from tests.samples import TENANT, accept, said
from tests.works import Works


def test_all_that_says_the_same_goes_wherever_it_stands(app: Database, bench: Bench, unique: str) -> None:
    one = an_add(f"Ada keeps {unique} at home.")
    bench.apply(one)
    bench.apply(Archive(one.id, 1, "old"))
    again = an_add(f"Ada keeps {unique} at home!", 1)
    bench.apply(again)
    assert set(erased(app, again.id).memory_ids) == {one.id, again.id}
    assert holding(app, unique) == []


def test_a_statement_that_was_ignored_before_goes_with_the_memory_that_says_it(
    app: Database, bench: Bench, unique: str
) -> None:
    add = an_add(f"Ada keeps {unique} at home.")
    bench.apply(add, Ignore(a_candidate(f"At home Ada keeps {unique}.", 1), "an echo"))
    bench.apply(Ignore(a_candidate("Ada keeps quiet.", 1), "an echo"))
    erased(app, add.id)
    assert holding(app, unique) == []
    assert len(rows(app, "SELECT FROM verdicts")) == 1


def compounded(app: Database, memory_id: object, allergen: str) -> None:
    """Let a memory say both halves, as a model or a request may have had it written."""
    content, quote = f"ada moved to Lisbon in May 2026 and they are allergic to {allergen}.", COMPOUND.format(allergen)
    values = {"id": memory_id, "content": content, "quote": quote}
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET content = :content WHERE id = :id"), values)
        tx.execute(text("UPDATE evidence SET quote = :quote WHERE memory_id = :id"), values)


@pytest.mark.parametrize("evidence", [True, False])
def test_the_half_of_another_memory_that_says_the_same_goes_too(
    app: Database, works: Works, unique: str, *, evidence: bool
) -> None:
    accept(app, said(COMPOUND.format(unique), message_id="m1"))
    works.settle()
    allergy, home = rows(app, "SELECT * FROM memories WHERE category <> 'episode' ORDER BY attribute NULLS FIRST")
    assert (unique in allergy.content, unique in home.content) == (True, False)
    compounded(app, home.id, unique)
    done = erased(app, allergy.id, evidence=evidence)
    assert set(done.memory_ids) == {allergy.id, home.id}
    (left,) = rows(app, "SELECT * FROM memories WHERE status = 'active' AND category <> 'episode'")
    assert (left.content, left.attribute, left.value) == ("ada moved to Lisbon in May 2026.", "home.city", "Lisbon")
    quotes = [row.quote for row in rows(app, "SELECT quote FROM evidence WHERE memory_id = :id", id=left.id)]
    assert quotes == ["" if evidence else "I moved to Lisbon in May."]
    spoken = {"messages", "events", "units"} if not evidence else set()
    assert set(holding(app, unique)) <= spoken


def test_an_erased_compound_statement_takes_the_memories_of_its_halves_with_it(
    app: Database, works: Works, unique: str
) -> None:
    accept(app, said(COMPOUND.format(unique), message_id="m1"), said(f"I am allergic to {unique}!", session="s2"))
    works.settle()
    home = rows(app, "SELECT * FROM memories WHERE attribute = 'home.city'")[0]
    compounded(app, home.id, unique)
    erased(app, home.id, evidence=True)
    assert rows(app, "SELECT * FROM memories WHERE status = 'active' AND content LIKE '%' || :w || '%'", w=unique) == []


def test_of_a_list_the_value_goes_and_the_others_stay(app: Database, bench: Bench, unique: str) -> None:
    one = an_add(f"Ada likes {unique}.", structured={"attribute": "likes", "values": [unique]})
    both = an_add(f"Ada likes tea and {unique}.", 1, structured={"attribute": "likes", "values": ["tea", unique]})
    bench.apply(one, both)
    erased(app, one.id)
    assert holding(app, unique) == []
    (left,) = rows(app, "SELECT * FROM memories")
    assert (left.content, left.structured["values"]) == ("Ada likes tea.", ["tea"])


def test_what_only_shares_words_stays(app: Database, bench: Bench) -> None:
    one = an_add("Ada is allergic to peanuts.")
    others = [
        an_add("Ada is not allergic to cats.", 1),
        an_add("Ada's sister is allergic to peanuts.", 2),
        an_add("Ada sells peanuts.", 3),
    ]
    bench.apply(one, *others)
    assert erased(app, one.id).memory_ids == [one.id]
