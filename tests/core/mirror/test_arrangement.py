from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.mirror.arrangement import Memory, arrange
from core.mirror.markdown import Document, parse, render
from core.types import Category, Topic
from tests.core.mirror.samples import by_id, empty, memory, parsed, texts, uid

CAT = memory(1, "Ada has a cat.")
LISBON = memory(2, "Ada lives in Lisbon.", topic=Topic.LOCATION)
PORTO = memory(3, "Ada was born in Porto.", topic=Topic.LOCATION)
TEA = memory(4, "Ada likes tea.", Category.PREFERENCE)

MEMORIES = st.lists(
    st.builds(
        memory,
        st.integers(1, 50),
        st.text("ab <>", min_size=1),
        st.sampled_from(Category),
        st.sampled_from(Topic),
    ),
    unique_by=lambda one: one.id,
)


def again(files: dict[str, str], *memories: Memory) -> dict[str, str]:
    return {file: render(document) for file, document in arrange(parsed(files), by_id(*memories)).items()}


def bare(text: str) -> list[str]:
    """What stands in a file below its title, without empty lines."""
    return [line for line in text.split("-->\n", 1)[1].splitlines() if line]


def line(one: Memory) -> str:
    return f"- {one.displayed.content} <!-- id:{one.id} -->"


@given(MEMORIES, MEMORIES)
def test_every_standing_memory_has_one_line_below_its_headings(before: list[Memory], after: list[Memory]) -> None:
    files = again(texts(*before), *after)
    found = [(one.id, one.group) for document in parsed(files).values() for _, one in document.lines()]
    assert sorted(found, key=str) == sorted([(one.id, one.group) for one in after], key=str)


@given(MEMORIES)
def test_what_stands_as_it_should_is_not_touched(memories: list[Memory]) -> None:
    files = texts(*memories)
    assert again(files, *memories) == files


@given(MEMORIES)
def test_what_came_and_went_leaves_nothing_behind(memories: list[Memory]) -> None:
    ours = [CAT, TEA]
    files = texts(*ours)
    both = {one.id: one for one in [*memories, *ours]}
    back = again(again(files, *both.values()), *ours)
    assert [bare(text) for text in back.values()] == [bare(text) for text in files.values()]


def test_the_order_of_a_person_stands_and_new_lines_come_behind() -> None:
    text = texts(LISBON, PORTO)["memory.md"]
    swapped = text.replace(f"{line(LISBON)}\n{line(PORTO)}", f"{line(PORTO)}\n\nA note.\n{line(LISBON)}\n  below it")
    rome = memory(9, "Ada works in Rome.", topic=Topic.LOCATION)
    found = bare(again({"memory.md": swapped}, LISBON, PORTO, rome)["memory.md"])
    assert found[2:] == [line(PORTO), "A note.", line(LISBON), "  below it", line(rome)]


def test_groups_come_in_the_usual_order_and_a_persons_sections_stay_behind() -> None:
    text = texts(TEA)["memory.md"] + "\n## My notes\n\n- buy milk\n"
    plan = memory(9, "Ada wants to sail.", Category.PLAN)
    found = bare(again({"memory.md": text}, TEA, CAT, LISBON, plan)["memory.md"])
    wanted = ["## Facts", line(CAT), "### Location", line(LISBON), "## Preferences", line(TEA), "## Plans", line(plan)]
    assert found == [*wanted, "## My notes", "- buy milk"]


def test_a_heading_goes_with_its_last_line_but_not_with_text_below_it() -> None:
    text = texts(CAT, LISBON, TEA)["memory.md"]
    assert bare(again({"memory.md": text}, CAT)["memory.md"]) == ["## Facts", line(CAT)]
    noted = text.replace("### Location\n", "### Location\n\nWhere she was.\n")
    found = bare(again({"memory.md": noted}, CAT)["memory.md"])
    assert found == ["## Facts", line(CAT), "### Location", "Where she was."]


