from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.search.question_analysis import LONGEST, Analysis, analyse
from tests.spent import spent

NOW = datetime(2023, 5, 30, 21, 0, tzinfo=UTC)
PEOPLE = ("Ann", "Tim", "Will", "小王", "李雷")


def _read(question: str) -> Analysis:
    return analyse(question, NOW, PEOPLE)


@pytest.mark.parametrize(
    "question",
    [
        "What books has Tim read?",
        "What activities does Ann do?",
        "How many cats has Tim?",
        "What do Ann and Tim have in common?",
        "What kinds of music does Ann play?",
        "小王去过哪些城市？",
        "小王养了几只猫？",
    ],
)
def test_a_short_question_for_several_things_is_broad(question: str) -> None:
    assert _read(question).breadth == 1.0


@pytest.mark.parametrize(
    "question",
    [
        "What did the charity race in the old harbour raise awareness and money for?",
        "What important values does Tim want to teach his kids through adopting a rescue dog?",
        "李雷在上海浦东机场丢失的黑色行李箱里装着什么重要文件和照片？",
    ],
)
def test_a_question_that_tells_much_of_what_it_wants_is_not(question: str) -> None:
    assert _read(question).breadth == 0.0


def test_of_two_equally_short_questions_the_one_that_asks_for_several_things_is_broader() -> None:
    assert _read("Which instruments does Ann play?").breadth == 2 * _read("Which instrument does Ann play?").breadth > 0
    assert _read("李雷养了哪些猫？").breadth > _read("李雷的猫叫什么？").breadth > 0


@pytest.mark.parametrize("word", ["this", "was", "class", "famous"])
def test_what_only_ends_like_several_things_asks_for_none(word: str) -> None:
    assert _read(f"What {word} dress").breadth == 0.5


def test_names_of_speakers_narrow_nothing_down() -> None:
    question = "What music does Ann Baker enjoy playing on weekend evenings?"
    assert analyse(question, NOW, ["Ann Baker"]).breadth > analyse(question, NOW, []).breadth


@pytest.mark.parametrize(
    "question", ["When did Ann have cats?", "What cats has Ann had in May 2022?", "李雷什么时候去过北京？"]
)
def test_what_happened_at_a_time_stands_in_one_place(question: str) -> None:
    assert _read(question).breadth == 0.0


def test_who_asks_when_wants_a_time_and_who_names_one_gets_its_span() -> None:
    assert _read("When did Ann paint?").wants_time
    assert not _read("What did Ann paint?").wants_time
    assert [span.since.date().isoformat() for span in _read("What did Ann paint in May 2022?").spans] == ["2022-05-01"]
    assert _read("What did Ann paint?").spans == ()


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What did Ann paint?", "Ann"),
        ("what did ann paint", "Ann"),
        ("What is Ann’s cat called?", "Ann"),
        ("小王喜欢什么茶？", "小王"),
        ("What is Anna's cat called?", None),
        ("What did Ann tell Tim?", None),
        ("Who paints?", None),
        ("What will happen?", None),
        ("what will happen", None),
        ("What does Will like?", "Will"),
    ],
)
def test_one_speaker_who_is_named_is_meant(question: str, speaker: str | None) -> None:
    assert _read(question).speaker == speaker


@pytest.mark.parametrize("speaker", ["user", "assistant", "Assistant", "system", "", " "])
def test_a_role_is_nobodys_name(speaker: str) -> None:
    assert analyse("What did the user tell the assistant of the system?", NOW, [speaker]).speaker is None


def test_a_name_with_signs_in_it_is_read_as_it_is() -> None:
    assert analyse("What did J. (Jo) say?", NOW, ["J. (Jo)", "J.*"]).speaker == "J. (Jo)"


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("What did I buy?", "user"),
        ("Which school did my sister go to?", "user"),
        ("Where have we been?", "user"),
        ("我的猫叫什么？", "user"),
        ("What did you tell me about taxes?", "assistant"),
        ("Which hotel had you recommended?", "assistant"),
        ("Remind me of the name from our last conversation.", "assistant"),
        ("你上次推荐的餐厅叫什么？", "assistant"),
        ("我们上次的讨论说到哪了？", "assistant"),
        ("Tell me what Ann likes.", ""),
        ("Which US states has Ann seen?", ""),
        ("告诉我李雷喜欢什么。", ""),
        ("I was there once: can you remind me of its name?", ""),
        ("提醒我那家餐厅叫什么。", ""),
    ],
)
def test_whose_words_are_asked_for(question: str, role: str) -> None:
    assert _read(question).role == role


def test_what_i_told_someone_is_among_my_words_and_not_among_theirs() -> None:
    told = _read("What did I tell Ann?")
    assert (told.role, told.speaker) == ("user", None)


def test_an_empty_question_tells_nothing() -> None:
    assert _read("") == _read("???") == Analysis()


@pytest.mark.parametrize(
    "text",
    ["what a " * 50_000, "you had told " * 30_000, "a1-" * 90_000, "我们上次" * 40_000, "你之前上次刚才" * 30_000],
)
def test_a_long_text_is_read_no_further_than_a_question_goes(text: str) -> None:
    _read("哪")  # The dictionary is loaded once.
    assert _read(text) == _read(text[:LONGEST])
    assert spent(lambda: _read(text)) < 10 * spent(lambda: _read(text[:LONGEST]))


def test_behind_the_length_of_a_question_nothing_is_meant() -> None:
    padding = "so " * (LONGEST // 3)
    assert _read(padding[:99] + "When did you tell Ann?").wants_time
    assert _read(padding + "so. When did you tell Ann?") == _read(padding)


@settings(deadline=None)  # The dictionary of Chinese words is read once.
@given(st.text(max_size=200), st.lists(st.text(max_size=10), max_size=5))
def test_every_question_has_an_analysis(question: str, speakers: list[str]) -> None:
    found = analyse(question, NOW, speakers)
    assert 0.0 <= found.breadth <= 1.0
    assert found.speaker is None or found.speaker in speakers
    assert not found.breadth or not (found.spans or found.wants_time)
