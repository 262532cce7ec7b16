"""Talk about common work: what of it is kept, and as which kind of statement."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extraction import rule_extractor
from core.types import Candidate, Category, Message
from tests.misread import ERRS

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


def _read(text: str) -> list[Candidate]:
    return rule_extractor.extract([Message("s1", "m1", 1, "e1", "Ada", "user", text, NOON)])


@pytest.mark.parametrize(
    ("text", "word", "category"),
    [
        ("我们用 PostgreSQL 16", "PostgreSQL 16", Category.PROJECT),
        ("代码注释用中文", "中文", Category.PREFERENCE),
        ("不要用 class 组件", "class", Category.INSTRUCTION),
        ("API 前缀是 /api/v2", "/api/v2", Category.PROJECT),
        ("用 monorepo 结构", "monorepo", Category.PROJECT),
        ("这个项目的部署流程是先跑测试，再打镜像，最后滚动更新", "打镜像", Category.SKILL),
        ("禁止使用 any 类型", "any", Category.INSTRUCTION),
        ("这个项目用 FastAPI", "FastAPI", Category.PROJECT),
        ("We use PostgreSQL 16.", "PostgreSQL 16", Category.PROJECT),
        ("Write code comments in Chinese.", "Chinese", Category.INSTRUCTION),
        ("Don't use class components.", "class components", Category.INSTRUCTION),
        ("The API prefix is /api/v2.", "/api/v2", Category.PROJECT),
        ("Use a monorepo structure.", "monorepo", Category.INSTRUCTION),
        ("This project's deployment process is: test, build, then roll out.", "roll out", Category.SKILL),
        ("Never use the `any` type.", "any", Category.INSTRUCTION),
        ("This project uses FastAPI.", "FastAPI", Category.PROJECT),
    ],
)
def test_the_examples_of_the_brief_are_kept(text: str, word: str, category: Category) -> None:
    (candidate,) = _read(text)
    assert word in candidate.content
    assert candidate.category is category
    assert candidate.evidence[0].quote in text


@pytest.mark.parametrize(
    "text",
    [
        "Should we use FastAPI for this project?",
        "Maybe this project uses too many services.",
        "This project used to run on Heroku.",
        "Run the tests again.",
        "我们要不要用 FastAPI？",
        "这个项目可能要换成 Go，再看看",
        pytest.param("我们先临时用 SQLite", marks=ERRS),
        "再跑一遍测试",
    ],
)
def test_what_is_considered_or_of_the_moment_is_not(text: str) -> None:
    assert _read(text) == []


def test_other_talk_keeps_its_kinds() -> None:
    assert [one.category for one in _read("My sister owns a bakery in Porto.")] == [Category.FACT]
    assert [one.category for one in _read("I love hiking in the hills.")] == [Category.PREFERENCE]
