"""What a new statement ends: which statements are read with it, and what follows from what the reader says."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from core.consolidation import batch, endings
from core.consolidation.endings import Floats, Pair, Reading
from core.inference.embedders import HashEmbedder
from core.inference.local_reader import LocalReader
from core.memory.changes import Add, Change, Confirm, Dispute, Edit, Link
from core.memory.codes import LONGEST
from core.memory.known_set import KnownSet
from core.types import Candidate, Category, Relation
from tests.core.consolidation.samples import NOON, a_candidate, a_known

EMBEDDER = HashEmbedder(64)
BEFORE, AFTER = NOON - timedelta(days=30), NOON + timedelta(days=30)
PLAYS, GAVE_UP = "Ada plays the oboe.", "Ada gave up the oboe."


class Says:
    """Says of some texts that they end others, of some pairs that the first ends the second, and what leans."""

    def __init__(self, *pairs: Pair, leaning: Collection[str] = ()) -> None:
        self._pairs, self._leaning = frozenset(pairs), leaning
        self.read: list[Pair] = []

    def ends(self, texts: Sequence[str]) -> Floats:
        ending = {new for new, _ in self._pairs}
        return np.array([5.0 if text in ending else -5.0 for text in texts], dtype=np.float32)

    def over(self, pairs: Sequence[Pair]) -> Floats:
        self.read += pairs
        return np.array([2.5 if pair in self._pairs else -2.5 for pair in pairs], dtype=np.float32)

    def which(self, text: str, earlier: Sequence[str]) -> Floats:
        return Says.over(self, [(text, old) for old in earlier])

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        return np.array([5.0 if text in self._leaning else -5.0 for text, _ in sentences], dtype=np.float32)


def decided(reader: Says, candidates: Sequence[Candidate], known: KnownSet, least_certain: float = 0.0) -> list[Change]:
    vectors = EMBEDDER.embed([candidate.content for candidate in candidates])
    neighbours = [known] * len(candidates)
    ending = endings.may_end(reader, [candidate.content for candidate in candidates])
    pairs = endings.pairs(candidates, vectors, neighbours, ending)
    readings = endings.read(reader, pairs)
    rests = {rest: EMBEDDER.embed([rest])[0] for rest in endings.rests(readings)}
    return batch.decide(candidates, vectors, neighbours, readings=readings, least_certain=least_certain, rests=rests)


def read_with(candidate: Candidate, known: KnownSet, ending: Collection[str] = (GAVE_UP,)) -> list[Pair]:
    return endings.pairs([candidate], EMBEDDER.embed([candidate.content]), [known], ending)


def test_a_statement_ends_an_earlier_one_with_the_probability_as_the_reason() -> None:
    old = a_known(PLAYS, 0.8, said_at=BEFORE)
    (add,) = decided(Says((GAVE_UP, PLAYS)), [a_candidate(GAVE_UP)], KnownSet.of([old]))
    assert isinstance(add, Add)
    assert (add.supersedes, add.reason) == (
        old,
        "Something said later is likely to end it (92%, by the trained reader).",
    )


def test_it_may_end_several() -> None:
    old, other = a_known(PLAYS, 0.8, said_at=BEFORE), a_known("Ada has oboe lessons.", 0.7, said_at=BEFORE)
    (add,) = decided(
        Says((GAVE_UP, PLAYS), (GAVE_UP, other.content)), [a_candidate(GAVE_UP)], KnownSet.of([old, other])
    )
    assert isinstance(add, Add)
    assert {memory.id for memory, *_ in add.retired} == {old.id, other.id}


@pytest.mark.parametrize(
    ("new", "old", "is_copy"),
    [
        ("Ada dropped off cakes at the shelter last week to help people.",
         "Ada dropped off cakes at the shelter last year to help people.", True),
        ("Ada no longer goes swimming at the pool on Mill Road every Tuesday.",
         "Ada goes swimming at the pool on Mill Road every Tuesday.", False),
        ("Ada works at Shell.", "Ada works at BP.", False),
        ("公司的团建定在下周五下午三点半", "公司的团建定在下周六下午三点半", True),
        ("Room 12 is mine.", "Room 310 is mine.", True),
    ],
)  # fmt: skip
def test_a_copy_with_another_name_or_number_is_not_read(new: str, old: str, *, is_copy: bool) -> None:
    assert endings.repeats(new, old) is is_copy


def test_a_clause_that_is_said_again_is_not_over() -> None:
    new, old = "I left the choir, and I play the oboe.", "Ada said: “I sing in a choir, and I play the oboe.”"
    says = Says((new, old), (new, "I sing in a choir"), (new, "I play the oboe"))

    reading = endings.read(says, [(new, old)])[new, old]

    assert reading.rest == "Ada said: “… I play the oboe”"


def test_statements_that_differ_in_numbers_alone_end_nothing() -> None:
    chapter = "Ada finished chapter {} at {}."
    candidate, old = chapter.format(5, "10:30"), a_known(chapter.format(4, "9:15"), 0.9, said_at=BEFORE)
    assert read_with(a_candidate(candidate), KnownSet.of([old]), (candidate,)) == []
    other = a_known("Ada finished part 4 at 9:15.", 0.9, said_at=BEFORE)
    assert len(read_with(a_candidate(candidate), KnownSet.of([other]), (candidate,))) == 1


def test_what_is_less_certain_than_the_tenant_wants_is_a_dispute() -> None:
    old = a_known(PLAYS, 0.8, said_at=BEFORE)
    reader, candidates, known = Says((GAVE_UP, PLAYS)), [a_candidate(GAVE_UP)], KnownSet.of([old])
    assert [type(change) for change in decided(reader, candidates, known, 0.92)] == [Add]
    add, dispute = decided(reader, candidates, known, 0.95)
    assert isinstance(add, Add)
    assert isinstance(dispute, Dispute)
    assert (add.retired, dispute.memory.id, dispute.other) == ([], add.id, old)


def test_what_is_less_likely_than_the_likeliest_stays() -> None:
    known = KnownSet.of([a_known(PLAYS, 0.8, said_at=BEFORE), a_known("Ada has a piano.", 0.8, said_at=BEFORE)])
    less = 4.0 - endings.MARGIN - 0.1
    readings = {(GAVE_UP, PLAYS): Reading(4.0, 4.0), (GAVE_UP, "Ada has a piano."): Reading(less, less)}
    assert [end.known.content for end in endings.ended(a_candidate(GAVE_UP), known, [], readings)] == [PLAYS]


BOTH = "Ada said: “I'm a nurse in Leeds, and I play the oboe.”"
NURSE = "Ada said: “I'm a nurse in Leeds …”"


def test_of_a_statement_that_is_over_in_part_what_holds_remains() -> None:
    old = a_known(BOTH, 0.8, said_at=BEFORE)
    add, edit, link = decided(Says((GAVE_UP, "I play the oboe")), [a_candidate(GAVE_UP)], KnownSet.of([old]))
    assert isinstance(add, Add)
    assert (add.supersedes, add.retired) == (None, [])
    assert isinstance(edit, Edit)
    assert (edit.id, edit.fields["content"]) == (old.id, NURSE)
    assert edit.vector is not None
    assert isinstance(link, Link)
    assert (link.from_id, link.relation, link.to_id) == (add.id, Relation.SUPERSEDES_PART, old.id)
    assert edit.change_id == link.change_id == add.change_id, "they are undone together"
    assert edit.reason.startswith("What remains of it. Something said later is likely to end it")


def test_a_clause_that_says_nothing_alone_goes_with_the_one_that_is_over() -> None:
    old = a_known(BOTH, 0.8, said_at=BEFORE)
    reader = Says((GAVE_UP, "I play the oboe"), leaning=["I'm a nurse in Leeds"])
    (add,) = decided(reader, [a_candidate(GAVE_UP)], KnownSet.of([old]))
    assert isinstance(add, Add)
    assert add.supersedes == old


def test_what_somebody_does_goes_with_the_clause_that_names_them() -> None:
    tomek, apart = "Ada said: “My partner Tomek lives in Krakow, he joins me in May.”", "Ada and Tomek broke up."
    reader = Says((apart, "My partner Tomek lives in Krakow"))
    (add,) = decided(reader, [a_candidate(apart)], KnownSet.of([a_known(tomek, 0.8, said_at=BEFORE)]))
    assert isinstance(add, Add)
    assert add.supersedes is not None


def test_a_statement_in_the_third_person_is_not_told_without_its_subject() -> None:
    old = a_known("Ada plays the oboe in a band and lives in Leeds.", 0.8, said_at=BEFORE)
    (add,) = decided(Says((GAVE_UP, "Ada plays the oboe in a band")), [a_candidate(GAVE_UP)], KnownSet.of([old]))
    assert isinstance(add, Add)
    assert add.retired == []


def test_a_part_remains_with_its_slot_if_it_has_its_value() -> None:
    work = a_known(BOTH, 0.8, attribute="work.role", value="nurse", said_at=BEFORE)
    music = a_known(BOTH, 0.8, attribute="skill.instrument", value="oboe", said_at=BEFORE)
    for old, fields in ((work, {"content"}), (music, {"content", "attribute", "value"})):
        _, edit, _ = decided(Says((GAVE_UP, "I play the oboe")), [a_candidate(GAVE_UP)], KnownSet.of([old]))
        assert isinstance(edit, Edit)
        assert set(edit.fields) == fields


def test_two_parts_that_end_at_once_leave_what_neither_ends() -> None:
    old = a_known("Ada said: “I'm a nurse in Leeds, I play the oboe, and I have two cats.”", 0.8, said_at=BEFORE)
    retired = "Ada retired from nursing."
    reader = Says((GAVE_UP, "I play the oboe"), (retired, "I'm a nurse in Leeds"))
    *adds, edit, _ = decided(reader, [a_candidate(GAVE_UP), a_candidate(retired)], KnownSet.of([old]))
    assert [type(add) for add in adds] == [Add, Add]
    assert isinstance(edit, Edit)
    assert edit.fields["content"] == "Ada said: “… I have two cats”"
    moved = Says((GAVE_UP, "I play the oboe"), (retired, "I'm a nurse in Leeds"))
    both = a_known(BOTH, 0.8, said_at=BEFORE)
    changes = decided(moved, [a_candidate(GAVE_UP), a_candidate(retired)], KnownSet.of([both]))
    assert [type(change) for change in changes] == [Add, Add]
    assert sum(len(add.retired) for add in changes if isinstance(add, Add)) == 1


def test_what_remains_of_two_memories_is_stored_once() -> None:
    longer = a_known("Ada said: “I'm a nurse in Leeds, and I play the oboe in a band.”", 0.8, said_at=BEFORE)
    known = KnownSet.of([a_known(BOTH, 0.8, said_at=BEFORE), longer])
    reader = Says((GAVE_UP, "I play the oboe"), (GAVE_UP, "I play the oboe in a band"))
    add, edit, _ = decided(reader, [a_candidate(GAVE_UP)], known)
    assert isinstance(add, Add)
    assert isinstance(edit, Edit)
    assert len(add.retired) == 1
    assert {edit.id, add.retired[0].known.id} == {memory.id for memory in known}


def test_what_the_batch_confirms_or_says_itself_is_not_cut() -> None:
    old, nurse = a_known(BOTH, 0.8, said_at=BEFORE), a_candidate("Ada said: “I'm a nurse in Leeds.”")
    changes = decided(Says((GAVE_UP, "I play the oboe")), [a_candidate(GAVE_UP), nurse], KnownSet.of([old]))
    assert [type(change) for change in changes] == [Add, Confirm]
    far = a_known(BOTH, 0.1, said_at=BEFORE)
    changes = decided(Says((GAVE_UP, "I play the oboe")), [a_candidate(GAVE_UP), nurse], KnownSet.of([far]))
    assert [type(change) for change in changes] == [Add, Add]
    assert sum(len(add.retired) for add in changes if isinstance(add, Add)) == 1


def test_a_memory_whose_slot_gets_another_value_is_not_cut() -> None:
    old = a_known(BOTH, 0.8, attribute="work.role", value="nurse", said_at=BEFORE)
    chef = a_candidate("Ada is a chef.", attribute="work.role", value="chef")
    changes = decided(Says((GAVE_UP, "I play the oboe")), [a_candidate(GAVE_UP), chef], KnownSet.of([old]))
    assert [type(change) for change in changes] == [Add, Add]
    assert [add.supersedes for add in changes if isinstance(add, Add)] == [None, old]


def test_an_ending_that_is_sure_as_a_whole_needs_no_sure_part() -> None:
    old = a_known(BOTH, 0.8, said_at=BEFORE)
    (add,) = decided(Says((GAVE_UP, BOTH[11:-1])), [a_candidate(GAVE_UP)], KnownSet.of([old]))
    assert isinstance(add, Add)
    assert add.supersedes == old


def test_a_statement_of_its_own_batch_is_ended_as_a_whole_or_not_at_all() -> None:
    both, gave_up = a_candidate(BOTH, said_at=BEFORE), a_candidate(GAVE_UP)
    for reader, count in ((Says((GAVE_UP, "I play the oboe")), 0), (Says((GAVE_UP, BOTH[11:-1])), 1)):
        changes = decided(reader, [both, gave_up], KnownSet.of([]))
        assert sum(isinstance(change, Add) and change.past is not None for change in changes) == count


def test_it_ends_a_statement_of_its_own_batch() -> None:
    plays, gave_up = a_candidate(PLAYS, said_at=BEFORE), a_candidate(GAVE_UP)
    changes = decided(Says((GAVE_UP, PLAYS)), [plays, gave_up], KnownSet.of([]))
    adds = {change.candidate.content: change.past for change in changes if isinstance(change, Add)}
    assert adds == {PLAYS: NOON, GAVE_UP: None}
    assert [type(change) for change in changes if not isinstance(change, Add)] == [Link]


def test_what_arrives_late_is_history_if_something_said_since_ends_it() -> None:
    since = a_known(GAVE_UP, 0.8, said_at=AFTER)
    (add,) = decided(Says((GAVE_UP, PLAYS)), [a_candidate(PLAYS)], KnownSet.of([since]))
    assert isinstance(add, Add)
    assert add.past is not None


def test_a_statement_that_ends_nothing_is_read_with_nothing() -> None:
    reader = Says()
    decided(reader, [a_candidate("Ada likes tea.")], KnownSet.of([a_known(PLAYS, 0.9, said_at=BEFORE)]))
    assert reader.read == []


def test_quotations_are_read_without_their_frame() -> None:
    reader = Says(("I gave up the oboe.", "I play the oboe."))
    old = a_known("Asked “What do you play?”, Ada said: “I play the oboe.”", 0.8, said_at=BEFORE)
    new = a_candidate("After “I am busy.”, Ada said on 3 May 2026: “I gave up the oboe.”")
    (add,) = decided(reader, [new], KnownSet.of([old]))
    assert reader.read == [("I gave up the oboe.", "I play the oboe.")]
    assert isinstance(add, Add)
    assert add.supersedes == old


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": "bob"},
        {"category": Category.EPISODE},
        {"content": PLAYS * LONGEST},
        {"attribute": "hobby", "value": "oboe"},
        {"content": GAVE_UP},
    ],
)
def test_what_is_not_read_with_it(fields: dict[str, object]) -> None:
    """Another's statement, an episode, a document, the same slot, the same words."""
    new = a_candidate(GAVE_UP, attribute="hobby" if "attribute" in fields else None)
    known = KnownSet.of([a_known(**{"content": PLAYS, "similarity": 0.9, "said_at": BEFORE, **fields})])  # type: ignore[arg-type]
    assert read_with(new, known) == []


