"""What the Chinese reader makes of names, answers, gaps, rules for answers, and of what is not to be believed."""

from __future__ import annotations

import pytest

from core.extraction.known_people import Acquaintance, people_in
from core.extraction.rule_extractor import statements_of_rules
from core.types import Category
from tests.core.extraction.chinese.conversation import _message, contents, slots, talk


def told_before(known: list[Acquaintance], *lines: str) -> list[str]:
    """What is kept of a conversation by somebody who has spoken of these before."""
    messages = [_message(place, line) for place, line in enumerate(lines, 1)]
    return [candidate.content for candidate in statements_of_rules(messages, {"wang": known})]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("大的闺女周可心，十二岁。", ["王强的女儿叫周可心。", "周可心十二岁。"]),
        ("我同事陈立教物理。", ["王强的同事陈立教物理。"]),
        ("教我的是球友马骏，他拿过省冠军。", ["王强的球友叫马骏。", "马骏拿过省冠军。"]),
        ("我的搭档叫孙浩，是个电工。", ["王强的搭档叫孙浩。", "孙浩是个电工。"]),
    ],
)
def test_who_is_named_behind_what_they_are_is_known_by_it(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


def test_names_of_earlier_conversations_are_known_in_this_one() -> None:
    known = [Acquaintance("赵朵朵", "daughter"), Acquaintance("年糕", "cat"), Acquaintance("林静")]
    said = (
        "朵朵上个月过完生日，八岁了。",
        "林静工作换了，现在在社区医院。",
        "年糕改吃鱼肉粮了。",
        "轮滑课朵朵不去了。",
    )
    assert told_before(known, *said) == [
        "朵朵2026年4月过完生日。",
        "赵朵朵八岁了。",
        "林静工作换了，现在在社区医院。",
        "年糕改吃鱼肉粮了。",
        "轮滑课朵朵不去了。",
    ]
    subjects = {c.subject for c in statements_of_rules([_message(1, said[0])], {"wang": known})}
    assert subjects == {"赵朵朵"}


def test_a_relation_that_two_have_names_neither() -> None:
    known = [Acquaintance("小雨", "daughter"), Acquaintance("小雪", "daughter")]
    assert {c.subject for c in statements_of_rules([_message(1, "我女儿上三年级。")], {"wang": known})} == {
        "王强的女儿"
    }


def test_a_memory_names_whom_its_slot_or_its_subject_names() -> None:
    assert list(people_in("relation.spouse", "林静", "王强", {})) == [
        Acquaintance("林静", "spouse"),
        Acquaintance("王强"),
    ]
    listed = {"attribute": "relation.cat", "values": ["年糕", "汤圆"], "negated": False}
    assert list(people_in(None, None, "", listed)) == [Acquaintance("年糕", "cat"), Acquaintance("汤圆", "cat")]


@pytest.mark.parametrize(("asked", "text"), [("今天晚饭吃了什么？", "面条。"), ("你想去哪里？", "东京。")])
def test_answers_about_this_moment_are_not(asked: str, text: str) -> None:
    assert contents(f"A:{asked}", text) == []


@pytest.mark.parametrize(
    "text",
    [
        "先说好：回答简短些，两句以内。",
        "回答可以长一点了，十句以内都行。",
        "别在结尾说“祝好”，听着别扭。",
        "以后写邮件的时候，请用敬语。",
        "代码示例以后改用Kotlin。",
        "以后给我列清单，别写长段落。",
    ],
)
def test_how_answers_are_to_be_is_a_standing_instruction(text: str) -> None:
    assert [one.category for one in talk(text)] == [Category.INSTRUCTION]


@pytest.mark.parametrize(
    "text",
    [
        "我堂弟说他月入十万，鬼才信。",
        "老李说厂里要搬，谁知道真假。",
        "排队两小时，真是太享受了。",
        "饺子被它偷吃了。",
        "我妈非让我相亲，我才不去。",
    ],
)
def test_what_is_doubted_mocked_or_idle_is_not_kept(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("最近在看《八月炮火》。", "王强最近在看《八月炮火》。"),
        ("《三月的一天》看完了。", "王强《三月的一天》看完了。"),
        ("周日的长跑停了，换成游泳。", "王强周日的长跑停了，换成游泳。"),
        ("我爸退休以后天天下棋。", "王强的爸退休以后天天下棋。"),
    ],
)
def test_no_day_is_read_into_a_title_a_habit_or_half_a_word(text: str, kept: str) -> None:
    assert contents(text) == [kept]


@pytest.mark.parametrize(
    "text",
    [
        "我游800米要20分钟。",
        "酒店住0816房。",
        "工单3307修完了。",
        "我不信教。",
        "我对下棋没兴趣。",
        "我会蛙泳。",
        "照片加到三十张。",
        "影展推到11月了。",
        "我是周四居家。",
        "现在只喝白开水。",
        "我表妹当上护士长了。",
        "医生给我开了二甲双胍。",
    ],
)
def test_numbers_progress_convictions_and_schedules_are_kept(text: str) -> None:
    assert len(contents(text)) == 1


def test_what_is_put_right_by_a_bare_value_has_it() -> None:
    assert slots("我最爱吃的菜是回锅肉。等等，不对，是鱼香肉丝。")["王强", "preference.dish"] == "鱼香肉丝"


def test_chinese_sentences_of_an_english_message_are_read_as_chinese() -> None:
    assert set(contents("I love hiking. 我对花生过敏。 My sister lives in Bern.")) == {
        "王强 loves hiking.",
        "王强对花生过敏。",
        "王强's sister lives in Bern.",
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("我在苏州上班 做嵌入式的", ["苏州", "嵌入式"]),
        ("我家有两只仓鼠 一只叫芝麻 一只叫汤圆", ["芝麻", "汤圆"]),
        ("我对虾过敏 花生也不行", ["虾", "花生"]),
        ("储物柜换到88号 密码还是生日", ["88"]),
        ("我弟陈浩 24 在南京送外卖 晚上还跑代驾", ["弟弟叫陈浩", "陈浩24岁", "陈浩在南京送外卖"]),
    ],
)
def test_spaces_between_clauses_are_read_as_commas(text: str, kept: list[str]) -> None:
    said = contents(text)
    assert all(any(part in one for one in said) for part in kept), said


@pytest.mark.parametrize(
    "text", ["说话别那么官方，跟朋友似的就行。", "你回我短一点", "笑话就别讲了。", "周末别跟我聊工作", "表情随便用"]
)
def test_how_to_talk_is_asked_for_in_many_ways(text: str) -> None:
    assert [one.startswith("王强的长期要求") for one in contents(text)] == [True]


@pytest.mark.parametrize(
    "text", ["幸福死了。", "别提了。", "一个人去会不会很惨", "老王报到！", "这雨下得跟依萍那天一样。"]
)
def test_moods_greetings_and_questions_without_a_mark_are_not_kept(text: str) -> None:
    assert contents(text) == []


def test_somebody_brought_up_is_named_some_clauses_later() -> None:
    said = contents("跟一个男生合租 叫阿泽 做动画的")
    assert not any("王强叫" in one for one in said)
    assert "何敏" in " ".join(contents("我表姐何敏要结婚了。何敏哭得妆都花了，她33岁了。"))
