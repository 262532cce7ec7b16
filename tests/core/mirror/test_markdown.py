from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.mirror import markdown
from core.mirror.front_matter import UnreadableFile
from core.mirror.markdown import FilePlace, MemoryLine, ShownMemory, parse, render
from core.types import Category, Topic
from tests.core.mirror.samples import ANY, FRONT, NASTY, memory, parsed, texts, uid

SHOWN = st.builds(
    ShownMemory,
    st.one_of(ANY, NASTY),
    st.integers(0, 1000).map(lambda n: n / 1000),
    st.lists(st.one_of(ANY, NASTY), max_size=3).map(tuple),
    st.booleans(),
    st.booleans(),
)


def lines(text: str) -> list[MemoryLine]:
    return [line for _, line in parse(text).lines()]


def below(*rows: str) -> list[MemoryLine]:
    return lines(FRONT + "## Facts\n\n" + "".join(row + "\n" for row in rows))


@given(SHOWN)
def test_what_is_written_is_read_back_whatever_it_says(shown: ShownMemory) -> None:
    (line,) = lines(FRONT + "## Facts\n\n" + markdown.memory_line(shown, uid(7)))
    assert (line.displayed, line.id, line.group) == (shown, uid(7), FilePlace(Category.FACT, Topic.OTHER))


@given(st.lists(st.one_of(ANY, NASTY)).map("\n".join))
def test_any_text_below_the_front_matter_is_kept_byte_by_byte(text: str) -> None:
    try:
        assert render(parse(FRONT + text)) == FRONT + text
    except UnreadableFile as error:
        assert "unfinished merge" in error.detail  # noqa: PT017 - nothing else may be refused here


@given(st.lists(SHOWN, min_size=1, max_size=5))
def test_a_whole_file_is_read_back(all_shown: list[ShownMemory]) -> None:
    memories = [memory(n, one.content) for n, one in enumerate(all_shown, 1)]
    files = texts(*memories)
    found = {line.id: line.displayed.content for _, line in parsed(files)["memory.md"].lines()}
    assert found == {one.id: one.displayed.content for one in memories}


def test_a_file_looks_as_people_expect() -> None:
    written = texts(
        memory(1, "Ada lives in Lisbon.", topic=Topic.LOCATION, importance=0.8, tags=("home", "a b")),
        memory(2, "Ada has a cat."),
        memory(3, "Answers shall be short.", Category.INSTRUCTION, Topic.PREFERENCE, pinned=True),
    )
    assert written["memory.md"].split("\n\n", 3)[3] == (
        "## Facts\n\n"
        "- Ada has a cat. <!-- id:00000000-0000-0000-0000-000000000002 -->\n\n"
        "### Location\n\n"
        "- Ada lives in Lisbon. {importance=0.8 tags=home,a%20b} <!-- id:00000000-0000-0000-0000-000000000001 -->\n"
    )
    assert "## Instructions\n\n### Preference\n\n- 📌 Answers shall be short. <!-- id:" in written["learnings.md"]


@pytest.mark.parametrize(
    ("row", "content"),
    [
        ("- Ada has a cat.", "Ada has a cat."),
        ("* Ada has a cat.", "Ada has a cat."),
        ("+   Ada has a cat.  ", "Ada has a cat."),
        ("- a\n  wrapped line\n  of three", "a wrapped line of three"),
        (r"- C:\new and \*stars\*", r"C:\new and *stars*"),
        ("- {curly} and {more}", "{curly} and {more}"),
        ("- Tom & Jerry &amp; <b>", "Tom & Jerry &amp; <b>"),
    ],
)
def test_a_list_item_that_a_person_writes_is_a_statement(row: str, content: str) -> None:
    (line,) = below(row)
    assert (line.displayed.content, line.id, line.own) == (content, None, False)


@pytest.mark.parametrize(
    "row",
    [
        *("Just a note.", "  - nested", "1. numbered", "- [ ] a task", "- [x] done", "-", "- - -", "***", "> - quoted"),
        *("| - |", "```\n- code\n```", "<!-- a comment -->", "-no space"),
    ],
)
def test_what_is_no_plain_list_item_belongs_to_the_person(row: str) -> None:
    assert below(row) == []


