from __future__ import annotations

import pytest

from core.extraction.chinese import clauses


def test_spaces_around_latin_words_and_numbers_are_no_commas() -> None:
    assert not clauses.is_spaced("我买了 3 台 MacBook Pro")
    assert not clauses.is_spaced("住 A 区 离公司近，挺好")
    assert clauses.with_commas("手机换了 现在用 MacBook Pro") == "手机换了，现在用，MacBook Pro"


@pytest.mark.parametrize(
    ("sentence", "pieces"),
    [
        ("我在苏州上班，做嵌入式。", [("我在苏州上班", ""), ("做嵌入式", "")]),
        ("“今天，很好”是他写的，我喜欢。", [("“今天，很好”是他写的", ""), ("我喜欢", "")]),
        ("我喜欢《三月，一天》，还有茶。", [("我喜欢《三月，一天》", ""), ("还有茶", "")]),
        ("房租3,600元，押一付三", [("房租3,600元", ""), ("押一付三", "")]),
        ("会议10:30开始", [("会议10:30开始", "")]),
        ("下半年的打算：学钢琴，跑半马", [("学钢琴", "下半年的打算"), ("跑半马", "下半年的打算")]),
        ("下半年的打算：学钢琴", [("下半年的打算：学钢琴", "")]),
        ("帮我记一下：学钢琴，跑半马", [("学钢琴", ""), ("跑半马", "")]),
        ("他说：我住在成都。", []),
    ],
)
def test_commas_cut_but_not_within_quotations_titles_numbers_and_times(
    sentence: str, pieces: list[tuple[str, str]]
) -> None:
    assert [(one.text, one.head) for one in clauses.split(sentence)] == pieces


def test_two_lists_of_one_length_are_paired_and_others_stay_as_they_are() -> None:
    paired = clauses.split("REQ-1041、REQ-1057分别是支付页改版、发票导出，都要上线。")
    assert [one.text for one in paired] == ["REQ-1041是支付页改版", "REQ-1057是发票导出", "都要上线"]
    assert [one.text for one in clauses.split("甲、乙、丙分别是子、丑。")] == ["甲、乙、丙分别是子、丑"]


@pytest.mark.parametrize("text", ["他写“你好”和《书》", "「甲」『乙』", "没有引号", "“没有完"])
def test_masking_keeps_the_length_and_what_stands_outside(text: str) -> None:
    hidden = clauses.mask_quotations(text)
    assert len(hidden) == len(text)
    assert all(one in (other, clauses.QUOTED, clauses.TITLED) for one, other in zip(hidden, text, strict=True))
    assert not any(sign in hidden for sign in "“”《》「」『』")
