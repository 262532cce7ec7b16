from __future__ import annotations

import pytest

from core.extraction.chinese import things
from core.types import Category


@pytest.mark.parametrize(
    ("clause", "attribute", "value"),
    [
        ("攀岩改成每周三晚上", "habit.攀岩", "每周三晚上"),
        ("正在学钢琴", "habit.钢琴", "在学"),
        ("咖啡一天一杯", "habit.咖啡", "一天一杯"),
        ("房租涨到4200了", "number.房租", "4200"),
        ("婚礼定在10月18号", "date.婚礼", "10月18号"),
        ("REQ-1041是支付页改版", "id.REQ-1041", "支付页改版"),
        ("我体重65公斤", "weight", "65"),
        ("我想减到60公斤", "goal.公斤", "60"),
    ],
)
def test_a_clause_fills_the_slot_of_the_noun_that_it_is_about(clause: str, attribute: str, value: str) -> None:
    found = things.fact(clause, "", Category.FACT)
    assert found is not None
    assert (found.attribute, found.value, found.over) == (attribute, value, False)


@pytest.mark.parametrize(
    ("clause", "attribute"),
    [("杭马不报了", "plan.杭马"), ("富士那台X-T30卖了", "have.X-T30"), ("钢琴不学了", "habit.钢琴")],
)
def test_what_is_given_up_ends_in_the_slot_that_it_had(clause: str, attribute: str) -> None:
    found = things.fact(clause, "", Category.FACT)
    assert found is not None
    assert (found.attribute, found.over) == (attribute, True)


def test_a_clause_without_a_noun_is_about_the_thing_of_the_one_before() -> None:
    found = things.fact("改到浦东", "婚礼", Category.FACT)
    assert found is not None
    assert (found.attribute, found.value) == ("place.婚礼", "浦东")
    assert things.fact("改到浦东", "", Category.FACT) is None


@pytest.mark.parametrize("clause", ["我住在成都", "不再喜欢香菜", "我弟弟每周二打球"])
def test_homes_tastes_and_what_relatives_do_have_no_such_slot(clause: str) -> None:
    assert things.fact(clause, "", Category.FACT) is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("每周二和周四晚上我去攀岩", "攀岩"),
        ("夜跑", "跑步"),
        ("看牙", "牙"),
        ("钢琴课", "钢琴"),
        ("冰美式", "咖啡"),
        ("富士那台X-T30", "X-T30"),
        ("每天晚上", ""),
    ],
)
def test_words_for_the_same_thing_have_the_same_key(text: str, key: str) -> None:
    assert things.key(text) == key
