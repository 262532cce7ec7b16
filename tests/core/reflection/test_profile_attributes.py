from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.reflection import profile_attributes
from core.reflection.profile_attributes import Trait
from core.types import Category, Json, Topic

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PLAIN = Trait(
    id="m1",
    user_id="ada",
    subject="ada",
    category=Category.FACT,
    topic=Topic.WORK,
    content="Ada works at Initech.",
    attribute=None,
    value=None,
    gathered=None,
    negated=False,
    confidence=0.8,
    disputed=False,
    since=NOON,
    until=None,
    strength=0.5,
)
LISBON = replace(PLAIN, id="m2", content="Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
NUTS = replace(PLAIN, id="m3", content="Ada is allergic to nuts.", gathered=("allergy", ("nuts", "eggs")))


def of_ada(*traits: Trait) -> Json:
    return profile_attributes.of_user(traits, {"ada"})


def test_a_slot_names_its_value_its_memories_its_confidence_and_since_when() -> None:
    again = replace(LISBON, id="m9", value="lisbon", confidence=0.9, strength=0.1, since=NOON - timedelta(days=3))
    assert of_ada(LISBON, again)["slots"]["home.city"] == {
        "value": "Lisbon",
        "memories": ["m2", "m9"],
        "confidence": 0.9,
        "since": again.since.isoformat(),
    }


def test_what_is_disputed_stands_behind_what_is_not_however_late_and_is_shown_as_such() -> None:
    porto = replace(LISBON, id="m9", value="Porto", disputed=True, since=NOON + timedelta(days=9), confidence=1.0)
    home = of_ada(LISBON, porto)["slots"]["home.city"]
    assert home["value"] == "Lisbon"
    assert "disputed" not in home
    assert [(one["value"], one["disputed"]) for one in home["alternatives"]] == [("Porto", True)]


def test_a_value_that_stands_alone_in_dispute_says_so() -> None:
    assert of_ada(replace(LISBON, disputed=True))["slots"]["home.city"]["disputed"] is True


def test_of_two_undisputed_values_the_latest_stands() -> None:
    porto = replace(LISBON, id="m9", value="Porto", since=NOON + timedelta(days=9), confidence=0.3)
    assert of_ada(LISBON, porto)["slots"]["home.city"]["value"] == "Porto"


def test_lists_are_gathered_from_all_memories_that_add_to_them() -> None:
    fish = replace(NUTS, id="m9", gathered=("allergy", ("Nuts", "fish")), strength=0.4)
    allergies = of_ada(NUTS, fish)["lists"]["allergy"]
    assert [(one["value"], one["memories"]) for one in allergies] == [
        ("nuts", ["m3", "m9"]),
        ("eggs", ["m3"]),
        ("fish", ["m9"]),
    ]


def test_a_denied_value_is_marked_and_disputes_the_same_value_where_it_is_affirmed() -> None:
    denied = replace(NUTS, id="m9", gathered=("allergy", ("nuts",)), negated=True, strength=0.1)
    allergies = of_ada(NUTS, denied)["lists"]["allergy"]
    marks = {(one["value"], one.get("negated", False)): one.get("disputed", False) for one in allergies}
    assert marks == {("nuts", False): True, ("eggs", False): False, ("nuts", True): True}


def test_statements_stand_by_topic_the_strongest_first_and_no_more_than_five() -> None:
    several = [replace(PLAIN, id=f"m{n}", content=f"Fact {n}.", strength=n / 10) for n in range(8)]
    shown = [one["content"] for one in of_ada(*several)["topics"]["work"]]
    assert shown == [f"Fact {n}." for n in (7, 6, 5, 4, 3)]


def test_preferences_instructions_habits_and_goals_have_their_own_sections() -> None:
    wanted = {
        Category.PREFERENCE: "preferences",
        Category.INSTRUCTION: "instructions",
        Category.PATTERN: "habits",
        Category.PLAN: "goals",
    }
    traits = [replace(PLAIN, id=c.value, category=c) for c in wanted]
    traits += [replace(PLAIN, id="h", topic=Topic.HABIT), replace(PLAIN, id="g", topic=Topic.GOAL)]
    found = of_ada(*traits)
    assert {name: sorted(m for one in found[name] for m in one["memories"]) for name in wanted.values()} == {
        "preferences": ["preference"],
        "instructions": ["instruction"],
        "habits": ["h", "pattern"],
        "goals": ["g", "plan"],
    }


def test_episodes_and_skills_stand_apart_from_what_describes_a_person_the_latest_episodes_first() -> None:
    talks = [
        replace(PLAIN, id=f"e{n}", category=Category.EPISODE, content=f"Talk {n}.", since=PLAIN.since + timedelta(n))
        for n in range(profile_attributes.EPISODES + 2)
    ]
    found = of_ada(*talks, replace(PLAIN, category=Category.SKILL, content="To deploy: 1. Test."))
    assert found.keys() == {"skills", "episodes"}
    assert [line["content"] for line in found["skills"]] == ["To deploy: 1. Test."]
    assert [line["content"] for line in found["episodes"]] == [f"Talk {n}." for n in (6, 5, 4, 3, 2)]


def test_what_is_known_of_others_stands_under_their_names() -> None:
    sister = replace(LISBON, id="m9", subject="Ada's sister", value="Porto")
    found = of_ada(LISBON, sister)
    assert found["slots"]["home.city"]["memories"] == ["m2"]
    assert found["people"]["Ada's sister"]["slots"]["home.city"]["memories"] == ["m9"]


def test_the_names_of_changed_attributes_are_those_that_differ() -> None:
    before = of_ada(LISBON, NUTS, PLAIN)
    after = of_ada(replace(LISBON, value="Porto"), NUTS, replace(PLAIN, category=Category.PLAN))
    assert profile_attributes.changed_names(before, after) == ["goals", "home.city", "topics.work"]
    assert profile_attributes.changed_names(before, before) == []


def test_an_attribute_may_be_called_as_the_parts_of_an_entry_are() -> None:
    odd = [replace(LISBON, attribute="memories"), replace(NUTS, gathered=("memories", ("nuts",)))]
    odd += [replace(PLAIN, id="m9", subject="memories"), replace(LISBON, id="m8", attribute="confidence")]
    found = of_ada(*odd)
    assert profile_attributes.memory_ids_in(found) == {"m2", "m3", "m8", "m9"}
    assert profile_attributes.confident(found, 0.5) == found


def test_what_is_not_sure_enough_can_be_left_out() -> None:
    unsure = replace(LISBON, id="m9", attribute="employer", value="Initech", confidence=0.3)
    porto = replace(LISBON, id="m8", value="Porto", disputed=True, confidence=0.2)
    found = profile_attributes.confident(of_ada(LISBON, porto, unsure), 0.5)
    assert found == of_ada(LISBON)


def test_a_group_shows_who_spoke_what_they_share_decided_and_lived() -> None:
    bob = replace(PLAIN, id="m4", user_id="bob", subject="bob", content="Bob works at Initech.")
    plan = replace(PLAIN, id="m5", category=Category.PLAN, topic=Topic.GOAL, content="They will meet in May.")
    party = replace(bob, id="m6", category=Category.EVENT, topic=Topic.HISTORY, content="Bob gave a party.")
    found = profile_attributes.of_group([PLAIN, bob, plan, party])
    assert [one["user_id"] for one in found["members"]] == ["ada", "bob"]
    assert found["shared_topics"]["work"]["members"] == ["ada", "bob"]
    assert [(one["content"], one["by"]) for one in found["decisions"]] == [("They will meet in May.", "ada")]
    assert [one["by"] for one in found["events"]] == ["bob"]
    assert len(found["facts"]["work"]) == 2


def test_it_lapses_when_the_first_of_its_memories_does() -> None:
    soon = NOON + timedelta(days=1)
    assert (
        profile_attributes.lapses([PLAIN, replace(PLAIN, until=soon), replace(PLAIN, until=soon + timedelta(days=1))])
        == soon
    )
    assert profile_attributes.lapses([PLAIN]) is None


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8)
structures: st.SearchStrategy[Json] = st.one_of(
    st.just({}),
    st.dictionaries(words, st.none() | st.integers() | words, max_size=2),
    st.fixed_dictionaries(
        {"attribute": words | st.integers(), "values": st.lists(words | st.integers() | st.none(), max_size=3) | words},
        optional={"negated": st.booleans()},
    ),
)


