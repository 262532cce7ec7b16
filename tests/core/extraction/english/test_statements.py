"""English sentences become single statements: cut apart, named, in earnest, of one language, of the right person."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extraction.english import patterns
from core.extraction.known_people import NOBODY, Acquaintance, AcquaintancesByUser
from core.extraction.rule_extractor import statements_of_rules
from core.language import identification
from core.types import Candidate, Category, Message

SAID_AT = datetime(2026, 5, 20, 15, tzinfo=UTC)  # a Wednesday


def talk(*turns: str, speaker: str | None = None, known: AcquaintancesByUser = NOBODY) -> list[Candidate]:
    """Return what is read of turns; those that begin with "A:" are the assistant's."""
    messages = []
    for n, turn in enumerate(turns, 1):
        role = "assistant" if turn.startswith("A:") else "user"
        name = speaker if role == "assistant" else "Ada"
        words = turn.removeprefix("A:").strip()
        messages.append(Message("s1", f"m{n}", n, f"e{n}", "Ada", role, words, SAID_AT, name))
    return statements_of_rules(messages, known)


def told(*turns: str, known: AcquaintancesByUser = NOBODY) -> list[str]:
    return [one.content for one in talk(*turns, known=known)]


FAMILY = {"Ada": (Acquaintance("Oskar", "husband"), Acquaintance("Yrsa", "daughter"))}


@pytest.mark.parametrize(
    ("turns", "content"),
    [
        (("My sister Ann is a nurse.", "She's allergic to penicillin."), "Ann is allergic to penicillin."),
        (("A:Will your father be there too?", "He died in 2017."), "Ada's father died in 2017."),
        (("A brother, Declan. He drives a milk lorry in Donegal.",), "Declan drives a milk lorry in Donegal."),
        (("Tibo is six now.",), "Tibo is six now."),
        (("my wife dana works nights at the hospital",), "Ada's wife Dana works nights at the hospital."),
        (("mom's 74 and i mow her lawn every saturday",), "Ada's mom is 74."),
        (("It's Tibo who can't eat hazelnuts.",), "Tibo cannot eat hazelnuts."),
    ],
)
def test_a_statement_names_whom_it_speaks_of(turns: tuple[str, ...], content: str) -> None:
    assert content in told(*turns)


def test_who_was_named_in_an_earlier_conversation_is_known_again() -> None:
    turns = ("Oskar and I cooked.", "He works at a bakery in Ghent.")
    assert "Oskar works at a bakery in Ghent." in told(*turns, known=FAMILY)


def test_whom_a_question_names_the_answers_pronouns_mean() -> None:
    turns = ("Oskar likes his new bike.", "A: How is Yrsa doing at school?", "She is in 7C, and she plays the oboe.")
    assert "Yrsa is in 7C." in told(*turns, known=FAMILY)


def test_he_and_she_say_who_is_a_man_and_who_a_woman() -> None:
    found = told("Yrsa moved in with us in May.", "She studies law.", "Oskar has a studio.", "He paints boats there.")
    assert {"Yrsa studies law.", "Oskar paints boats there."} & set(found)
    assert not {"Oskar studies law.", "Yrsa paints boats there."} & set(found)


def test_a_fact_of_another_person_is_about_that_person() -> None:
    (moved,) = [one for one in talk("Aoife moved to Galway last month.") if one.attribute]
    assert (moved.subject, moved.attribute, moved.value) == ("Aoife", "home.city", "Galway")
    (age,) = [one for one in talk("My daughter Mia turned nine on 2 May.") if one.attribute == "age"]
    assert (age.subject, age.value) == ("Mia", "9")


def test_nobody_is_named_where_two_people_fit() -> None:
    assert not any(
        "allergic" in one for one in told("My brother Tom met my cousin Ben. He is allergic to nuts.") if "He" in one
    )
    assert told("She's allergic to nuts.") == []


