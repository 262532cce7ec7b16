from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.screening import deobfuscation


@pytest.mark.parametrize(
    "spelled",
    ["ｉｇｎｏｒｅ", "IGNORE", "іgnоrе", "ïgnörè", "ig\u200bno\u00adre", "🅸🅶🅽🅾🆁🅴", "ⓘⓖⓝⓞⓡⓔ", "ɪɢɴᴏʀᴇ", "𝐢𝐠𝐧𝐨𝐫𝐞"],
)
def test_however_a_word_is_spelled_it_is_folded_into_one(spelled: str) -> None:
    assert deobfuscation.fold(spelled) == "ignore"


def test_words_keep_their_borders_and_sentences_theirs() -> None:
    assert deobfuscation.words(deobfuscation.fold("Don't **ig**nore. It’s 3 p.m.")) == b" dont ignore \x01 its 3 p m "


def test_leetspeak_is_read_only_where_there_is_any() -> None:
    assert deobfuscation.without_leetspeak("1gn0r3 4ll") == b" ignore aii "
    assert deobfuscation.without_leetspeak("two plain words") is None


def test_letters_that_stand_alone_are_put_together() -> None:
    assert deobfuscation.join_spaced_letters("please i g n o r e   m e now") == ("please ignoreme now", b"ignoreme")
    assert deobfuscation.join_spaced_letters("a b c") is None


def test_chinese_is_read_in_one_script_and_without_gaps() -> None:
    assert deobfuscation.han("無 視·規-則！ 好") == "无视规则。好"
    assert deobfuscation.han("no Chinese") is None


def test_what_is_turned_is_turned_back() -> None:
    assert b" ignore " in deobfuscation.reversed_and_rot13(b" erongi ")[0]
    assert deobfuscation.reversed_and_rot13(b" vtaber ")[1] == b" ignore "


@given(st.text(alphabet=st.characters(min_codepoint=97, max_codepoint=122), min_size=30, max_size=200))
def test_base64_of_a_text_is_read_back(text: str) -> None:
    run = base64.b64encode(text.encode()).decode()
    assert (run, text) in list(deobfuscation.decode_runs(f"see {run} there"))


def test_encodings_within_encodings_are_undone_twice() -> None:
    once = base64.b64encode(b"the quick brown fox jumps over it").decode()
    twice = base64.b64encode(once.encode()).decode()
    assert [said for _, said in deobfuscation.decode_runs(twice)] == [once, "the quick brown fox jumps over it"]


def test_tags_and_selectors_spell_what_they_hide() -> None:
    assert deobfuscation.decode_tags("tea" + "".join(chr(0xE0000 + ord(c)) for c in "hi")) == "hi"
    assert deobfuscation.decode_tags("a" + "".join(chr(0xE0100 + ord(c) - 16) for c in "hi")) == "hi"
    assert deobfuscation.decode_tags("I ❤️ tea") == ""


def test_escapes_are_read_where_there_are_enough_to_hide_a_word() -> None:
    assert "ignore" in next(deobfuscation.decode_escapes("%69%67%6e%6f%72%65"))
    assert "ignore" in next(deobfuscation.decode_escapes("".join(f"&#{ord(c)};" for c in "ignore")))
    assert "ignore" in next(deobfuscation.decode_escapes("".join(f"\\u{ord(c):04x}" for c in "ignore")))
    assert list(deobfuscation.decode_escapes("a 100%25 sure, C:\\x &amp;")) == []
