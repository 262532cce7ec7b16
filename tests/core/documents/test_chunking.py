from __future__ import annotations

import time
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.documents import chunking
from core.documents.chunking import MARKDOWN, PLAIN, Chunk, MediaType
from core.language.terms import token_estimate

TOKENS = 300
BLANK = " \t\r\n\f\v\ufeff\u3000\xa0\x85\u2028"

HANDBOOK = """\
---
title: The crew's handbook
tags: [ship]
---

Welcome aboard.

# Ship

## Watches

The first watch begins at eight. It ends at midnight.

- port
- starboard

## Stores

| what | where |
| ---- | ----- |
| rope | fore  |
| salt | aft   |

# Shore

```python
# not a heading
leave = "granted"

# nor this
```
"""


def texts(content: str, media_type: MediaType = MARKDOWN, tokens: int = TOKENS) -> list[str]:
    return [content[p.start : p.end] for p in chunking.split(content, media_type, tokens)]


def headings(content: str, tokens: int = TOKENS) -> list[tuple[str, ...]]:
    return [p.headings for p in chunking.split(content, MARKDOWN, tokens)]


def holding(content: str, words: str, tokens: int = TOKENS) -> Chunk:
    """The one passage in which words stand."""
    (found,) = [p for p in chunking.split(content, MARKDOWN, tokens) if words in content[p.start : p.end]]
    return found


def test_a_passage_never_crosses_a_heading_of_the_top_level() -> None:
    first, ship, shore = texts(HANDBOOK)
    assert (first[:9], first[-15:]) == ("---\ntitle", "Welcome aboard.")
    assert (ship[:6], ship[-16:]) == ("# Ship", "| salt | aft   |")
    assert (shore[:7], shore[-3:]) == ("# Shore", "```")
    assert headings(HANDBOOK) == [(), ("Ship",), ("Shore",)]


def test_a_passage_knows_the_headings_over_all_of_it() -> None:
    assert holding(HANDBOOK, "begins at eight", 30).headings == ("Ship", "Watches")
    assert holding(HANDBOOK, "| rope", 30).headings == ("Ship", "Stores")
    assert headings("## b\n\nx\n\n# a\n\n### c\n\ny") == [("b",), ("a", "c")]


def test_what_belongs_together_stays_whole_where_it_fits() -> None:
    for part in (
        "- port\n- starboard",
        "| rope | fore  |\n| salt | aft   |",
        '# not a heading\nleave = "granted"\n\n#',
    ):
        assert holding(HANDBOOK, part, 25)


def test_a_heading_is_not_parted_from_what_it_stands_over() -> None:
    content = "# A\n\n" + "word " * 80 + "\n\n## B\n\n" + "other " * 60
    assert [text[:5] for text in texts(content, tokens=120)] == ["# A\n\n", "## B\n"]
    assert headings(content, 120) == [("A",), ("A", "B")]


def test_a_section_begins_a_passage_where_the_one_before_is_half_full() -> None:
    content = "# A\n\n" + "".join(f"## {n}\n\n{'word ' * 60}\n\n" for n in range(4))
    assert headings(content, 120) == [("A", str(n)) for n in range(4)]


def test_small_sections_share_a_passage() -> None:
    content = "# A\n\n" + "".join(f"## {n}\n\nShort.\n\n" for n in range(5))
    assert headings(content) == [("A",)]


@pytest.mark.parametrize(
    "content",
    ["- a\n- b\n---\nafter\n", "| a |\n---\nafter\n", "```\n# a\n```\n", "    # a\n", "> # a\n", "<!--\n# a\n-->\n"],
)
def test_what_only_looks_like_a_heading_is_none(content: str) -> None:
    assert headings(content) == [()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("# **Bold** and `code` #", "Bold and code"),
        ("# See [the docs](http://x.y/z)", "See the docs"),
        ("# snake_case_name", "snake_case_name"),
        ("Under\n=====", "Under"),
        ("# 第一章 安装", "第一章 安装"),
        ("# " + "x" * 500, "x" * 199 + "…"),
    ],
)
def test_a_heading_is_told_in_plain_words(line: str, said: str) -> None:
    assert headings(f"{line}\n\ntext") == [(said,)]


def test_prose_is_cut_after_a_sentence() -> None:
    prose = "The ship sails at dawn. " * 40
    assert {text[-1] for text in texts(prose, PLAIN, 50)} == {"."}
    wrapped = "The ship sails\nat dawn. We go\nwith her. " * 40
    assert {text[-1] for text in texts(wrapped, PLAIN, 50)} == {"."}


def test_chinese_without_spaces_is_cut_after_a_sentence() -> None:
    found = texts("我上个月搬到了里斯本。这里的天气很好！" * 40, PLAIN, 50)
    assert len(found) > 10
    assert {text[-1] for text in found} <= {"。", "！"}
    assert all(len(text) <= 50 for text in found)


def test_code_lists_and_tables_are_cut_after_a_line() -> None:
    for line in ('print("One. Two. Three.")', "- One. Two. Three.", "| One. | Two. |"):
        fence = "```" if line.startswith("p") else ""
        found = texts(f"{fence}\n" + f"{line}\n" * 100 + fence, tokens=60)
        assert len(found) > 5
        assert all(part.endswith((line[-1], "```")) for part in found)


def test_lines_keep_what_they_are_indented_by() -> None:
    found = texts("```\n" + "    x = 1\n" * 200 + "```", tokens=60)
    assert all(part.startswith("    x") for part in found[1:-1])


