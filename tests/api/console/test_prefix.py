from __future__ import annotations

from api.console import prefix
from core.types import Json


def section(name: str, text: str) -> Json:
    return {"name": name, "text": text, "tokens": len(text)}


def test_what_comes_behind_the_first_difference_is_not_reused() -> None:
    before = [section("profile", "lives in Turin"), section("memories", "plays cello"), section("recent", "hello")]
    after = [section("profile", "lives in Turin"), section("memories", "plays chess"), section("recent", "hello")]
    assert [(one.name, one.kept, one.new, one.kept_tokens) for one in prefix.shared(before, after)] == [
        ("profile", "lives in Turin", "", 14),
        ("memories", "plays c", "hess", 7),
        ("recent", "", "hello", 0),
    ]


def test_a_section_that_is_new_or_gone_ends_what_is_reused() -> None:
    before = [section("profile", "a"), section("recent", "b")]
    assert [one.kept for one in prefix.shared(before, [section("recent", "b")])] == [""]
    assert [one.kept for one in prefix.shared(before, [section("profile", "a"), section("focus", "x")])] == ["a", ""]


def test_a_text_that_has_grown_is_kept_up_to_where_it_grew() -> None:
    (one, two) = prefix.shared(
        [section("recent", "ab"), section("focus", "x")], [section("recent", "abc"), section("focus", "x")]
    )
    assert (one.kept, one.new, two.kept) == ("ab", "c", "")
