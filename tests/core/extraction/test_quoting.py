"""What is kept in the speaker's words, and what is restated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from core.extraction import durability, quoting, references
from core.extraction.durability import Floats
from core.extraction.rule_extractor import extract
from core.inference.local_reader import LocalReader
from core.types import Candidate, Category, Message

AT = datetime(2026, 5, 20, 15, tzinfo=UTC)


def message(role: str, content: str, position: int = 1) -> Message:
    return Message("s1", f"m{position}", position, f"e{position}", "Ada", role, content, AT)


def talk(*turns: str, user: str = "Ada") -> list[Candidate]:
    """What is kept of turns of the user; those that begin with ">" are the assistant's."""
    return extract([
        Message(
            "s1",
            f"m{place}",
            place,
            f"e{place}",
            user,
            "assistant" if turn.startswith(">") else "user",
            turn.removeprefix(">"),
            AT,
        )
        for place, turn in enumerate(turns, 1)
    ])  # fmt: skip


def kept(*turns: str) -> list[str]:
    return [one.content for one in talk(*turns)]


def test_a_pronoun_is_not_replaced_but_quoted_with_whom_it_means() -> None:
    assert kept("My sister Nadia is a paramedic in Leeds.", "She is allergic to cats.")[-1] == (
        "After “My sister Nadia is a paramedic in Leeds.”, Ada said: “She is allergic to cats.”"
    )


def test_a_bare_answer_is_quoted_with_its_question() -> None:
    (one,) = kept(">What does your daughter play?", "The clarinet, every morning at seven.")
    assert one == "Asked “What does your daughter play?”, Ada said: “The clarinet, every morning at seven.”"


def test_a_subject_that_chinese_leaves_out_is_not_made_up() -> None:
    assert kept("我妹妹在重庆当护士。", "每周二和周五值夜班，周末休息。")[-1] == (
        "在“我妹妹在重庆当护士。”之后，Ada说：“每周二和周五值夜班，周末休息。”"
    )


def test_one_clause_about_the_speaker_is_restated_with_its_date() -> None:
    assert kept("I moved to Lisbon last week.") == ["Ada moved to Lisbon in the week of 11 May 2026."]


def test_what_fills_a_slot_is_restated() -> None:
    (one,) = talk("My name is Ada Feld and I'm from Bremen, where it always rains.")[:1]
    assert one.attribute
    assert "“" not in one.content


def test_what_a_sentence_says_beside_its_slot_is_not_lost() -> None:
    said = kept("我外婆的生日是农历四月初四，今年八十岁。")
    assert any("农历四月初四" in one for one in said)
    assert any("八十岁" in one for one in said)


def test_a_day_that_depends_on_when_it_was_said_says_so() -> None:
    (one,) = talk("The people next door are moving to Harrogate next Friday, so we're getting new neighbours.")
    assert one.content.startswith("Ada said on 20 May 2026: “")
    assert one.category is Category.PLAN
    assert one.evidence[0].quote == one.content.split("“")[1].rstrip("”")


def test_what_is_put_right_is_quoted_with_what_puts_it_right_and_not_restated() -> None:
    assert kept("My sister's wedding is on the 3rd of June in Leeds. No wait, the 4th of June.") == [
        (
            "After “My sister's wedding is on the 3rd of June in Leeds.”, "
            "Ada said on 20 May 2026: “No wait, the 4th of June.”"
        )
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "If I lived in Paris, I'd eat croissants every day.",
        "What shall I give my sister Nadia for her birthday?",
        "Write a poem about my sister Nadia, who is a paramedic.",
        "Ich wohne seit 2014 in Bremen und arbeite als Lehrerin.",
        '"I was born in Kenya and grew up in Wales."',
        "如果我住在巴黎，我会每天吃羊角面包。",
        "我妹妹生日我该送她什么？",
    ],
)
def test_what_is_not_said_to_be_so_is_not_quoted(sentence: str) -> None:
    assert kept(sentence) == []


def test_among_people_nothing_is_quoted() -> None:
    ada, ben = (
        Message("s1", f"m{n}", n, f"e{n}", name.lower(), "user", text, AT, name, "g")
        for n, (name, text) in enumerate(
            [("Ada", "Nadia is a paramedic in Leeds, and she loves it there."), ("Ben", "Nice!")], 1
        )
    )
    assert not any("“" in one.content for one in extract([ada, ben]))


