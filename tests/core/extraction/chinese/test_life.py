from __future__ import annotations

import pytest

from core.extraction.chinese import life


@pytest.mark.parametrize(
    ("clause", "attribute", "value"),
    [
        ("我怀孕了", "family.birth", "怀孕"),
        ("我生了", "family.birth", "生了"),
        ("我上高二", "education.stage", "高二"),
        ("我开了家面馆", "work.role", "开面馆"),
        ("从来没去过西藏", "visited.西藏", "没去过"),
        ("无辣不欢", "habit.辣", "无辣不欢"),
        ("我跟女友异地", "relation.together", "异地"),
        ("养了三只猫", "count.猫", "三"),
        ("换了辆比亚迪秦", "have.车", "比亚迪秦"),
        ("房租3600", "number.房租", "3600"),
        ("今年要读50本书", "goal.本", "50"),
    ],
)
def test_a_clause_fills_one_of_the_slots_that_most_people_have(clause: str, attribute: str, value: str) -> None:
    found = life.fact(clause, "")
    assert found is not None
    assert (found.attribute, found.value, found.over) == (attribute, value, False)


@pytest.mark.parametrize(
    ("clause", "attribute"),
    [("我退休了", "work.role"), ("店关了", "work.role"), ("爷爷去世了", "have.爷爷"), ("一点辣都不吃", "habit.辣")],
)
def test_a_state_that_has_ended_says_so(clause: str, attribute: str) -> None:
    found = life.fact(clause, "")
    assert found is not None
    assert (found.attribute, found.over) == (attribute, True)


@pytest.mark.parametrize("clause", ["我想退休", "我没退休", "以前去过西藏", "我有个儿子上高二", "房贷3600", "我喜欢茶"])
def test_wishes_the_past_and_what_is_only_mentioned_fill_none(clause: str) -> None:
    assert life.fact(clause, "") is None
