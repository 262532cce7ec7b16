from __future__ import annotations

import gc
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from core.extraction import rule_extractor
from core.language.lazy_regex import lazy_regex

LABELLED = Path(__file__).parents[1] / "extraction" / "labelled.jsonl"


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


def test_without_its_literals_a_text_has_no_match_and_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re, "compile", lambda *_: pytest.fail("compiled"))
    lazy, text = lazy_regex(r"\ballergic to (\w+)", re.IGNORECASE), "She plays the oboe."
    assert (lazy.search(text), lazy.match(text, 3), lazy.fullmatch(text)) == (None, None, None)
    assert (list(lazy.finditer(text)), lazy.findall(text), lazy.split(text)) == ([], [], [text])
    assert lazy.sub("-", text) == text


def test_with_them_each_method_answers_as_the_compiled_one_does() -> None:
    pattern, text = r"\ballergic to (\w+)", "ALLERGIC to nuts, allergic to cats"
    lazy, compiled = lazy_regex(pattern, re.IGNORECASE), re.compile(pattern, re.IGNORECASE)
    assert lazy.findall(text) == compiled.findall(text) == ["nuts", "cats"]
    assert [m.span() for m in lazy.finditer(text, 5)] == [m.span() for m in compiled.finditer(text, 5)]
    assert lazy.split(text) == compiled.split(text)
    assert lazy.sub(r"\1", text, count=1) == compiled.sub(r"\1", text, count=1)


def test_letters_beyond_ascii_that_match_in_another_case_are_not_passed_over() -> None:
    assert lazy_regex("milk and kiwis", re.IGNORECASE).search("MILK AND KIWI\u017f")


def test_no_pattern_of_the_rules_passes_over_a_match() -> None:
    """Searched with and without the look-up for literals, in each labelled sentence."""
    assert rule_extractor
    texts = [json.loads(line)["text"] for line in LABELLED.read_text().splitlines()]
    lazies = {one.pattern: one for one in _lazies()}
    assert len(lazies) > 300
    wrong = []
    for lazy in lazies.values():
        compiled = re.compile(lazy.pattern, lazy.flags)
        wrong += [(lazy.pattern, text) for text in texts if _span(lazy, text) != _span(compiled, text)]
    assert wrong == []


def _lazies() -> Iterator[re.Pattern[str]]:
    """Yield the patterns that the modules of `core` hold, in their tables, too."""
    kind, met = type(lazy_regex("tea")), set[int]()
    todo: list[object] = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("core.")]
    while todo:
        one = todo.pop()
        if id(one) not in met and type(one).__module__ != "builtins":
            met.add(id(one))
            if type(one) is kind:
                yield cast("re.Pattern[str]", one)
            elif type(one).__module__.startswith("core."):
                todo += gc.get_referents(one)
        elif isinstance(one, dict | tuple | list) and id(one) not in met:
            met.add(id(one))
            todo += gc.get_referents(one)


def _span(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    found = pattern.search(text)
    return found and found.span()
