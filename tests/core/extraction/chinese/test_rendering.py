from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extraction.chinese import rendering
from core.extraction.chinese.clauses import Clause
from core.extraction.chinese.people import People, Sort, Subject
from core.extraction.chinese.statement import ClauseContext

WEDNESDAY = datetime(2026, 5, 20, 15, tzinfo=UTC)
SPEAKER = Subject(Sort.SPEAKER)


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("我爱我家", "王强爱王强家"),
        ("我们公司在上海", "王强的公司在上海"),
        ("我妈退休了", "王强的妈退休了"),
        ("我们俩去爬山", "王强和同伴去爬山"),
        ("你帮我记一下", "助手帮王强记一下"),
        ("你好，我叫李四", "你好，王强叫李四"),
        ("我自己做饭", "王强做饭"),
    ],
)
def test_the_speaker_is_named_where_they_speak_of_themselves(clause: str, told: str) -> None:
    assert rendering.third_person(clause, "王强") == told


@pytest.mark.parametrize("clause", ["《我是猫》很好", "“我爱你”是歌名", "自我管理", "我国很大"])
def test_words_that_are_not_the_speaker_stay(clause: str) -> None:
    assert rendering.third_person(clause, "王强") == clause


def stored(said: str, *, head: str = "", thing: str = "") -> str:
    flow = ClauseContext(WEDNESDAY, thing=thing)
    return rendering.content(said, Clause(said, head), SPEAKER, flow, People("王强"))


def test_a_statement_names_its_speaker_and_the_day_that_was_meant() -> None:
    assert stored("下周三要去北京出差") == "王强2026年5月27日要去北京出差。"
    assert stored("我住在成都！") == "王强住在成都。"


def test_a_heading_stands_before_what_it_introduces() -> None:
    assert stored("学钢琴", head="我下半年的打算") == "王强下半年的打算：学钢琴。"


def test_a_clause_that_goes_on_about_a_thing_names_it() -> None:
    assert stored("改到浦东", thing="婚礼") == "王强的婚礼改到浦东。"
    assert stored("我住在成都", thing="婚礼") == "王强住在成都。"


def test_a_clause_about_somebody_else_begins_with_them() -> None:
    ming = Subject(Sort.PERSON, "小明")
    assert rendering.plain("八岁了", "八岁了", ming) == "小明八岁了"
    assert rendering.plain("小明八岁了", "小明八岁了", ming) == "小明八岁了"
    assert rendering.plain("我住在成都", "我住在成都", SPEAKER) == "我住在成都"