@st.composite
def rows(draw: st.DrawFn) -> Any:
    """A row of `memories`, with anything in it that may stand there."""
    slotted = draw(st.booleans())
    return SimpleNamespace(
        id=draw(st.uuids()),
        user_id=draw(st.sampled_from(["ada", "bob", None])),
        subject=draw(st.sampled_from(["ada", "Ada", "bob"]) | words),
        category=draw(st.sampled_from([c.value for c in Category])),
        topic=draw(st.sampled_from([t.value for t in Topic])),
        content=draw(words),
        structured=draw(structures),
        attribute=draw(st.sampled_from(["home.city", "memories"]) | words) if slotted else None,
        value=draw(words) if slotted else None,
        confidence=draw(st.floats(0, 1)),
        trust=draw(st.sampled_from(["candidate", "confirmed", "disputed"])),
        valid_from=draw(st.sampled_from([None, NOON])),
        valid_to=None,
        occurred_at=NOON + draw(st.integers(0, 3)) * timedelta(days=1),
        expires_at=draw(st.sampled_from([None, NOON + timedelta(days=9)])),
        recorded_at=NOON,
        last_used_at=None,
        fade_height=draw(st.floats(0, 1)),
        fade_floor=0.0,
        fade_half_life=draw(st.sampled_from([None, 30.0])),
    )


