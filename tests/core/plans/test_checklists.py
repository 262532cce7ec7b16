from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.plans import checklists, parsing


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Step 2 is done.", [("2", "done")]),
        ("I've finished step two, on to step 3.", [("2", "done"), ("3", "in_progress")]),
        ("The first step is completed.", [("1", "done")]),
        ("step 2.1 failed", [("2.1", "failed")]),
        ("Let's skip step 4.", [("4", "skipped")]),
        ("第二步完成了。", [("2", "done")]),
        ("完成了第三步，现在开始第四步。", [("3", "done"), ("4", "in_progress")]),
        ("第3步失败了", [("3", "failed")]),
        ("Step 2 is not done.", []),
        ("Step 2 isn't done yet.", []),
        ("Is step 2 done?", []),
        ("Once step 2 is done, tell me.", []),
        ("If step 2 is done we can go.", []),
        ("He said step 2 is done.", []),
        ("Step 2 should be done by now.", []),
        ("第二步还没完成。", []),
        ("第二步完成了吗？", []),
        ("等第二步完成了再说。", []),
        ("One step at a time, it is done.", []),
        ("Steps 2 and 3 are next.", []),
        ("```\nStep 2 is done.\n```", []),
    ],
)
def test_what_messages_say_of_steps(content: str, found: list[tuple[str, str]]) -> None:
    assert checklists.mentions(content) == found


@pytest.mark.parametrize(
    ("content", "role", "asked", "steps"),
    [
        ("Here is my plan:\n1. Book\n2. Pack\n\nShall I begin?", "assistant", None, ["Book", "Pack"]),
        ("Sure!\n\n1. Book\n2. Pack", "assistant", "Can you make a plan for the trip?", ["Book", "Pack"]),
        ("好的，计划如下：\n1. 订票\n2. 订酒店", "assistant", None, ["订票", "订酒店"]),
        ("- [x] Book\n- [ ] Pack", "user", None, ["Book", "Pack"]),
        ("To-do:\n- Book\n- Pack", "user", None, ["Book", "Pack"]),
        ("Plan: 1) Book 2) Pack", "user", None, ["Book", "Pack"]),
        ("新计划：先订票，再订酒店。", "user", None, ["订票", "订酒店"]),
        ("Top places:\n1. Sol\n2. Luna", "assistant", "Where can I eat?", None),
        ("1. Book\n2. Pack", "user", "Make a plan", None),
        ("I plan to go:\nsoon", "user", None, None),
        ("Plan: let us see.", "user", None, None),
        ("- [x] Only one", "user", None, None),
        ("Plan:\n1. Book\n2. Pack", "tool", None, None),
        ("第二步完成了。\n第三步开始了。", "assistant", "给我一个计划", None),
    ],
)
def test_which_messages_hold_a_plan(content: str, role: str, asked: str | None, steps: list[str] | None) -> None:
    found = checklists.of_message(content, role, asked)
    assert (found and [step.title for step in parsing.parse(found).walk()]) == steps


@given(st.text(max_size=500))
def test_no_message_is_too_odd_to_be_read(content: str) -> None:
    found = checklists.of_message(content, "assistant", "A plan, please")
    if found is not None:
        parsing.parse(found)
    checklists.mentions(content)