def test_an_empty_heading_of_a_person_stays_and_takes_lines_up() -> None:
    text = texts(CAT)["memory.md"] + "\n## Plans\n\n## Notes\n"
    assert bare(again({"memory.md": text}, CAT)["memory.md"])[2:] == ["## Plans", "## Notes"]
    sail = memory(9, "Ada wants to sail.", Category.PLAN)
    assert bare(again({"memory.md": text}, CAT, sail)["memory.md"])[2:] == ["## Plans", line(sail), "## Notes"]


def test_a_line_says_what_its_memory_says_and_stays_where_it_is() -> None:
    text = texts(CAT, memory(2, "Ada has a dog."))["memory.md"]
    two = replace(CAT, displayed=replace(CAT.displayed, content="Ada has two cats.", pinned=True))
    found = bare(again({"memory.md": text}, two, memory(2, "Ada has a dog."))["memory.md"])
    assert found[1] == f"- 📌 Ada has two cats. <!-- id:{CAT.id} -->"


def test_a_line_is_left_as_it_was_written_where_it_says_the_same() -> None:
    text = texts(CAT)["memory.md"].replace("- Ada has a cat.", "*   Ada  has\\ a cat\\.").replace("\\ ", " ")
    assert again({"memory.md": text}, CAT)["memory.md"] == text


def test_a_memory_that_has_changed_its_category_goes_to_its_group_even_in_the_other_file() -> None:
    files = texts(CAT, TEA)
    rule = replace(CAT, group=replace(CAT.group, category=Category.INSTRUCTION))
    found = again(files, rule, TEA)
    assert bare(found["memory.md"]) == ["## Preferences", line(TEA)]
    assert bare(found["learnings.md"]) == ["## Instructions", line(CAT)]


def test_a_line_under_a_heading_of_ones_own_stays_there() -> None:
    text = texts(TEA)["memory.md"] + f"\n## About me\n\n{line(CAT)}\n"
    assert again({"memory.md": text}, CAT, TEA)["memory.md"] == text


def test_a_group_that_a_person_keeps_in_the_other_file_grows_there() -> None:
    text = texts(CAT)["memory.md"] + "\n## Instructions\n"
    rule = memory(9, "Answer briefly.", Category.INSTRUCTION)
    files = again({"memory.md": text, "learnings.md": render(empty()["learnings.md"])}, CAT, rule)
    assert bare(files["memory.md"])[2:] == ["## Instructions", line(rule)]


def test_of_several_lines_of_a_memory_the_one_in_its_group_stays() -> None:
    text = texts(CAT, TEA)["memory.md"] + f"\n## About me\n\n{line(CAT)}\n{line(CAT)}\n"
    found = bare(again({"memory.md": text}, CAT, TEA)["memory.md"])
    assert found == ["## Facts", line(CAT), "## Preferences", line(TEA), "## About me"]


def test_lines_end_as_in_the_file_even_the_last() -> None:
    text = texts(CAT)["memory.md"].replace("\n", "\r\n").rstrip()
    found = again({"memory.md": text}, CAT, TEA)["memory.md"]
    assert found == f"{text}\r\n\r\n## Preferences\r\n\r\n{line(TEA)}\r\n"


def test_a_file_of_ten_thousand_memories_is_arranged_in_little_time() -> None:
    many = [
        memory(n, f"Ada has cat number {n}.", list(Category)[n % 10], list(Topic)[n % 13]) for n in range(1, 10_001)
    ]
    document: dict[str, Document] = arrange(empty(), by_id(*many))
    assert sum(1 for one in document.values() for _ in one.lines()) == 10_000
    assert parse(render(document["memory.md"])) == document["memory.md"]


def test_ids_of_nobody_lose_their_lines() -> None:
    text = texts(CAT, TEA)["memory.md"]
    assert str(uid(1)) not in again({"memory.md": text}, TEA)["memory.md"]
