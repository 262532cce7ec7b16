from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.mirror.arrangement import Memory, arrange
from core.mirror.diff import Findings, compare
from core.mirror.markdown import render
from core.types import Category, Topic
from tests.core.mirror.samples import by_id, memory, parsed, texts, uid

CAT = memory(1, "Ada has a cat.", importance=0.7)
DOG = memory(2, "Ada has a dog.")
TEA = memory(3, "Ada likes tea.", Category.PREFERENCE)
BRIEF = memory(4, "Answer briefly.", Category.INSTRUCTION)
ALL = (CAT, DOG, TEA, BRIEF)


def line(one: Memory) -> str:
    """Its line as it was written."""
    (found,) = [row for text in texts(*ALL).values() for row in text.splitlines(keepends=True) if str(one.id) in row]
    return found


def edited(change: Callable[[str], str], *now: Memory, file: str = "memory.md") -> Findings:
    """What an edit of one file comes to; `now`: what the database has changed meanwhile."""
    files = texts(*ALL)
    versions = {one.id: one.version for one in ALL}
    return compare(parsed(files), parsed(files | {file: change(files[file])}), by_id(*ALL, *now), versions)


def summary(found: Findings) -> dict[str, object]:
    """The findings in short, without what there is none of."""
    said = {
        "edited": {one.memory.id.int: set(one.fields) for one in found.edited},
        "removed": [one.id.int for one, _ in found.removed],
        "restored": [one.id.int for one, _ in found.restored],
        "new": [item.line.displayed.content for item in found.new],
        "clashes": [(clash.memory.id.int, clash.kept) for clash in found.clashes],
    }
    return {name: value for name, value in said.items() if value}


def changed(one: Memory, **shown: object) -> Memory:
    """The memory as the database has changed it."""
    return replace(one, version=one.version + 1, displayed=replace(one.displayed, **shown))  # type: ignore[arg-type]


def put_away(one: Memory, status: str) -> Memory:
    return replace(one, version=one.version + 1, standing=False, status=status)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda t: t, {}),
        (lambda t: t.replace("a cat", "two cats"), {"edited": {1: {"content"}}}),
        (lambda t: t.replace("importance=0.7", "importance=0.9 tags=pet"), {"edited": {1: {"importance", "tags"}}}),
        (lambda t: t.replace("- Ada has a cat", "- 📌 Ada has a cat"), {"edited": {1: {"pinned"}}}),
        (lambda t: t.replace("importance=0.7", "importance=very"), {}),
        (lambda t: t.replace(line(CAT), ""), {"removed": [1]}),
        (lambda t: t.replace("Ada has a cat. {importance=0.7}", ""), {"removed": [1]}),
        (lambda t: t + "- Ada sails.\n", {"new": ["Ada sails."]}),
        (lambda t: t.replace(line(CAT), "") + line(CAT), {"edited": {1: {"category"}}}),
        (lambda t: t.replace(line(CAT) + line(DOG), line(DOG) + line(CAT)), {}),
        (lambda t: t.replace("## Facts", "## What I know\n\nSome words.\n\n### Facts?"), {}),
        (lambda t: t.replace(line(CAT), "### Health\n" + line(CAT) + "### Other\n"), {"edited": {1: {"topic"}}}),
        (lambda t: t.replace("Ada has a cat", "Ada  has   a\tcat"), {}),
        (lambda t: t.replace("\n", "\r\n"), {}),
    ],
)
def test_an_edit_is_read_as_what_it_means(change: Callable[[str], str], found: object) -> None:
    assert summary(edited(change)) == found


def test_ids_that_an_editor_has_dropped_are_found_again_by_the_text() -> None:
    found = edited(lambda text: text.replace(f" <!-- id:{CAT.id} -->", "").replace(f" <!-- id:{DOG.id} -->", ""))
    assert summary(found) == {}
    assert render(found.documents["memory.md"]) == texts(*ALL)["memory.md"]


def test_of_two_lines_with_one_id_the_first_is_the_memory() -> None:
    found = edited(lambda text: text.replace(line(CAT), line(CAT) + line(CAT).replace("a cat", "a parrot")))
    assert summary(found) == {"new": ["Ada has a parrot."]}


@pytest.mark.parametrize("mark", ["<!-- id:12 -->", f"<!-- id:{uid(99)} -->", "<!-- id: -->"])
def test_an_id_of_nobody_makes_a_new_line(mark: str) -> None:
    assert summary(edited(lambda text: text + f"- Ada sails. {mark}\n")) == {"new": ["Ada sails."]}


def test_a_line_may_go_over_to_the_other_file() -> None:
    files = texts(*ALL)
    now = files | {
        "memory.md": files["memory.md"].replace(line(CAT), ""),
        "learnings.md": files["learnings.md"] + line(CAT),
    }
    found = compare(parsed(files), parsed(now), by_id(*ALL), {})
    assert summary(found) == {"edited": {1: {"category"}}}


