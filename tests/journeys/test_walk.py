"""The path of `session.ended`: the page names what production calls, in that order, and little lies between."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from core.config import Settings
from core.storage.db import Database
from tests.doors import opened
from tests.samples import accept_all, ended, said
from tests.works import Works

STEP: Final = re.compile(r"^\| \d+ \| \[`(\w+)`\]\(\.\./([\w/]+\.py)\) \|", re.MULTILINE)

MOST: Final = 25
"""Functions that one passes on the way to those of the page. Lower it with each that goes."""

Function = tuple[str, str]
"""The file of a function, and its name."""


def steps(root: Path) -> list[Function]:
    """The functions of the table, in its order."""
    page = (root / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.partition("## The path of `session.ended`")[2].partition("\n## ")[0]
    return [(path, name) for name, path in STEP.findall(section)]


def own(frame: FrameType | None, root: Path) -> Iterator[Function]:
    """The functions of the service on the stack, the outermost first."""
    stack = []
    while frame is not None:
        stack.append(frame.f_code)
        frame = frame.f_back
    for code in reversed(stack):
        path = Path(code.co_filename)
        beside = path.is_relative_to(root / "tests") or path.is_relative_to(root / ".venv")
        if path.is_relative_to(root) and not beside:
            yield str(path.relative_to(root)), code.co_name


@contextmanager
def traced(root: Path, landmarks: Sequence[Function]) -> Iterator[dict[Function, list[Function]]]:
    """The stack of each of these functions when it was first called, from here on, in this order."""
    stacks: dict[Function, list[Function]] = {}
    names = {name for _, name in landmarks}

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_name in names:
            stack = list(own(frame, root))
            if stack and stack[-1] in landmarks:
                stacks.setdefault(stack[-1], stack)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield stacks
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def test_the_page_names_what_production_calls(settings: Settings, works: Works, app: Database, root: Path) -> None:
    facts = "I live in Rome.", "My sister is called Mia.", "I play the cello."
    accept_all(app, [said(text) for text in facts])
    named = steps(root)
    assert len(named) >= 10
    with traced(root, named) as stacks, opened(settings) as door:
        assert door.post("/v1/events", ended()).is_success
        works.settle()
    assert list(stacks) == named
    passed = dict.fromkeys(function for stack in stacks.values() for function in stack)
    assert len(passed) <= MOST, "\n".join(map(str, passed))
