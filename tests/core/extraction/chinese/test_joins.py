from __future__ import annotations

import pytest

from core.extraction.chinese import joins


@pytest.mark.parametrize(
    "clause", ["大概25分钟", "叫大黄", "下周三", "预算三千", "一年回来一次", "黑色的", "开在东门", "跟我一样大"]
)
def test_a_clause_that_says_nothing_by_itself_depends_on_the_one_before(clause: str) -> None:
    assert joins.depends_on_clause_before(clause)


@pytest.mark.parametrize("clause", ["我住在成都", "我在新疆做生意", "不报了", "我妈退休了"])
def test_a_clause_with_a_subject_or_an_end_stands_alone(clause: str) -> None:
    assert not joins.depends_on_clause_before(clause)


@pytest.mark.parametrize(
    ("before", "right", "after"),
    [
        ("单程25分钟", "30分钟", "单程30分钟"),
        ("储物柜88号", "是89号", "储物柜89号"),
        ("下周一面试", "是周二", "周二面试"),
        ("9月5号皮肤科", "6号", "9月6号皮肤科"),
        ("会议3月4日", "应该是3月5日", "会议3月5日"),
        ("工单A-17修完了", "是A-18", "工单A-18修完了"),
        ("我有两只猫一条狗", "三只", "我有三只猫一条狗"),
        ("我住在成都", "30分钟", None),
        ("单程25分钟", "住在成都", None),
    ],
)
def test_a_value_takes_the_place_of_the_last_one_with_its_unit(before: str, right: str, after: str | None) -> None:
    assert joins.replace_value(before, right) == after


def test_what_somebody_or_something_is_can_be_put_right() -> None:
    assert joins.replace_complement("我最爱吃的菜是回锅肉", "是蹄花") == "我最爱吃的菜是蹄花"
    assert joins.replace_complement("我叫李四", "应该是李五才对") == "我叫李五"
    assert joins.replace_complement("我喜欢茶", "是咖啡") is None


def test_several_dates_are_replaced_together_or_not_at_all() -> None:
    assert joins.replace_dates("3月4日去，3月8日回", "3月5日到3月9日") == "3月5日去，3月9日回"
    assert joins.replace_dates("3月4日去，3月8日回", "3月5日") is None
    assert joins.replace_dates("3月4日去", "3月5日") is None, "that is for a single value"


def test_on_a_journey_one_lives_somewhere_for_some_days() -> None:
    assert joins.is_trip("下周去北京出差")
    assert not joins.is_trip("我在成都上班")


def test_a_clause_that_only_announces_the_next_is_known() -> None:
    assert joins.is_intro("定了个目标")
    assert not joins.is_intro("我的目标是半马")