def test_both_sides_have_changed_different_things_and_both_count() -> None:
    found = edited(lambda text: text.replace("a cat", "two cats"), changed(CAT, importance=0.9))
    assert summary(found) == {"edited": {1: {"content"}}}


def test_both_sides_have_changed_the_same_and_the_file_wins_aloud() -> None:
    found = edited(lambda text: text.replace("a cat", "two cats"), changed(CAT, content="Ada has three cats."))
    assert summary(found) == {"edited": {1: {"content"}}, "clashes": [(1, "file")]}


def test_both_sides_have_come_to_the_same_and_nothing_is_left_to_do() -> None:
    assert (
        summary(edited(lambda text: text.replace("a cat", "two cats"), changed(CAT, content="Ada has two cats."))) == {}
    )


def test_what_the_database_alone_has_changed_is_no_edit() -> None:
    assert (
        summary(edited(lambda text: text, changed(CAT, content="Ada has two cats."), put_away(DOG, "archived"))) == {}
    )


def test_a_line_is_deleted_whose_memory_has_got_other_words_meanwhile_and_that_stays() -> None:
    found = edited(lambda text: text.replace(line(CAT), ""), changed(CAT, content="Ada has two cats."))
    assert summary(found) == {"clashes": [(1, "database")]}


def test_a_line_is_deleted_whose_memory_was_only_said_again() -> None:
    assert summary(edited(lambda text: text.replace(line(CAT), ""), changed(CAT))) == {"removed": [1]}


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_an_edit_of_what_was_put_away_meanwhile_is_a_statement_of_its_own(status: str) -> None:
    found = edited(lambda text: text.replace("a cat", "two cats"), put_away(CAT, status))
    assert summary(found) == {"new": ["Ada has two cats."], "clashes": [(1, "both")]}


def test_a_deletion_taken_back_restores() -> None:
    files, gone = texts(*ALL), put_away(CAT, "archived")
    then = files | {"memory.md": files["memory.md"].replace(line(CAT), "")}
    known = by_id(*ALL, gone)
    assert summary(compare(parsed(then), parsed(files), known, {})) == {"restored": [1]}
    other = files | {"memory.md": files["memory.md"].replace("a cat", "two cats")}
    assert summary(compare(parsed(then), parsed(other), known, {})) == {"new": ["Ada has two cats."]}


def test_an_old_file_does_not_bring_back_what_was_superseded_but_says_it_anew() -> None:
    files = texts(*ALL)
    then = files | {"memory.md": files["memory.md"].replace(line(CAT), "")}
    found = compare(parsed(then), parsed(files), by_id(*ALL, put_away(CAT, "superseded")), {})
    assert summary(found) == {"new": ["Ada has a cat."]}


def test_without_anything_agreed_on_nothing_is_taken_for_deleted() -> None:
    files = texts(CAT, DOG)
    now = files | {"memory.md": files["memory.md"].replace("a dog", "two dogs")}
    assert summary(compare({}, parsed(now), by_id(*ALL), {})) == {"edited": {2: {"content"}}}


def test_a_line_that_was_not_kept_is_tried_again_only_in_other_words() -> None:
    files = texts(*ALL)
    noted = files["memory.md"] + "- blah <!-- not kept: It says nothing. -->\n"
    then = parsed(files | {"memory.md": noted})
    without = compare(then, parsed(files | {"memory.md": files["memory.md"] + "- blah\n"}), by_id(*ALL), {})
    assert summary(without) == {}
    assert render(without.documents["memory.md"]) == noted
    again = noted.replace("blah", "Ada sails.")
    assert summary(compare(then, parsed(files | {"memory.md": again}), by_id(*ALL), {})) == {"new": ["Ada sails."]}


LINES = st.lists(st.sampled_from([*map(line, ALL), "- new\n", "words\n", "\n", "## Plans\n", "## Mine\n"]))


@given(LINES)
def test_whatever_a_person_does_each_memory_is_found_or_missed_and_the_rest_is_kept(rows: list[str]) -> None:
    files = texts(*ALL)
    head = files["memory.md"].split("## Facts")[0]
    text = head + "".join(rows)
    found = compare(parsed(files), parsed(files | {"memory.md": text}), by_id(*ALL), {})
    there: set[UUID] = {one.id for one in ALL if line(one) in rows}
    assert {one.id for one, _ in found.removed} == {one.id for one in (CAT, DOG, TEA)} - there
    assert render(found.documents["memory.md"]) == text
    kept = arrange(found.documents, by_id(*ALL))["memory.md"]
    assert [row for row in rows if row == "words\n"] == [b.raw for b in kept.blocks if b.raw == "words\n"]


def test_a_memory_of_another_topic_is_not_moved_by_an_edit_of_its_words() -> None:
    work = memory(1, "Ada has a cat.", topic=Topic.WORK)
    files = texts(work)
    now = {"memory.md": files["memory.md"].replace("a cat", "two cats")}
    elsewhere = replace(work, version=2, group=replace(work.group, topic=Topic.HEALTH))
    assert summary(compare(parsed(files), parsed(now), by_id(elsewhere), {})) == {"edited": {1: {"content"}}}
