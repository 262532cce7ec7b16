from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.context import projects
from core.types import Category, Topic
from tests.core.context.inputs import said


def row(content: str = "", group_id: str | None = "project:shop", **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(content=content, group_id=group_id, **{"category": "fact", "topic": "other", **fields})


def test_memory_of_no_group_and_of_the_project_is_shown_and_of_others_only_what_is_personal() -> None:
    assert projects.is_shown(row(group_id=None), "project:imprint")
    assert projects.is_shown(row(group_id="project:imprint"), "project:imprint")
    assert not projects.is_shown(row(), "project:imprint")
    assert not projects.is_shown(row(topic=Topic.PREFERENCE), "project:imprint")
    assert projects.is_shown(row(topic=Topic.LOCATION), "project:imprint")


@pytest.mark.parametrize(
    ("wish", "reaches"),
    [
        ("Write commit messages in imperative mood.", True),
        ("Answer in French, with examples.", True),
        ("提交信息用祈使句。", True),
        ("Use pnpm in this repo.", False),
        ("Never touch the billing service.", False),
        ("We use tabs in our code base.", False),
        ("在这个项目里用 pnpm。", False),
    ],
)
def test_a_wish_reaches_another_project_unless_it_names_its_own(wish: str, reaches: bool) -> None:
    assert projects.is_shown(row(wish, category=Category.INSTRUCTION), "project:imprint") is reaches


@pytest.mark.parametrize(
    ("earlier", "same"),
    [
        ("Where do I live?", True),
        ("where do i live now?", True),
        ("我住在哪里？", False),
        ("Did you hear that I live in Lisbon?", False),
        ("I live in Porto.", False),
        ("I do live where?", True),
    ],
)
def test_an_earlier_question_repeats_the_question(earlier: str, same: bool) -> None:
    assert projects.repeats(said(1, earlier), "Where do I live?") is same


def test_a_statement_that_answers_with_the_words_of_the_question_is_kept() -> None:
    assert not projects.repeats(said(1, "I live in Lisbon."), "Do I live in Lisbon?")


def test_an_answer_that_repeats_the_words_is_none() -> None:
    assert not projects.repeats(said(1, "Where do I live?", role="assistant"), "Where do I live?")
