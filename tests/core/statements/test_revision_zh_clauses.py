from __future__ import annotations

from dataclasses import dataclass

import pytest

from core.statements import revision_zh_clauses as clauses


@dataclass(frozen=True)
class Said:
    content: str
    subject: str = "江南"
    attribute: str | None = None
    value: str | None = None


def test_a_text_is_cut_at_marks_and_at_spaces_between_han_characters() -> None:
    assert clauses.clauses("我搬家了，现在住闵行。Vue 3 不用") == ("我搬家了", "现在住闵行", "Vue 3", "不用")
    assert clauses.clauses("存钱的事 是做梦") == ("存钱的事", "是做梦")


@pytest.mark.parametrize(
    ("mine", "theirs", "one"),
    [("朵朵", "赵朵朵", True), ("江南", "江南", True), ("许薇", "江南", False), ("江南的哥哥", "江南", False)],
)
def test_a_short_name_is_the_same_person_and_a_relative_is_another(mine: str, theirs: str, one: bool) -> None:
    assert clauses.are_one(Said("", mine), Said("", theirs)) is one


def test_what_two_texts_name_both_is_found() -> None:
    assert clauses.share("乒乓球搭档", "打乒乓球") == "乒乓"
    assert clauses.share("用Vue写", "Vue基本不碰") == "Vue"
    assert clauses.share("乒乓球", "围棋班") is None


def test_a_district_may_lie_in_a_town() -> None:
    assert clauses.within("高新区", "成都")
    assert not clauses.within("成都", "高新区")


def test_the_clause_in_which_something_stands_and_the_day_that_both_name() -> None:
    assert clauses.around_of("闵行", "我搬家了，现在住闵行。") == "现在住闵行"
    assert clauses.day_of("每周一和周五", "改到周五") == "周五"
    assert clauses.day_of("每周一", "改到周五") is None
