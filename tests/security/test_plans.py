"""A plan that a user sends costs time in proportion to its size, and one that is too large is refused unread."""

from __future__ import annotations

import time

import pytest

from core.errors import Never
from core.plans import checklists, parsing

SECONDS = 0.5
"""Three times what the slowest of these takes on an idle core; in quadratic time it would take minutes."""
TRIES = 5
"""Other processes slow a core down: the fastest of so many counts."""


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param("# a\n" * 52_000, id="headings"),
        pytest.param("- a\n" * 60_000, id="list"),
        pytest.param("\n" * 250_000, id="blank lines"),
        pytest.param("\t" * 250_000, id="tabs"),
        pytest.param("- a\n" + " " * 250_000 + "- b", id="indent"),
        pytest.param([{"title": "a", "steps": ["b"] * 400}] * 70, id="nested steps"),
        pytest.param({"past_steps": ["a"] * 30_000, "steps": ["b"] * 500}, id="past steps"),
    ],
)
def test_a_plan_that_is_too_large_is_refused_at_once(plan: object) -> None:
    seconds = []
    for _ in range(TRIES):
        began = time.thread_time()
        with pytest.raises(Never, match=r"characters|lines|steps"):
            parsing.parse(plan)
        seconds.append(time.thread_time() - began)
    assert min(seconds) < SECONDS


def test_the_refusal_says_how_large_a_plan_may_be() -> None:
    with pytest.raises(Never, match=f"208000 characters; {checklists.PLAN_CHARACTERS} are allowed"):
        parsing.parse("# a\n" * 52_000)
    with pytest.raises(Never, match=f"2001 lines; {checklists.PLAN_LINES} are allowed"):
        parsing.parse("# a\n" * 2_001)


def test_a_plan_of_as_many_steps_as_may_be_is_read() -> None:
    text = "# Move\n" + "".join(f"- [ ] carry box number {n} to the van\n" for n in range(parsing.STEPS))
    tree = parsing.parse(text)
    assert (tree.goal, len(tree.steps), tree.steps[-1].id) == ("Move", 500, "500")