def test_it_is_read_with_the_nearest_alone() -> None:
    known = [a_known(f"Ada owns {n} reeds.", n / 100, said_at=BEFORE) for n in range(3 * endings.NEAREST)]
    read = [old for _, old in read_with(a_candidate(GAVE_UP), KnownSet.of(known))]
    assert read == [memory.content for memory in known[: -endings.NEAREST - 1 : -1]]


def test_the_reader_of_this_installation_knows_an_end_from_a_mention() -> None:
    reader = LocalReader()
    told = ["I don't drink coffee anymore.", "I had a coffee with Anna this morning."]
    over, holds = reader.over([(new, "I drink three coffees a day.") for new in told]).tolist()
    assert over >= endings.LEAST > holds
    assert set(endings.may_end(reader, told)) == {told[0]}


class Unsure(Says):
    """Says of some pairs that the first may end the second, though not certainly."""

    def over(self, pairs: Sequence[Pair]) -> Floats:
        return np.where(super().over(pairs) > 0, np.float32(1.0), np.float32(-2.5))


def doubts(changes: Sequence[Change]) -> list[tuple[object, object]]:
    return [
        (change.from_id, change.to_id)
        for change in changes
        if isinstance(change, Link) and change.relation == Relation.MAY_SUPERSEDE
    ]