def entries(part: Any) -> Iterator[Json]:
    """Everything in a profile that names memories."""
    for one in part if isinstance(part, list) else part.values() if isinstance(part, dict) else []:
        if isinstance(one, dict) and isinstance(one.get("since"), str):
            yield one
            yield from one.get("alternatives", ())
        else:
            yield from entries(one)


def holds(row: Any, entry: Json) -> bool:
    """Whether a memory says, word for word, what an entry says."""
    if "content" in entry:
        return bool(row.content == entry["content"])
    values = row.structured.get("values")
    gathered = values if isinstance(values, list) else []
    return entry["value"] == row.value or entry["value"] in gathered


def assert_never_invented(found: Json, given_rows: Sequence[Any]) -> None:
    by_id = {str(row.id): row for row in given_rows}
    assert profile_attributes.memory_ids_in(found) <= by_id.keys()
    for entry in entries(found):
        assert entry["memories"]
        assert any(holds(by_id[one], entry) for one in entry["memories"])


@given(st.lists(rows(), max_size=12, unique_by=lambda row: row.id))
def test_every_value_stands_word_for_word_in_a_memory_that_is_named_beside_it(given_rows: list[Any]) -> None:
    traits = [profile_attributes.trait(row, NOON) for row in given_rows]
    for found in (profile_attributes.of_user(traits, {"ada", "Ada"}), profile_attributes.of_group(traits)):
        assert_never_invented(found, given_rows)


@given(st.lists(rows(), max_size=12, unique_by=lambda row: row.id), st.randoms())
def test_the_order_in_which_memories_are_read_does_not_matter(given_rows: list[Any], random: Any) -> None:
    traits = [profile_attributes.trait(row, NOON) for row in given_rows]
    shuffled = random.sample(traits, len(traits))
    for of in (lambda ones: profile_attributes.of_user(ones, {"ada"}), profile_attributes.of_group):
        assert of(traits) == of(shuffled)
