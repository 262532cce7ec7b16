from __future__ import annotations

from collections.abc import Callable

import pytest

from core.extraction.chinese import claims


@pytest.mark.parametrize(
    ("judge", "sentences"),
    [
        (claims.is_test, ["测试一下", "test", "def f():\n  return 1"]),
        (claims.begins_role, ["你当面试官，我演程序员"]),
        (claims.ends_role, ["不演了，停"]),
        (claims.speaks_plainly, ["说真的，我住成都"]),
        (claims.withdraws, ["骗你的", "开玩笑的"]),
        (claims.disbelieves, ["我不信"]),
        (claims.corrects, ["不对，是周二", "说错了"]),
        (claims.is_question, ["他吃了吗"]),
        (claims.is_imagined, ["要是能回到二十岁就好了"]),
        (claims.is_advice, ["医生让我少吃盐"]),
        (claims.is_done_to_me, ["公司派我去北京"]),
        (claims.is_others_word, ["听说隔壁组要裁员", "同事说公司要上市"]),
        (claims.is_mood, ["烦死了"]),
        (claims.is_sarcastic, ["排队两小时，真是太享受了"]),
        (claims.is_scene, ["今天又加班"]),
    ],
)
def test_what_is_no_plain_assertion_is_known_for_what_it_is(judge: Callable[[str], bool], sentences: list[str]) -> None:
    assert [one for one in sentences if not judge(one)] == []


@pytest.mark.parametrize(
    ("judge", "sentences"),
    [
        (claims.begins_role, ["我当过兵"]),
        (claims.ends_role, ["继续"]),
        (claims.disbelieves, ["我不信教", "我不信佛"]),
        (claims.is_advice, ["我让医生看看"]),
        (claims.is_done_to_me, ["他找我们家", "她劝我妈"]),
        (claims.is_others_word, ["她说她下个月要结婚", "医生让我少吃盐", "我爷爷说他走了"]),
        (claims.is_sarcastic, ["我享受跑步"]),
        (claims.is_scene, ["我每天加班"]),
    ],
)
def test_what_looks_like_it_and_is_plain_is_left_alone(judge: Callable[[str], bool], sentences: list[str]) -> None:
    assert [one for one in sentences if judge(one)] == []


PLAIN = ["我住在成都", "我对花生过敏", "我妈退休了", "我每周二游泳"]


@pytest.mark.parametrize("sentence", PLAIN)
def test_a_plain_assertion_is_none_of_all_that(sentence: str) -> None:
    judges = [
        claims.is_test, claims.begins_role, claims.ends_role, claims.withdraws, claims.disbelieves, claims.corrects,
        claims.is_question, claims.is_imagined, claims.is_advice, claims.is_done_to_me, claims.is_others_word,
        claims.is_mood, claims.is_sarcastic, claims.is_scene,
    ]  # fmt: skip
    assert [one.__name__ for one in judges if one(sentence)] == []


def test_a_correction_within_a_sentence_parts_what_was_wrong_from_what_is_right() -> None:
    said = "我住成都，不对，是重庆"
    assert claims.after_correction(said, said) == "是重庆"
    assert claims.before_correction("我住成都，不对") == "我住成都"
    assert claims.after_correction("我住成都", "我住成都") == "我住成都"