def test_what_may_be_over_is_doubted_and_not_ended() -> None:
    old, other = a_known(PLAYS, 0.8, said_at=BEFORE), a_known("Ada sings.", 0.7, said_at=BEFORE)
    changes = decided(Unsure((GAVE_UP, PLAYS)), [a_candidate(GAVE_UP)], KnownSet.of([old, other]))
    add = changes[0]
    assert isinstance(add, Add)
    assert not add.retired
    assert doubts(changes) == [(add.id, old.id)]


def test_what_is_like_the_statement_that_ends_is_left_once_they_are_compared() -> None:
    oboe, horn = a_known(PLAYS, 0.8, said_at=BEFORE), a_known("Ben plays the oboe.", 0.9, said_at=BEFORE)

    class Comparing(Says):
        def which(self, text: str, earlier: Sequence[str]) -> Floats:
            return np.array([3.0 if old == PLAYS else -1.0 for old in earlier], dtype=np.float32)

    pairs = (GAVE_UP, PLAYS), (GAVE_UP, "Ben plays the oboe.")
    for reader, expected in ((Says(*pairs), {oboe.id, horn.id}), (Comparing(*pairs), {oboe.id})):
        (add,) = [
            change
            for change in decided(reader, [a_candidate(GAVE_UP)], KnownSet.of([oboe, horn]))
            if isinstance(change, Add)
        ]
        assert {add.supersedes.id if add.supersedes else None, *(end.known.id for end in add.retired)} - {
            None
        } == expected


