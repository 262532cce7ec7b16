"""The extractor end to end: what becomes a memory, in whose name, and what does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.extraction.rule_extractor import extract, statements_of_rules
from core.types import Candidate, Category, Kind, Message

SAID_AT = datetime(2026, 5, 20, 15, tzinfo=UTC)  # a Wednesday
LABELLED = Path(__file__).with_name("labelled.jsonl")
ROWS = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]


def said(text: str, *, role: str = "user", speaker: str | None = None, position: int = 1) -> Message:
    return Message("s1", f"m{position}", position, f"e{position}", "Ada", role, text, SAID_AT, speaker)


def read(text: str, **about: str | None) -> list[Candidate]:
    return statements_of_rules([said(text, role=about.get("role") or "user", speaker=about.get("speaker"))])


def answered(question: str, text: str, **about: str) -> list[Candidate]:
    asked = said(question, role=about.get("asker", "assistant"), speaker=about.get("name"))
    return statements_of_rules([asked, said(text, position=2)])


def labelled(row: dict[str, Any]) -> list[Candidate]:
    if "asked" in row:
        return answered(row["asked"], row["text"])
    return read(row["text"], role=row.get("role"))


def one(text: str) -> Candidate:
    (candidate,) = read(text)
    return candidate


def test_a_statement_is_told_in_the_third_person_with_its_date_resolved() -> None:
    moved = one("I moved to Lisbon in May.")
    assert moved.content == "Ada moved to Lisbon in May 2026."
    assert (moved.attribute, moved.value, moved.subject) == ("home.city", "Lisbon", "Ada")
    assert moved.occurred_at == datetime(2026, 5, 1, tzinfo=UTC)
    assert moved.corrects


def test_the_evidence_is_the_exact_sentence_and_its_message() -> None:
    (candidate,) = read("Hi! Well, I'm allergic to peanuts. What's for lunch?")
    assert candidate.evidence[0].quote == "Well, I'm allergic to peanuts."
    assert (candidate.evidence[0].session_id, candidate.evidence[0].message_id) == ("s1", "m1")
    assert candidate.evidence[0].event_id == "e1"


def test_allergies_stand_side_by_side_and_matter_most() -> None:
    allergy = one("I'm allergic to peanuts and shellfish.")
    assert allergy.attribute is None
    assert allergy.structured["values"] == ["peanuts", "shellfish"]
    assert allergy.importance >= 0.9


def test_what_is_told_of_a_relative_is_about_the_relative() -> None:
    lives, sister = read("My sister Anna lives in Rome.")
    assert (lives.subject, lives.attribute, lives.value) == ("Anna", "home.city", "Rome")
    assert (sister.subject, sister.structured["values"]) == ("Ada", ["Anna"])
    assert sister.content == "Ada's sister is called Anna."


@pytest.mark.parametrize(
    "text",
    [
        "My sister lives in Oslo.",
        "My sister now lives in Oslo.",
        "my boss works at Acme",
        "My dad's birthday is 3 May.",
        "My mother-in-law lives in Lyon.",
        "My husband got a new job at Spotify.",
        "My mum is allergic to nuts.",
        "Jonas moved to Berlin.",
        "My friends dance and love jazz.",
        "I'm a friend of the guy who works for Tesla.",
        "我外婆住在成都",
        "我妈妈对花生过敏",
        "我外婆的生日是五月二十号",
        "我外婆今年八十岁，在华为工作。",
        "我妹妹去年搬到成都了",
        "我在家，妹妹当老师。",
    ],
)
def test_what_is_told_of_someone_else_never_fills_a_slot_of_the_speaker(text: str) -> None:
    mine = [c for c in read(text) if c.subject == "Ada"]
    assert [c for c in mine if c.attribute or "attribute" in c.structured] == []


@pytest.mark.parametrize(
    ("text", "value", "sister"),
    [
        ("My sister lives in Oslo and I live in Porto.", "Porto", "Ada's sister"),
        ("I live in Porto and my sister lives in Oslo.", "Porto", "Ada's sister"),
        ("我妹妹住在成都，我住在上海。", "上海", "Ada的妹妹"),
    ],
)
def test_two_people_in_one_sentence_have_a_slot_each(text: str, value: str, sister: str) -> None:
    homes = {c.subject: c.value for c in read(text) if c.attribute == "home.city"}
    assert homes["Ada"] == value
    assert set(homes) == {"Ada", sister}


def test_what_a_friend_is_called_is_not_the_name_of_the_speaker() -> None:
    assert one("我朋友叫李雷").structured["attribute"] == "relation.friend"


def test_a_new_job_gives_employer_and_role_and_takes_the_place_of_the_old_one() -> None:
    job = {c.attribute: c for c in read("I started a new job at Ferro Robotics on Monday, as a product engineer.")}
    assert {name: c.value for name, c in job.items()} == {
        "work.employer": "Ferro Robotics",
        "work.role": "product engineer",
    }
    assert all(c.corrects for c in job.values())
    assert job["work.role"].content == "Ada works as a product engineer."
    assert job["work.role"].occurred_at.date().isoformat() == "2026-05-18"


@pytest.mark.parametrize("text", ["Jonas is my partner, he found the flat.", "Jonas, my partner, found the flat."])
def test_a_partner_may_be_named_before_the_word(text: str) -> None:
    partner = next(c for c in read(text) if c.attribute)
    assert (partner.attribute, partner.value) == ("relation.partner", "Jonas")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Less funny: I'm allergic to cashews.", "Ada is allergic to cashews."),
        ("Something you should know about me: I hate flying.", "Ada hates flying."),
    ],
)
def test_a_few_words_before_a_colon_are_cut(text: str, content: str) -> None:
    assert one(text).content == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I don't eat meat.", "Ada does not eat meat."),
        ("I no longer work at Acme.", "Ada no longer works at Acme."),
        ("我不吃肉。", "Ada不吃肉。"),
    ],
)
def test_a_negation_stays_a_negation(text: str, content: str) -> None:
    fact = one(text)
    assert fact.content == content
    assert fact.attribute is None


def test_a_place_left_behind_is_marked_as_negated_and_as_a_correction() -> None:
    left = one("I no longer live in Seattle.")
    assert left.corrects
    assert left.structured["negated"]


def test_standing_instructions_are_kept_as_such() -> None:
    for text in (
        "From now on, answer me in German.",
        "Please don't use emojis in your replies.",
        "以后都用英文回答我。",
        "One thing before we start: please always answer me in short bullet points.",
        "有件事：请以后都用英文回答我。",
    ):
        instruction = one(text)
        assert instruction.category is Category.INSTRUCTION
        assert instruction.importance >= 0.8


def test_a_request_for_this_one_answer_is_no_standing_instruction() -> None:
    assert read("Don't use bullet points this time.") == []


def test_plans_habits_and_happenings_have_their_category() -> None:
    assert one("I'm flying to Japan next month.").category is Category.PLAN
    assert one("I usually run with my brother on Sundays.").category is Category.PATTERN
    ran = one("Yesterday I ran a 10k race with my brother.")
    assert (ran.category, ran.kind) == (Category.EVENT, Kind.EPISODIC)
    assert ran.occurred_at.date() == (SAID_AT - timedelta(days=1)).date()


def test_a_birthday_is_given_no_year_that_was_not_said() -> None:
    birthday = one("My birthday is March 3rd.")
    assert (birthday.attribute, birthday.value) == ("birthday", "03-03")
    assert "2026" not in birthday.content


@pytest.mark.parametrize("text", ["My dad's birthday is on 3 May.", "我外婆的生日是五月二十号"])
def test_the_birthday_of_a_relative_is_given_no_year_either(text: str) -> None:
    birthday = one(text)
    assert (birthday.attribute, birthday.subject == "Ada") == ("birthday", False)
    assert not any(year in birthday.content for year in ("2025", "2026", "2027"))
    assert birthday.occurred_at == SAID_AT


def test_an_assistant_says_nothing_of_itself_but_a_second_person_does() -> None:
    assert read("I moved to Porto last week.", role="assistant") == []
    assert read("I moved to Porto last week.", role="assistant", speaker="Assistant") == []
    (bob,) = statements_of_rules([said("I moved to Porto last week.", role="assistant", speaker="Bob")])
    assert bob.subject == "Bob"


def test_tools_and_systems_say_nothing() -> None:
    assert read("My name is Ada.", role="tool") + read("My name is Ada.", role="system") == []


def test_people_who_encourage_each_other_give_no_instructions() -> None:
    bob = said("I went to the game with my kids.", role="assistant", speaker="Bob", position=2)
    talk = [said("Never give my seat away.", speaker="Ada"), bob]
    assert [c for c in statements_of_rules(talk) if c.category is Category.INSTRUCTION] == []


def test_a_pasted_document_is_not_taken_for_its_reader() -> None:
    pasted = "\n\n".join(["Summarise this letter:", *["I live in Rome and I work at Acme. " * 20] * 3, "Thanks!"])
    assert read(pasted) == []


def test_reading_twice_gives_the_same() -> None:
    talk = [said(text, position=n) for n, text in enumerate(("I live in Porto.", "我住在上海。", "I have a cat."), 1)]
    assert statements_of_rules(talk) == statements_of_rules(talk)


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "🙂", "```\nI live in Rome\n```", "我", "I", "\x00\x00 I", "((((", "a" * 9000]
)
def test_odd_text_neither_fails_nor_says_anything(text: str) -> None:
    assert read(text) == []


@given(
    st.text(max_size=300),
    st.sampled_from(["I live in ", "My ", "我住在", "I am allergic to ", "On 31 May I ", "我2月"]),
)
def test_any_text_is_read_and_quoted_exactly(text: str, start: str) -> None:
    for candidate in read(start + text):
        assert candidate.content
        assert 0 <= candidate.importance <= 1
        assert candidate.evidence[0].quote in start + text


@pytest.mark.parametrize("asker", ["tool", "system", "user"])
def test_only_another_person_or_an_assistant_asks(asker: str) -> None:
    assert answered("Where do you live?", "Lisbon.", asker=asker) == []


def test_an_answer_belongs_to_the_question_right_before_it() -> None:
    talk = [
        said("Where do you live?", role="assistant"),
        said("Ask me later.", position=2),
        said("Which city shall I look up?", role="assistant", position=3),
        said("Lisbon.", position=4),
    ]
    assert statements_of_rules(talk) == []


@given(st.text(max_size=80), st.sampled_from([row["asked"] for row in ROWS if "asked" in row]))
def test_any_answer_is_quoted_exactly(text: str, question: str) -> None:
    for candidate in answered(question, text):
        assert candidate.evidence[0].quote in text


@pytest.mark.parametrize("row", [pytest.param(row, id=row["text"]) for row in ROWS if row.get("nothing")])
def test_small_talk_questions_hypotheticals_and_quotations_say_nothing(row: dict[str, Any]) -> None:
    assert labelled(row) == []


@pytest.mark.parametrize("row", [r for r in ROWS if "category" in r], ids=lambda r: r["text"])
def test_plans_habits_happenings_and_instructions_are_told_apart(row: dict[str, Any]) -> None:
    assert row["category"] in [c.category for c in labelled(row)]


@pytest.mark.parametrize("row", [r for r in ROWS if "corrects" in r], ids=lambda r: r["text"])
def test_what_sets_something_right_is_marked_as_a_correction(row: dict[str, Any]) -> None:
    assert [c for c in labelled(row) if c.corrects]


def test_there_are_labels_enough_of_each_sort() -> None:
    chinese = [row for row in ROWS if any("\u4e00" <= c <= "\u9fff" for c in row["text"])]
    assert len(ROWS) >= 400
    assert len(chinese) >= 150
    assert len([row for row in ROWS if row.get("nothing")]) >= 100
    assert len([row for row in ROWS if "asked" in row]) >= 50


def pairs(candidates: list[Candidate]) -> set[tuple[str, str]]:
    slots = {(c.attribute, c.value) for c in candidates if c.attribute and c.value}
    for c in candidates:
        sign = "not " if c.structured.get("negated") else ""
        slots |= {(sign + c.structured["attribute"], value) for value in c.structured.get("values", ())}
    return slots


@pytest.mark.parametrize("text", ["I'm Ada.", "My name is Ada.", "Please call me Ada."])
def test_a_name_that_labels_the_speaker_is_kept_all_the_same(text: str) -> None:
    assert one(text).content == "Ada is called Ada."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("哦还有，别叫我远哥了，换了新公司我想低调点，叫我远航就好。", {"远航"}),
        ("大家都叫我老王。", {"老王"}),
        ("你可不要叫我小王。", set()),
        ("My friends don't call me Bob.", set()),
        ("My friends call me Bob.", {"Bob"}),
    ],
)
def test_a_name_that_somebody_refuses_is_not_theirs(text: str, names: set[str]) -> None:
    assert {candidate.value for candidate in read(text) if candidate.attribute == "name.preferred"} == names


def test_several_attributes_of_one_sentence_become_a_statement_each() -> None:
    contents = {c.attribute: c.content for c in read("I work as a software engineer at Zalando.")}
    assert contents == {"work.role": "Ada works as a software engineer.", "work.employer": "Ada works at Zalando."}


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Can you keep your replies brief, I'm on a train?", "Keep your replies brief"),
        ("Oh and keep your answers short, I read on the bus", "Keep your answers short, I read on the bus"),
        ("Could you not use emojis?", "Do not use emojis"),
    ],
)
def test_an_order_may_be_put_as_a_question(text: str, wish: str) -> None:
    assert one(text).content == f"Ada's standing instruction: {wish}."


def test_a_short_answer_is_quoted_with_what_was_asked() -> None:
    talk = [said("Nice to meet you! Where do you live?", role="assistant"), said("Lisbon. And you?", position=2)]
    (lives,) = extract(talk)
    assert lives.content == "Asked “Where do you live?”, Ada said: “Lisbon.”"
    assert (lives.evidence[0].message_id, lives.evidence[0].quote) == ("m2", "Lisbon.")


LISTS_OF_OPEN_THINGS = ("does", "habit", "life", "work.activity", "family.birth")


def test_attributes_and_values_of_the_labelled_sentences_are_right() -> None:
    right = found = expected = 0
    for row in ROWS:
        if "asked" in row:
            continue
        slots = [(name, value) for name, value in row["slots"]]
        wanted = {slot for slot in slots if not slot[0].removeprefix("not ").startswith(LISTS_OF_OPEN_THINGS)}
        got = {slot for slot in pairs(labelled(row)) if not slot[0].startswith("instruction.")}
        right, found, expected = right + len(got & wanted), found + len(got), expected + len(wanted)
    assert right / found >= 0.95
    assert right / expected >= 0.92


def test_of_several_things_in_a_sentence_only_what_changes_begins_on_its_day() -> None:
    told = {c.content: c.occurred_at for c in read("I moved to Lisbon in May and I am allergic to peanuts.")}
    assert told == {"Ada lives in Lisbon.": datetime(2026, 5, 1, tzinfo=UTC), "Ada is allergic to peanuts.": SAID_AT}