@pytest.mark.parametrize(
    "turns",
    [
        (
            "Let's play: you're a pirate captain and I'm your first mate.",
            "Aye, I've sailed for thirty years and I own a parrot!",
        ),
        ("Testing, testing: my name is Rumpelstiltskin and I live in a shoe.",),
        ("I live on the moon.", "just kidding"),
        ("Yesterday my sister told everyone we're emigrating to Mars. April Fool's!",),
        ("My son wants to type something: my favourite colour is plaid. That was a test, ignore him.",),
        ("I simply adore our meetings at seven a.m., who needs sleep?",),
        ("By night I'm an international jewel thief.",),
        ('"I am a rock, I am an island", as the song has it.',),
        ('A man in the front row informed me, and I quote, "I eat nothing but raw garlic." You could tell.',),
        ("I laughed for a good minute.",),
        ("My dog is standing on my foot.",),
        ("I'm so tired today.",),
        ("Traffic was brutal this morning.",),
        ("I had better go.",),
        ("If I won the lottery I'd buy a boat.",),
        ("The train from Porto to Lisbon takes three hours.",),
        ("Einstein was born in Ulm.",),
    ],
)
def test_play_jokes_moods_and_the_world_say_nothing(turns: tuple[str, ...]) -> None:
    assert told(*turns) == []


def test_after_a_game_words_count_again() -> None:
    game = (
        "Let's pretend you're a king and I'm a knight.",
        "I own nine castles!",
        "OK, enough.",
        "I'm allergic to nuts.",
    )
    assert told(*game) == ["Ada is allergic to nuts."]


@pytest.mark.parametrize(
    ("turns", "content", "gone"),
    [
        (
            ("I'm speaking on 3 June in Hall B.", "Sorry, I meant Hall D."),
            "Ada is speaking on 3 June 2026 in Hall D.",
            "Hall B",
        ),
        (
            ("A:Any allergies?", "Hazelnuts.", "Sorry, no wait, I mean walnuts."),
            "Ada is allergic to walnuts.",
            "hazelnuts",
        ),
        (("My cat Tom is three.", "Actually four, I checked."), "Ada's cat Tom is four.", "three"),
        (("Six people report to me.", "Well, seven, actually."), "Seven people report to Ada.", "Six"),
        (("Scratch what I said about the lathe: it's from 1956.",), "The lathe is from 1956.", "Scratch"),
    ],
)
def test_what_is_set_right_takes_the_place_of_what_was_said(turns: tuple[str, ...], content: str, gone: str) -> None:
    found = talk(*turns)
    assert content in [one.content for one in found]
    assert not any(gone in one.content for one in found)
    assert next(one for one in found if one.content == content).corrects


@pytest.mark.parametrize(
    ("wish", "topic"),
    [
        ("No emojis, please, ever.", "instruction.emoji"),
        ("You may use the odd emoji again.", "instruction.emoji"),
        ("please keep your answers short, two sentences at most", "instruction.length"),
        ("You can write longer answers from here on.", "instruction.length"),
        ("Give me recipes in grams and Celsius from now on.", "instruction.units"),
        ("Can you use metric units from now on?", "instruction.units"),
        ("dont call me sir", "instruction.name"),
    ],
)
def test_an_instruction_has_a_slot_by_what_it_is_about(wish: str, topic: str) -> None:
    (order,) = talk(wish)
    assert (order.category, order.attribute) == (Category.INSTRUCTION, topic)
    assert bool(order.value)


def test_what_lifts_an_instruction_corrects() -> None:
    assert talk("You can write longer answers from here on.")[0].corrects
    assert not talk("No emojis, please, ever.")[0].corrects


@pytest.mark.parametrize(
    ("question", "answer", "content"),
    [
        ("What wood do you like best?", "Cherry. It smells nice.", "Ada's favourite wood is cherry."),
        ("When did you finish?", "2013.", "Ada finished in 2013."),
        ("How old is Fennel?", "Four, they think.", "Fennel is four years old."),
        ("Which hotel is that?", "The Alsterhof.", "The hotel is The Alsterhof."),
        ("Do you train with anyone?", "With Priya.", "Ada trains with Priya."),
        ("What's your official title?", "Senior mechanical engineer.", "Ada works as a senior mechanical engineer."),
        ("Any goals for the year ahead?", "Running a marathon.", "Ada's goal is running a marathon."),
        ("How do you get to work these days?", "By bike.", "Ada gets to work by bike."),
    ],
)
def test_a_bare_answer_is_told_by_its_question(question: str, answer: str, content: str) -> None:
    assert content in told(f"A:{question}", answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Nervous?", "Petrified."), ("How did it go?", "Really well."), ("What time is it?", "Nine.")],
)
def test_a_mood_is_no_answer_worth_keeping(question: str, answer: str) -> None:
    assert told(f"A:{question}", answer) == []