class Says:
    """Says that sentences with some words matter, and of none that it corrects another.

    `leaning`: words of sentences that lean on what was said before; `naming`: of those that explain them.
    """

    def __init__(self, *words: str, log_odds: float = 5.0, leaning: str = "\0", naming: str = "\0") -> None:
        self._words, self._log_odds, self._leaning, self._naming = words, log_odds, leaning, naming
        self.read: list[tuple[str, str]] = []

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        return np.array([1.0 if self._leaning in text else -1.0 for text, _ in sentences], dtype=np.float32)

    def explains(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.array([1.0 if self._naming in before else -1.0 for before, _ in pairs], dtype=np.float32)

    def matters(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        self.read += sentences
        known = [any(word in sentence for word in self._words) for sentence, _ in sentences]
        return np.where(known, self._log_odds, -5.0).astype(np.float32)

    def slips(self, statements: Sequence[str], _reply: str, _message: str) -> Floats:
        return np.full(len(statements), -9.0, dtype=np.float32)

    def values(self, _statement: str, _reply: str, _message: str) -> tuple[str, str, float]:
        return "", "", 0.0


def test_the_reader_knows_what_a_sentence_needs_and_which_sentence_explains_it() -> None:
    said = [
        message("user", "I have two daughters. I'm a data engineer."),
        message("user", "The older one is seven already. I'm allergic to nuts, so keep that in mind.", 2),
    ]
    reader = Says("seven", "allergic", leaning="older", naming="daughters")
    older, allergic = extract(said, reader, {"m2"})
    assert older.content == "After “I have two daughters.”, Ada said: “The older one is seven already.”"
    assert allergic.content == "Ada said: “I'm allergic to nuts, so keep that in mind.”"


def test_of_a_sentence_that_explains_it_the_clause_that_does_is_quoted() -> None:
    said = [
        message("user", "My sister Svenja comes on Friday, she studies geography in Leipzig."),
        message("user", "She's been vegan for years.", 2),
    ]
    (vegan,) = extract(said, Says("vegan", leaning="She's been", naming="Svenja"), {"m2"})
    assert vegan.content == "After “My sister Svenja comes on Friday”, Ada said: “She's been vegan for years.”"


def test_a_sentence_that_leans_on_nothing_said_is_quoted_alone() -> None:
    (kept,) = extract([message("user", "The older one is seven already.")], Says("seven", leaning="older"))
    assert kept.content == "Ada said: “The older one is seven already.”"


def test_the_reader_decides_in_languages_without_tables() -> None:
    said = [
        message("user", "Ich bin gegen Nüsse allergisch. Das Wetter ist heute herrlich."),
        message("user", "Ужас.", 2),
    ]
    assert extract(said) == []
    (kept,) = extract(said, Says("allergisch"))
    assert kept.content == "Ada said: “Ich bin gegen Nüsse allergisch.”"


@pytest.mark.parametrize(
    "said", ["ナッツにアレルギーがあります。", "У меня аллергия на орехи.", "견과류 알레르기가 있어요."]
)
def test_scripts_without_tables_are_quoted(said: str) -> None:
    (kept,) = extract([message("user", said)], Says(said))
    assert said in kept.content


def test_reader_and_words_count_alike() -> None:
    said = [message("user", "The old harp takes most of our evenings at the orchestra.")]
    by_words = durability.log_odds(said[0].content, "en")
    assert extract(said, Says("harp", log_odds=quoting.LEAST_READ + 0.1 - by_words)) != []
    assert extract(said, Says("harp", log_odds=quoting.LEAST_READ - 0.1 - by_words)) == []


def test_a_sentence_is_read_with_what_was_said_before_it() -> None:
    reader = Says()
    extract(
        [message("assistant", "Which one?"), message("user", "The grey parrot at home. It bites people badly.", 2)],
        reader,
    )
    assert reader.read == [
        ("The grey parrot at home.", "Which one?"),
        ("It bites people badly.", "Which one? The grey parrot at home."),
    ]


def test_messages_that_were_read_before_are_not_read_again() -> None:
    reader = Says("garden")
    said = [message("user", "The garden needs us in May."), message("user", "The garden rests all winter long.", 2)]
    assert [candidate.evidence[0].message_id for candidate in extract(said, reader, {"m2"})] == ["m2"]
    assert [sentence for sentence, _ in reader.read] == ["The garden rests all winter long."]


@pytest.mark.parametrize(
    ("sentence", "before"),
    [
        ("My mum turns 60 on March 14th, I want to book a trip with her.", "I passed my exam yesterday!"),
        ("最近开始学吉他了。", "我妹妹在重庆当护士。"),
        ("Trabajo en un hospital.", "Ayer llovió mucho."),
    ],
)
def test_the_reader_of_this_installation_tells_what_stands_alone(sentence: str, before: str) -> None:
    assert LocalReader().leans([(sentence, before)]) < references.LEAST


@pytest.mark.parametrize(
    ("sentence", "before"),
    [
        ("It needs new brakes.", "I bought a used Zoe."),
        ("She is allergic to cats.", "My sister Nadia is a paramedic."),
        ("Die ältere ist sieben.", "Ich habe zwei Töchter."),
        ("La mayor tiene siete años.", "Tengo dos hijas."),
    ],
)
def test_the_reader_of_this_installation_tells_what_needs_a_sentence_before_it(sentence: str, before: str) -> None:
    assert LocalReader().leans([(sentence, before)]) > references.LEAST


def test_the_reader_of_this_installation_tells_which_sentence_explains_another() -> None:
    before = ["I have two daughters.", "I'm a data engineer.", "We live in Leeds."]
    assert int(LocalReader().explains([(text, "The older one is seven.") for text in before]).argmax()) == 0


def test_the_reader_of_this_installation_knows_what_matters_in_several_languages() -> None:
    reader = LocalReader()
    lasting = ["Ich bin gegen Erdnüsse allergisch.", "Soy alérgica a los cacahuetes.", "J'ai deux filles, Anna et Léa."]
    passing = ["Das war lustig, danke!", "¡Qué risa!", "Merci, bonne nuit !"]
    matters = reader.matters([(sentence, "") for sentence in [*lasting, *passing]])
    assert min(matters[:3]) > quoting.LEAST_ALONE > max(matters[3:])