def test_at_most_two_are_doubted_the_likeliest() -> None:
    lessons = [a_known(f"Ada has {word} lessons.", 0.8, said_at=BEFORE) for word in ("oboe", "flute", "horn")]
    reader = Unsure(*[(GAVE_UP, memory.content) for memory in lessons])
    assert len(doubts(decided(reader, [a_candidate(GAVE_UP)], KnownSet.of(lessons)))) == 2


def test_what_the_batch_ends_is_not_doubted_as_well() -> None:
    old = a_known(PLAYS, 0.8, said_at=BEFORE)
    sold = a_candidate("Ada sold her oboe.", occurred_at=NOON)
    gave_up = a_candidate(GAVE_UP, occurred_at=AFTER)

    class Both(Says):
        def over(self, pairs: Sequence[Pair]) -> Floats:
            values = {(sold.content, PLAYS): 1.0, (GAVE_UP, PLAYS): 2.5}
            return np.array([values.get(pair, -2.5) for pair in pairs], dtype=np.float32)

    changes = decided(Both((sold.content, PLAYS), (GAVE_UP, PLAYS)), [sold, gave_up], KnownSet.of([old]))
    assert [add.retired for add in changes if isinstance(add, Add) and add.retired]
    assert doubts(changes) == []


def test_what_was_not_kept_saves_no_memory_by_being_likelier() -> None:
    old = a_known(PLAYS, 0.8, said_at=BEFORE)
    unkept = a_candidate("Ada has the oboe on Thursdays.", occurred_at=BEFORE, tentative=True)

    class Surer(Says):
        def over(self, pairs: Sequence[Pair]) -> Floats:
            values = {(GAVE_UP, PLAYS): 2.5, (GAVE_UP, unkept.content): 6.0}
            return np.array([values.get(pair, -2.5) for pair in pairs], dtype=np.float32)

    reader = Surer((GAVE_UP, PLAYS), (GAVE_UP, unkept.content))
    changes = decided(reader, [unkept, a_candidate(GAVE_UP)], KnownSet.of([old]))
    past, add = [change for change in changes if isinstance(change, Add)]
    assert (past.candidate.content, past.candidate.tentative, bool(past.past)) == (unkept.content, False, True)
    assert {end.known.id for end in add.retired} == {old.id}


