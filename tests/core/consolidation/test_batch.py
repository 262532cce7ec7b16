from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from core.consolidation import batch as consolidation_batch
from core.consolidation import judge
from core.consolidation.judge import OpinionKind, Thresholds
from core.inference.embedders import HashEmbedder
from core.memory import identity as core_identity
from core.memory.changes import Add, Change, Confirm, Dispute, Ignore, Joined, Link, Merge, Replace
from core.memory.identity import KnownMemory
from core.types import Candidate, Category, Evidence, Relation, Topic

ASKS_ALL = Thresholds(unclear=0.35)
"""Every pair that has anything to do with each other is in question."""

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
EMBEDDER = HashEmbedder(64)


def said(content: str, day: int = 0, **fields: object) -> Candidate:
    quote = Evidence("s1", f"m-{day}-{content}", "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (quote,), NOON + timedelta(days=day))
    return replace(plain, **fields)  # type: ignore[arg-type]


def lives_in(city: str, day: int) -> Candidate:
    return said(f"Ada lives in {city}.", day, attribute="home.city", value=city)


def decided(
    candidates: Sequence[Candidate], store: dict[object, KnownMemory] | None = None, word: OpinionKind | None = None
) -> list[Change]:
    """What becomes of a batch beside what is known, where a model says one word of every pair it is asked about."""
    merged = consolidation_batch.merge_candidates(candidates)
    vectors = EMBEDDER.embed([c.content for c in merged])
    known = list((store or {}).values())
    near = [[replace(k, similarity=cosine(c.content, k.content)) for k in known] for c in merged]
    return consolidation_batch.decide(merged, vectors, near, ASKS_ALL, lambda _pair: word)


def cosine(one: str, other: str) -> float:
    a, b = EMBEDDER.embed([one, other])
    return float(a @ b)


def kept(store: dict[object, KnownMemory], changes: Sequence[Change]) -> dict[object, KnownMemory]:
    """What is active after the changes, as the door for writing would leave it."""
    after = dict(store)
    for change in changes:
        if isinstance(change, Add):
            if change.supersedes is not None:
                del after[change.supersedes.id]
            if change.past is None:
                c = change.candidate
                after[change.id] = KnownMemory(change.id, 1, c.content, c.subject, c.attribute, c.value, c.occurred_at)
        elif isinstance(change, Confirm):
            assert change.known.id in store
        elif isinstance(change, Merge | Replace):
            after[change.known.id] = replace(after[change.known.id], content=change.candidate.content)
    return after


def quotes(change: Change) -> Sequence[Evidence]:
    return change.candidate.evidence if isinstance(change, Add | Confirm | Merge | Replace | Ignore) else ()


def adds(changes: Sequence[Change]) -> list[Add]:
    return [c for c in changes if isinstance(c, Add)]


def test_a_statement_made_twice_in_a_batch_is_added_once_with_both_quotes() -> None:
    (add,) = adds(decided([said("Ada has a cat.", 0), said("ada has a cat", 1)]))
    assert {e.message_id for e in add.candidate.evidence} == {"m-0-Ada has a cat.", "m-1-ada has a cat"}


def test_the_same_in_other_words_is_added_once_unless_a_guard_objects() -> None:
    text = "Ada has {} cats, and all of them are at home and black"
    again = decided([said(text.format("2")), said(text.format("2").replace("and black", "black and"))])
    assert [type(change) for change in again] == [Add, Joined], "the other wording has its verdict"
    assert len(decided([said(text.format("2")), said(text.format("3"))])) == 2


def test_a_slot_that_changes_within_a_batch_leaves_the_last_value_active_and_the_others_as_history() -> None:
    changes = adds(decided([lives_in("Porto", 2), lives_in("Lisbon", 1), lives_in("Faro", 3)]))
    assert [(c.candidate.value, c.past and c.past.day) for c in changes] == [
        ("Lisbon", 23),
        ("Porto", 24),
        ("Faro", None),
    ]


def test_a_value_that_comes_back_counts_from_when_it_was_last_said() -> None:
    changes = adds(decided([lives_in("Lisbon", 1), lives_in("Porto", 2), lives_in("Lisbon", 3)]))
    active = [c.candidate for c in changes if c.past is None]
    assert [(c.value, c.occurred_at.day) for c in active] == [("Lisbon", 24)]


def test_a_later_value_supersedes_what_is_known_once() -> None:
    store = kept({}, decided([lives_in("Lisbon", 1)]))
    changes = adds(decided([lives_in("Porto", 2), lives_in("Faro", 3)], store))
    assert [c.candidate.value for c in changes if c.supersedes] == ["Faro"]
    assert [c.candidate.value for c in changes if c.past] == ["Porto"]


def test_an_earlier_value_becomes_history_and_leaves_the_known_one_active() -> None:
    store = kept({}, decided([lives_in("Lisbon", 5)]))
    (change,) = adds(decided([lives_in("Porto", 1)], store))
    assert change.past == NOON + timedelta(days=5)
    assert change.supersedes is None


def test_what_is_known_is_confirmed_with_the_new_quote() -> None:
    store = kept({}, decided([said("Ada has a cat.")]))
    (change,) = decided([said("Ada has a cat.", 3)], store)
    assert isinstance(change, Confirm)
    assert [e.message_id for e in change.candidate.evidence] == ["m-3-Ada has a cat."]


def test_no_candidates_change_nothing() -> None:
    assert decided([]) == []


def test_a_statement_near_one_of_the_same_subject_refines_it() -> None:
    store = kept({}, decided([said("Ada has a cat at home.")]))
    (known,) = store.values()
    fresh = [said("Ada has a cat at home now."), said("Bob plays chess.", subject="bob")]
    near = [[replace(known, similarity=0.8)], [replace(known, similarity=0.8)]]
    changes = consolidation_batch.decide(fresh, EMBEDDER.embed([c.content for c in fresh]), near)
    (link,) = consolidation_batch.link_related(changes, fresh, near)
    assert (link.relation, link.to_id) == (Relation.REFINES, known.id)


def test_one_that_says_more_is_merged_into_what_is_known_and_its_wording_goes_on_from_there() -> None:
    store = kept({}, decided([said("Ada likes coffee.")]))
    richer = [said("Ada likes coffee, strong and black.", 1), said("Ada likes coffee.", 2, tags=("taste",))]
    changes = decided(richer, store)
    assert [type(c) for c in changes] == [Merge, Confirm]
    assert [k.content for k in kept(store, changes).values()] == ["Ada likes coffee, strong and black."]


def test_within_a_batch_the_richer_wording_wins_in_any_order() -> None:
    less, more = said("Ada likes coffee.", 0, tags=("a",)), said("Ada likes coffee, strong and black.", 1, tags=("b",))
    for batch in ([less, more], [replace(more, occurred_at=NOON), replace(less, occurred_at=NOON + timedelta(1))]):
        (add,) = adds(decided(batch))
        assert add.candidate.content == more.content
        assert (len(add.candidate.evidence), set(add.candidate.tags)) == (2, {"a", "b"})


def test_what_is_denied_stays_beside_what_denies_it_and_both_are_disputed() -> None:
    store = kept({}, decided([said("Ada eats meat.")]))
    (known,) = store.values()
    add, dispute = decided([said("Ada does not eat meat.", 1)], store)
    assert isinstance(add, Add)
    assert isinstance(dispute, Dispute)
    assert (dispute.memory.id, dispute.other.id) == (add.id, known.id)
    within = decided([said("Ada eats meat."), said("Ada does not eat meat.", 1)])
    assert [type(c) for c in within] == [Add, Add, Dispute]


def test_what_is_over_within_a_batch_leaves_the_first_as_history() -> None:
    first, second = adds(decided([said("Ada eats meat."), said("Ada no longer eats meat.", 1)]))
    assert (first.past, second.past) == (NOON + timedelta(days=1), None)


def test_junk_is_ignored() -> None:
    assert [type(c) for c in decided([said("Hello!"), said("Ada has a cat.")])] == [Add, Ignore]


INDEPENDENT = [
    "Ada has a cat.", "Ada plays chess.", "Bob lives abroad.", "Ada eats meat.", "Ada works nights.",
    "我喜欢喝茶", "我养了狗",
]  # fmt: skip


@given(st.permutations(INDEPENDENT))
def test_the_order_of_candidates_that_have_nothing_to_do_with_each_other_does_not_matter(order: list[str]) -> None:
    changes = adds(decided([said(content, day) for day, content in enumerate(order)]))
    assert {(c.candidate.content, c.reason.split(":")[0]) for c in changes} == {(one, "New") for one in INDEPENDENT}


WORDS = st.lists(st.sampled_from("ada bob cat dog 2 3 not Lisbon likes 喜欢 不".split()), min_size=1, max_size=4).map(
    " ".join
)
PLAIN = st.builds(said, WORDS, st.integers(0, 5))
SLOTS = st.builds(
    lambda city, day, subject: replace(lives_in(city, day), subject=subject),
    st.sampled_from(["Lisbon", "lisbon", "Porto", "Faro"]),
    st.integers(0, 5),
    st.sampled_from(["ada", "bob"]),
)
BATCHES = st.lists(PLAIN | SLOTS, max_size=8)


@settings(deadline=None)
@given(BATCHES)
def test_the_same_candidates_a_second_time_add_nothing(batch: list[Candidate]) -> None:
    store = kept({}, decided(batch))
    again = decided(batch, store)
    current = {(k.subject, k.attribute): k.value for k in store.values() if k.attribute}
    # A value that was replaced meanwhile is history when said again; nothing that is active changes.
    fresh = [a for a in adds(again) if a.past is None]
    assert fresh == []
    assert {(k.subject, k.attribute): k.value for k in kept(store, again).values() if k.attribute} == current


@settings(deadline=None)
@given(BATCHES)
def test_a_slot_has_one_active_value_at_the_most(batch: list[Candidate]) -> None:
    store = kept({}, decided(batch))
    slots = [(k.subject, k.attribute) for k in store.values() if k.attribute]
    assert len(slots) == len(set(slots))


@settings(deadline=None)
@given(BATCHES, BATCHES)
def test_every_quote_ends_in_a_change_or_in_what_a_change_replaced(
    first: list[Candidate], second: list[Candidate]
) -> None:
    store = kept({}, decided(first))
    changes = decided(second, store)
    cited = {e for c in changes for e in quotes(c)}
    stated = {core_identity.statement_key(c.subject, c.content): c for c in second}
    for candidate in stated.values():
        if candidate.attribute is None:
            assert set(candidate.evidence) <= cited


STEADY = st.sampled_from([None, OpinionKind.SAME, OpinionKind.MORE, OpinionKind.CONTRADICTS, OpinionKind.DIFFERENT])
"""Words by which, said of everything, the same store comes out of a batch however often it is read."""


@settings(deadline=None)
@given(BATCHES, STEADY)
def test_the_same_candidates_a_second_time_add_nothing_whatever_a_model_says(
    batch: list[Candidate], word: OpinionKind | None
) -> None:
    store = kept({}, decided(batch, word=word))
    again = adds(decided(batch, store, word))
    assert [a for a in again if a.past is None] == []


@settings(deadline=None)
@given(BATCHES, BATCHES, st.sampled_from(list(OpinionKind)))
def test_no_word_of_a_model_makes_one_of_two_that_a_guard_keeps_apart(
    first: list[Candidate], second: list[Candidate], word: OpinionKind
) -> None:
    store = kept({}, decided(first, word=word))
    for change in decided(second, store, word):
        if isinstance(change, Merge | Confirm) and change.candidate.attribute is None:
            said, known = change.candidate.content, change.known.content
            same = core_identity.statement_key("ada", said) == core_identity.statement_key("ada", known)
            assert same or judge.conflict_between(said, known) is None


@settings(deadline=None)
@given(BATCHES, BATCHES, st.randoms(use_true_random=False), st.sampled_from(list(OpinionKind)))
def test_what_is_said_of_others_changes_nothing_in_any_order(
    mine: list[Candidate], theirs: list[Candidate], chance: random.Random, word: OpinionKind
) -> None:
    mine = [replace(c, subject="ada") for c in mine]
    theirs = [replace(c, subject="carol") for c in theirs]
    together = [*mine, *theirs]
    chance.shuffle(together)
    alone = [shape(c) for c in decided([c for c in together if c.subject == "ada"], word=word)]
    among = [shape(c) for c in decided(together, word=word) if shape(c)[1] == "ada"]
    alone = [one for one in alone if one[0] is not Link]
    assert among == alone


@settings(deadline=None)
@given(BATCHES, BATCHES, st.sampled_from([None, *OpinionKind]))
def test_every_statement_of_a_batch_has_one_change_or_verdict(
    first: list[Candidate], second: list[Candidate], word: OpinionKind | None
) -> None:
    store = kept({}, decided(first, word=word))
    changes = decided(second, store, word)
    changes += consolidation_batch.join_verdicts(second, consolidation_batch.merge_candidates(second), changes)
    judged = [one for one in changes if not isinstance(one, Dispute | Link)]
    for c in second:
        mine = [one for one in judged if identity(one.candidate) == identity(c)]  # type: ignore[union-attr]
        assert len(mine) == 1
        assert set(c.evidence) <= set(mine[0].candidate.evidence)  # type: ignore[union-attr]


def identity(c: Candidate) -> tuple[object, ...]:
    return core_identity.statement_key(c.subject, c.content), c.attribute, c.value


def shape(change: Change) -> tuple[object, ...]:
    """What a change does, without the ids it makes up."""
    if isinstance(change, Dispute):
        return Dispute, change.memory.subject, change.memory.content, change.other.content
    if isinstance(change, Link):
        return Link, change.relation
    assert isinstance(change, Add | Ignore | Joined)
    return type(change), change.candidate.subject, change.candidate, change.reason


def test_a_batch_is_asked_about_once_with_what_it_says_itself() -> None:
    known = said("Ada gives violin lessons to the children in town.")
    store = kept({}, decided([known]))
    fresh = [said(f"Ada gives violin lessons to {who} in town.", 1) for who in ("adults", "everyone")]
    vectors = EMBEDDER.embed([c.content for c in fresh])
    near = [[replace(k, similarity=cosine(c.content, k.content)) for k in store.values()] for c in fresh]
    pairs = consolidation_batch.unclear(fresh, vectors, near)
    assert [(pair.candidate.content, pair.known.content) for pair in pairs] == [
        (fresh[0].content, known.content),
        (fresh[1].content, fresh[0].content),
        (fresh[1].content, known.content),
    ]
    changes = consolidation_batch.decide(fresh, vectors, near, answers=lambda _pair: OpinionKind.CONTRADICTS)
    assert [type(c) for c in changes] == [Add, Add, Dispute, Dispute]


def test_what_is_asked_for_is_kept_whatever_it_says() -> None:
    junk = [said("Hello!")]
    vectors = EMBEDDER.embed(["Hello!"])
    assert [type(c) for c in consolidation_batch.decide(junk, vectors, [[]])] == [Ignore]
    assert [type(c) for c in consolidation_batch.decide(junk, vectors, [[]], explicit=True)] == [Add]


def test_what_is_known_and_replaced_later_in_the_same_batch_is_confirmed_before_it_goes() -> None:
    store = kept({}, decided([lives_in("Lisbon", 0)]))
    changes = decided([lives_in("Lisbon", 1), lives_in("Porto", 2)], store)
    assert {type(change) for change in changes} == {Add, Confirm}, "no statement is dropped without a word"
    (change,) = adds(changes)
    assert change.supersedes is not None


def test_a_long_batch_is_judged_by_the_nearest_of_its_own_alone() -> None:
    many = [said(f"Ada likes tea number {n}.", n) for n in range(40)]
    vectors = EMBEDDER.embed([c.content for c in many])
    batch = consolidation_batch._Batch(ASKS_ALL, vectors, many, {}, {})
    for place, candidate in enumerate(many):
        batch.adds[place] = Add(candidate, "new", vectors[place])
    near = batch.near(many[0], vectors[0])
    assert len(near) == consolidation_batch.NEAREST
    assert near[0].content == many[0].content