def test_a_memory_is_one_wherever_its_line_stands() -> None:
    mark = f"<!-- id:{uid(3)} -->"
    for row in (
        f"  - nested {mark}",
        f"```\n- code {mark}\n```",
        f"- before {mark} behind",
        f"*  star{mark}",
        f"- {mark}",
    ):
        assert [line.id for line in below(row)] == [uid(3)], row


def test_a_fence_that_nobody_closes_swallows_nothing() -> None:
    found = lines(FRONT + "## Facts\n- one\n```\n## Plans\n- two\n")
    assert [line.group.category for line in found] == [Category.FACT, Category.PLAN]


def test_lines_of_a_section_of_ones_own_are_notes_until_a_memory_stands_among_them() -> None:
    notes = lines(FRONT + "## To do\n\n- buy milk\n")
    assert [line.own for line in notes] == [True]
    mixed = lines(FRONT + f"## About me\n\n- buy milk\n- cat <!-- id:{uid(1)} -->\n")
    assert [line.own for line in mixed] == [False, False]
    assert [line.group for line in mixed] == [FilePlace(), FilePlace()]


@pytest.mark.parametrize(
    ("heading", "place"),
    [
        ("## Facts", FilePlace(Category.FACT, Topic.OTHER)),
        ("##  preferences: ##", FilePlace(Category.PREFERENCE, Topic.OTHER)),
        ("## plan", FilePlace(Category.PLAN, Topic.OTHER)),
        ("# Skills", FilePlace(Category.SKILL, Topic.OTHER)),
        ("## Facts\n### Work", FilePlace(Category.FACT, Topic.WORK)),
        ("## Facts\n### goals", FilePlace(Category.FACT, Topic.GOAL)),
        ("## Facts\n### My family", FilePlace(Category.FACT, None)),
        ("## Facts\n### Work\n#### Detail", FilePlace(Category.FACT, Topic.WORK)),
        ("### Work", FilePlace()),
    ],
)
def test_headings_say_what_stands_below_them(heading: str, place: FilePlace) -> None:
    assert [line.group for line in lines(f"{FRONT}{heading}\n- x\n")] == [place]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("x {pinned}", ShownMemory("x", pinned=True)),
        ("📌 x", ShownMemory("x", pinned=True)),
        ("x {importance=1.0 tags=a,b%2Cc}", ShownMemory("x", 1.0, ("a", "b,c"))),
        ("x {importance=high}", ShownMemory("x", None)),
        ("x {importance=2}", ShownMemory("x", None)),
        ("x {disputed}", ShownMemory("x", disputed=True)),
        ("x {colour=red}", ShownMemory("x {colour=red}")),
        ("x {}", ShownMemory("x {}")),
    ],
)
def test_attributes_stand_at_the_end_of_a_line(said: str, shown: ShownMemory) -> None:
    assert [line.displayed for line in below(f"- {said}")] == [shown]


def test_an_id_that_is_none_makes_a_new_line() -> None:
    assert [(line.id, line.displayed.content) for line in below("- cat <!-- id:12 -->")] == [(None, "cat")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_stay(newline: str, bom: str) -> None:
    text = bom + (FRONT + f"## Facts\n- cat <!-- id:{uid(1)} -->\n").replace("\n", newline)
    document = parse(text)
    assert render(document) == text
    assert document.newline == newline
    assert [line.displayed.content for _, line in document.lines()] == ["cat"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "front matter"),
        ("# Memory\n- cat\n", "front matter"),
        ("---\nuser: ada\n- cat\n", "second"),
        (FRONT + "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n", "unfinished merge"),
        ("---\nuser: ada\nuser: bob\n---\n", "twice"),
        ('---\nuser: "ada\n---\n', "quoted"),
        ("---\nuser: 'ada\n---\n", "quoted"),
    ],
)
def test_what_is_no_mirror_file_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        parse(text)


def test_a_note_says_why_a_line_was_not_kept_and_goes_with_it() -> None:
    (line,) = below("- blah")
    noted = markdown.with_note(line, "Not worth keeping --> really.")
    assert noted.raw == "- blah <!-- not kept: Not worth keeping —› really. -->\n"
    (again,) = below(noted.raw.rstrip())
    assert (again.displayed.content, again.note) == ("blah", "Not worth keeping —› really.")
    assert markdown.with_id(again, uid(2)).raw == f"- blah <!-- id:{uid(2)} -->\n"
