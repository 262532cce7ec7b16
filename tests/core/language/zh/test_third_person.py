"""Chinese in the third person."""

from __future__ import annotations

from core.language.zh.third_person import third_person


def test_chinese_names_the_speaker() -> None:
    assert third_person("我妈妈和我住在成都", "小明") == "小明的妈妈和小明住在成都"
    assert third_person("其实，我不吃肉", "小明") == "小明不吃肉"
    assert third_person("我们老板喜欢喝茶", "小明") == "小明的老板喜欢喝茶"
