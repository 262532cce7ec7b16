from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest

from core.consolidation import batch, relations
from core.consolidation.judge import Kind
from core.memory.changes import Add, Change, Edit, Link, Merge, Replace
from core.memory.identity import KnownMemory
from core.memory.known_set import KnownSet
from core.types import Candidate, Category, Ended, Evidence, Relation, Relations, Shown, Topic

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def known(content: str, subject: str = "Ada", day: int = -30, **fields: object) -> KnownMemory:
    plain = KnownMemory(uuid4(), 1, content, subject, None, None, NOON + timedelta(days=day), 0.5)
    return replace(plain, **fields)  # type: ignore[arg-type]


def said(content: str, stated: Relations, **fields: object) -> Candidate:
    quote = Evidence("s1", "m1", "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "Ada", (quote,), NOON, relations=stated)
    return replace(plain, **fields)  # type: ignore[arg-type]


def shown(memory: KnownMemory) -> Shown:
    return Shown(memory.id, memory.version)


def ends(*memories: KnownMemory, rest: str = "") -> tuple[Ended, ...]:
    return tuple(Ended(shown(memory), rest) for memory in memories)


BERLIN, CAT, MOTHER = known("Ada lives in Berlin."), known("Ada has a cat."), known("Evelyn works.", "Evelyn")
ALL = [BERLIN, CAT, MOTHER]


def verdict(candidate: Candidate, memories: Sequence[KnownMemory] = ALL) -> tuple[Kind, UUID | None]:
    assert candidate.relations is not None
    here = KnownSet.of(memories)
    given = relations.verdict(
        candidate, candidate.relations, here, relations.ended(candidate, candidate.relations, here)
    )
    return given.kind, given.known and given.known.id


def ended(candidate: Candidate, memories: Sequence[KnownMemory] = ALL) -> list[str]:
    assert candidate.relations is not None
    return [end.known.content for end in relations.ended(candidate, candidate.relations, KnownSet.of(memories))]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (Relations(), (Kind.ADD, None)),
        (Relations(same_as=shown(BERLIN)), (Kind.CONFIRM, BERLIN.id)),
        (Relations(more_of=shown(BERLIN)), (Kind.MERGE, BERLIN.id)),
        (Relations(ends=ends(BERLIN)), (Kind.SUPERSEDE, BERLIN.id)),
        (Relations(same_as=Shown(uuid4(), 1)), (Kind.ADD, None)),
    ],
)
def test_a_verdict_says_what_the_reader_said(stated: Relations, expected: tuple[Kind, UUID | None]) -> None:
    assert verdict(said("Ada has a flat in Porto.", stated)) == expected


def test_words_that_are_known_need_no_relation() -> None:
    assert verdict(said("Ada has a cat.", Relations())) == (Kind.CONFIRM, CAT.id)


def test_known_words_that_end_something_take_the_place_of_both() -> None:
    candidate = said("Ada has a cat.", Relations(ends=ends(BERLIN)))
    assert verdict(candidate) == (Kind.SUPERSEDE, BERLIN.id)
    assert ended(candidate) == ["Ada lives in Berlin.", "Ada has a cat."]


def test_a_memory_that_has_changed_since_it_was_shown_is_left_alone() -> None:
    old = Shown(BERLIN.id, BERLIN.version + 1)
    assert verdict(said("Ada lives in Porto.", Relations(old, old, (Ended(old),)))) == (Kind.ADD, None)


def test_a_statement_ends_what_is_about_another_name() -> None:
    assert ended(said("Ada's mother has retired.", Relations(ends=ends(MOTHER)))) == ["Evelyn works."]


def test_nothing_ends_that_was_said_later() -> None:
    later = known("Ada lives in Rome.", day=1)
    candidate = said("Ada has moved to Porto.", Relations(ends=ends(later, BERLIN)))
    assert ended(candidate, [later, BERLIN]) == ["Ada lives in Berlin."]


def test_another_value_of_a_slot_is_ended_even_if_the_reader_has_not_named_it() -> None:
    berlin = replace(BERLIN, attribute="home.city", value="Berlin")
    porto = said("Ada lives in Porto.", Relations(), attribute="home.city", value="Porto")
    assert ended(porto, [berlin, CAT]) == ["Ada lives in Berlin."]
    assert verdict(porto, [berlin, CAT]) == (Kind.SUPERSEDE, berlin.id)
    same = said("Ada has her home in Berlin.", Relations(), attribute="home.city", value="Berlin")
    assert verdict(same, [berlin]) == (Kind.CONFIRM, berlin.id)
    with_cat = replace(same, relations=Relations(ends=ends(CAT)))
    assert ended(with_cat, [berlin, CAT]) == ["Ada has a cat.", "Ada lives in Berlin."], "the slot is filled once"


