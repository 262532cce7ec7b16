from __future__ import annotations

import re

import pytest

from core.language.lazy_regex import lazy_regex


def test_it_answers_as_the_compiled_pattern_does() -> None:
    lazy, compiled = lazy_regex(r"(?P<word>te+a)", re.IGNORECASE), re.compile(r"(?P<word>te+a)", re.IGNORECASE)
    for words in ("Green TEEA.", "coffee"):
        mine, theirs = lazy.search(words), compiled.search(words)
        assert (mine and mine.groupdict()) == (theirs and theirs.groupdict())
    assert lazy.sub("-", "tea, Tea") == "-, -"
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)


def test_nothing_is_compiled_before_the_first_use() -> None:
    broken = lazy_regex("(")
    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("tea")


def test_a_pattern_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    compiled = re.compile

    def count(pattern: str, flags: int) -> re.Pattern[str]:
        calls.append(pattern)
        return compiled(pattern, flags)

    monkeypatch.setattr(re, "compile", count)
    lazy = lazy_regex("tea")
    assert calls == []
    assert lazy.search("tea")
    assert lazy.fullmatch("tea")
    assert lazy.search("no coffee") is None
    assert calls == ["tea"]


def test_what_a_pattern_does_not_have_the_stand_in_does_not_have_either() -> None:
    with pytest.raises(AttributeError):
        _ = lazy_regex("tea").nothing  # type: ignore[attr-defined]