def test_what_is_seen_as_one_character_is_not_cut() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    for one in (family, "e\u0301\u0302", "\U0001f44d\U0001f3fd", "ก็"):
        found = texts(one * 100, PLAIN, 16)
        assert len(found) > 5
        assert all(len(part) % len(one) == 0 for part in found)
    assert [len(part) for part in texts("\u200d" * 100, PLAIN, 20)] == [20] * 5


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_ends_of_lines_are_read_alike(end: str) -> None:
    found = chunking.split(HANDBOOK.replace("\n", end), MARKDOWN, TOKENS)
    assert [p.headings for p in found] == [(), ("Ship",), ("Shore",)]
    assert [text.replace(end, "\n") for text in texts(HANDBOOK.replace("\n", end))] == texts(HANDBOOK)


def test_a_mark_of_byte_order_is_no_text() -> None:
    assert headings("\ufeff# Ship\n\nx") == [("Ship",)]
    assert texts("\ufeff# Ship") == ["# Ship"]
    assert headings("\ufeff" + HANDBOOK) == headings(HANDBOOK)


def test_a_document_without_text_has_no_passages() -> None:
    for media_type in get_args(MediaType):
        for content in ("", "\n", " \r\n\t ", "\ufeff", "\u3000\n"):
            assert chunking.split(content, media_type, TOKENS) == []


pieces = st.sampled_from(
    [
        *("# A\n", "## B\n", "### C\n", "a\n---\n", "b\n==\n", "---\n", "- item one\n", "1. item\n", "  - sub item\n"),
        *("```\n", "~~~\n", "    code\n", "| a | b |\n", "|---|---|\n", "> quote\n", "<div>\n", "</div>\n", "<!--\n"),
        *("Words in a sentence. And one more. ", "你好。世界！", "x" * 70, "\n", "\n\n", "\r\n", "\r", "\t", "   "),
        *("👩‍👩‍👧", "e\u0301", "\ufeff", "\u200d", "[a]: http://b\n", "title: T\n", "\u3000", "\x0b", "\u2028", "word"),
    ]
)
documents = st.lists(pieces | st.text(max_size=12), max_size=60).map("".join)


@given(documents, st.sampled_from(get_args(MediaType)), st.integers(1, 60))
@example("# A\n# B", MARKDOWN, 1)
@example("---\n---\n", MARKDOWN, 3)
@example(" " * 50 + "x", MARKDOWN, 2)
def test_passages_are_ranges_in_order_that_cover_all_that_is_not_blank(
    content: str, media_type: MediaType, tokens: int
) -> None:
    found = chunking.split(content, media_type, tokens)
    assert [p.position for p in found] == list(range(1, len(found) + 1))
    assert all(p.start < p.end <= len(content) for p in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    covered = {at for p in found for at in range(p.start, p.end)}
    assert [c for at, c in enumerate(content) if at not in covered and not c.isspace() and c != "\ufeff"] == []
    for p in found:
        text = content[p.start : p.end]
        assert text.strip(BLANK)
        assert token_estimate(text) <= tokens


@given(documents, st.integers(5, 60))
def test_no_passage_holds_two_headings_of_the_top_level(content: str, tokens: int) -> None:
    blocks = chunking._blocks(content, MARKDOWN)
    top = [block.start for block in blocks if block.heading and len(block.path) == 1]
    for p in chunking.split(content, MARKDOWN, tokens):
        assert all(not p.start < start < p.end for start in top)


@pytest.mark.parametrize(
    "content",
    [
        "x" * (4 << 20),
        "我" * ((4 << 20) // 3),
        "\n" * (4 << 20) + "x",
        "- a\n" * (1 << 20),
        "# a\n" * (1 << 20),
        "a\n-\n" * (1 << 20),
        "> " * (2 << 20),
        "| one | two | three |\n" * 190_000,
        "[" * (4 << 20),
        " " * (4 << 20) + "x",
        ("# Head\n\n" + "Lorem ipsum dolor sit amet, consectetur. " * 20 + "\n\n") * 5_000,
    ],
    ids=["letters", "chinese", "blank", "list", "headings", "setext", "quotes", "table", "brackets", "spaces", "prose"],
)
def test_four_mebibytes_of_anything_are_split_in_seconds(content: str) -> None:
    began = time.process_time()
    found = chunking.split(content, MARKDOWN, TOKENS)
    assert time.process_time() - began < 20  # It takes 2 s at the most; the rest is for a machine that is busy.
    assert max(token_estimate(content[p.start : p.end]) for p in found) <= TOKENS
    chunking.title_of(content, MARKDOWN)
    assert time.process_time() - began < 40


@pytest.mark.parametrize(
    ("content", "media_type", "title"),
    [
        (HANDBOOK, MARKDOWN, "The crew's handbook"),
        ('---\ntitle: "Quoted: one"\n---\n# Other', MARKDOWN, "Quoted: one"),
        ("Intro.\n\n# **The** ship\n", MARKDOWN, "The ship"),
        ("\n\n  First words\nsecond line", PLAIN, "First words"),
        ("# no heading here", PLAIN, "# no heading here"),
        ("里斯本的天气" * 100, PLAIN, ("里斯本的天气" * 100)[:199] + "…"),
        ("#\n\ntext", MARKDOWN, "#"),
    ],
)
def test_a_document_says_what_it_is_called(content: str, media_type: MediaType, title: str) -> None:
    assert chunking.title_of(content, media_type) == title


@pytest.mark.parametrize("content", ["# A\n", "text\n\n## B", "```\nx\n```", "| a |\n|---|---|", "see [x](http://y)"])
def test_markdown_is_told_by_its_signs(content: str) -> None:
    assert chunking.guess_media_type(content) == MARKDOWN


@pytest.mark.parametrize("content", ["Just text.", "#hashtag and #other", "a - b - c", "[1] a note", "价格 100 元"])
def test_everything_else_is_plain_text(content: str) -> None:
    assert chunking.guess_media_type(content) == PLAIN