def test_what_was_not_kept_and_is_not_ended_is_not_stored() -> None:
    unkept = a_candidate("Ada has the oboe on Thursdays.", occurred_at=BEFORE, tentative=True)
    (add,) = decided(Says((GAVE_UP, PLAYS)), [unkept, a_candidate(GAVE_UP)], KnownSet.of([]))
    assert isinstance(add, Add)
    assert add.candidate.content == GAVE_UP


def test_what_was_not_kept_and_is_said_again_is_kept() -> None:
    unkept = a_candidate(GAVE_UP, occurred_at=BEFORE, tentative=True)
    later = replace(unkept, occurred_at=AFTER)
    for candidates in ([unkept, a_candidate(GAVE_UP)], [a_candidate(GAVE_UP, occurred_at=BEFORE), later]):
        (merged,) = batch.merge_candidates(candidates)
        assert not merged.tentative


def test_what_is_known_already_makes_nothing_doubtful() -> None:
    old = a_known(PLAYS, 0.8, said_at=BEFORE)
    known = a_known(GAVE_UP, 1.0, said_at=BEFORE)
    changes = decided(Unsure((GAVE_UP, PLAYS)), [a_candidate(GAVE_UP)], KnownSet.of([old, known]))
    assert isinstance(changes[0], Confirm)
    assert doubts(changes) == []