@pytest.mark.parametrize(
    "text",
    [
        "Ich bin im Oktober nach Dresden gezogen.",
        "Ich bin Jonas.",
        "Meine Tochter heißt Lena.",
        "Je m'appelle Luc et j'habite à Lyon.",
        "Vivo en Madrid con mi mujer.",
        "Moro em Lisboa desde maio.",
        "Ik woon in Gent.",
        "Mi chiamo Paolo.",
        "Jag bor i Malmö.",
        "Tengo dos hijos.",
    ],
)
def test_another_language_is_not_read_by_english_rules(text: str) -> None:
    assert identification.is_foreign(text)
    assert told(text) == []


@pytest.mark.parametrize(
    "text", ["I moved to La Paz in May.", "My café is called Du Nord.", "Yes.", "I am Jonas.", "No sugar in my tea."]
)
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert not identification.is_foreign(text)


def test_a_named_assistant_changes_nothing() -> None:
    for name in (None, "Aide"):
        (order,) = talk("Please never suggest restaurants with live music.", "A:I see.", speaker=name)
        assert (order.category, order.subject) == (Category.INSTRUCTION, "Ada")
        assert [one.content for one in talk("I live in Porto.", "A:Noted, I'll remember.", speaker=name)] == [
            "Ada lives in Porto."
        ]


def test_an_instruction_in_a_group_of_two_is_one() -> None:
    ada = Message("s1", "m1", 1, "e1", "Ada", "user", "I sent the minutes.", SAID_AT, "Ada")
    leo = Message("s1", "m2", 2, "e2", "Leo", "user", "Please always send the minutes in English.", SAID_AT, "Leo")
    (order,) = [one for one in statements_of_rules([ada, leo]) if one.category is Category.INSTRUCTION]
    assert order.subject == "Leo"


@pytest.mark.parametrize(
    ("before", "after", "attribute"),
    [
        ("My son Tibo is five.", "Tibo is six now.", "age"),
        ("Maeve is in third grade.", "Maeve has started fourth grade.", "education.grade"),
        ("Declan drives a milk lorry.", "Declan switched to driving a school bus.", "work.activity"),
        ("My boss is Femke Maes.", "My new boss is a Dane, Henrik Sloth.", "relation.boss"),
        ("I swim on Tuesdays and Thursdays.", "I swim on Saturday afternoons.", "habit.swim"),
        ("I run three times a week.", "Running has gone up to four times a week.", "habit.run"),
        ("My favourite dish is risotto.", "My favourite dish these days is parmigiana.", "preference.dish"),
        ("Ticket GBX-4471 is mine.", "I closed GBX-4471 on 5 March.", "item.4471"),
        ("I work at Arkel.", "Week two at Halcyon and I still get lost.", "work.employer"),
    ],
)
def test_what_changes_fills_the_same_slot_with_another_value(before: str, after: str, attribute: str) -> None:
    first = {one.attribute: (one.subject, one.value) for one in talk(before)}
    second = {one.attribute: (one.subject, one.value) for one in talk(after)}
    assert first[attribute][0] == second[attribute][0]
    assert first[attribute][1] != second[attribute][1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I drink five coffees a day.", "I've given up coffee."),
        ("On Sundays I go bouldering.", "I've quit bouldering for good."),
    ],
)
def test_what_is_given_up_is_denied_where_it_was_listed(before: str, after: str) -> None:
    listed, denied = talk(before)[0].structured, talk(after)[0].structured
    assert (listed["attribute"], listed["values"]) == (denied["attribute"], denied["values"])
    assert (listed["negated"], denied["negated"]) == (False, True)


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("My dentist is Dr. Costa.", "Dr. Costa"),
        ("My boss is Mr. Hale, he is strict.", "Mr. Hale"),
        ("Our manager is Ms. Ines Prado and she is new.", "Ms. Ines Prado"),
    ],
)
def test_the_full_stop_of_a_title_ends_no_name(sentence: str, value: str) -> None:
    assert [slot.value for slot in patterns.slots(sentence)] == [value]