def test_an_earlier_value_of_a_slot_ends_nothing() -> None:
    later = replace(BERLIN, attribute="home.city", value="Berlin", occurred_at=NOON + timedelta(days=1))
    porto = said("Ada lives in Porto.", Relations(ends=ends(CAT)), attribute="home.city", value="Porto")
    assert (verdict(porto, [later, CAT]), ended(porto, [later, CAT])) == ((Kind.PREDATES, later.id), [])


def test_a_slot_that_the_known_wording_lacks_comes_with_the_new_one() -> None:
    porto = said("Ada lives in Berlin now.", Relations(shown(BERLIN)), attribute="home.city", value="Berlin")
    assert verdict(porto) == (Kind.MERGE, BERLIN.id)


def test_a_slip_is_reworded_and_does_not_become_history() -> None:
    slip = said("Ada lives in Bern.", Relations(ends=ends(BERLIN)), corrects=True, occurred_at=BERLIN.occurred_at)
    known_then = replace(slip, said_at=NOON)
    assert verdict(known_then) == (Kind.REPLACE, BERLIN.id)
    for fields in ({"attribute": "home.city", "value": "Bern"}, {"subject": "Mia"}, {"occurred_at": NOON}):
        assert verdict(replace(known_then, **fields))[0] is Kind.SUPERSEDE, "more than its words would change"


def decide(*candidates: Candidate, rests: Sequence[str] = ()) -> list[Change]:
    vectors = np.eye(len(candidates), 8, dtype=np.float32)
    vectors_of_rests = {rest: np.ones(8, dtype=np.float32) for rest in rests}
    return batch.decide(list(candidates), vectors, [ALL for _ in candidates], rests=vectors_of_rests)


def test_one_statement_ends_several_and_takes_the_place_of_what_it_says_more_of() -> None:
    (add,) = decide(said("Ada has left with her cat.", Relations(None, shown(CAT), ends(BERLIN, MOTHER))))
    assert isinstance(add, Add)
    assert add.supersedes
    assert {add.supersedes.id, *(end.known.id for end in add.also)} == {CAT.id, BERLIN.id, MOTHER.id}


def test_what_one_statement_has_ended_is_there_for_no_other_of_the_batch() -> None:
    changes = decide(
        said("Ada lives in Porto.", Relations(ends=ends(BERLIN))),
        said("Ada likes Porto.", Relations(ends=ends(BERLIN))),
    )
    assert [bool(isinstance(change, Add) and change.supersedes) for change in changes] == [True, False]


def test_more_of_a_memory_and_a_slip_are_written_into_it() -> None:
    more = decide(said("Ada has a black cat.", Relations(more_of=shown(CAT))))
    slip = said("Ada has a dog.", Relations(ends=ends(CAT)), corrects=True, occurred_at=CAT.occurred_at, said_at=NOON)
    assert [type(change) for change in (*more, *decide(slip))] == [Merge, Replace]


def test_a_memory_is_reworded_once_a_batch() -> None:
    changes = decide(
        said("Ada has a black cat.", Relations(more_of=shown(CAT))),
        said("Ada has a cat of three years.", Relations(more_of=shown(CAT))),
    )
    assert {type(change) for change in changes} == {Merge, Add}, "the second wording would lose what the first says"


def test_what_remains_of_an_ended_memory_stays_in_it() -> None:
    moved = said("Ada has moved.", Relations(ends=ends(BERLIN, rest="Ada works in Berlin.")))
    add, edit, link = decide(moved, rests=["Ada works in Berlin."])
    assert isinstance(add, Add)
    assert isinstance(edit, Edit)
    assert (add.retired, edit.id, edit.fields["content"]) == ([], BERLIN.id, "Ada works in Berlin.")
    assert isinstance(link, Link)
    assert (link.from_id, link.relation, link.to_id) == (add.id, Relation.SUPERSEDES_PART, BERLIN.id)
    (alone,) = decide(moved)
    assert isinstance(alone, Add)
    assert alone.supersedes == BERLIN, "another memory says what remains"


def test_relations_of_a_statement_that_is_made_twice_are_united() -> None:
    first = said("Ada has moved.", Relations(ends=ends(BERLIN)))
    (merged,) = batch.merge_candidates([first, replace(first, relations=Relations(more_of=shown(CAT)))])
    assert merged.relations == Relations(None, shown(CAT), ends(BERLIN))
