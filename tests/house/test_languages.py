"""A language is one folder of `core/language`: elsewhere, words and names of languages only become fewer."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.house.sources import sources

LANGUAGES: Final = "core/language/"
HAN: Final = re.compile("[\u4e00-\u9fff]")
LONG: Final = 10
"""Words in one text from which it is a table of words."""

HAN_LINES: Final[dict[str, int]] = {
    "api/console/render.py": 1,
    "api/http/tenant/prompt_examples.py": 3,
    "core/remembering/requests.py": 3,
    "core/forgetting/described.py": 1,
    "core/inference/local_models/pieces.py": 1,
    "core/screening/injection_markup.py": 1,
    "core/screening/secret_patterns.py": 9,
}
"""Lines with Chinese characters, by file; new ones belong to `core/language/zh`."""

WORD_TABLES: Final[dict[str, int]] = {
    "api/http/memories/bulk_jobs.py": 1,
    "core/forgetting/literals.py": 6,
    "core/inference/structured_output.py": 1,
    "core/memory/updates.py": 1,
    "core/screening/names.py": 1,
    "core/screening/secret_patterns.py": 3,
    "core/transfer/formats/gemini.py": 1,
    "core/transfer/formats/messages.py": 1,
    "core/transfer/intake.py": 1,
    "workers/tools.py": 1,
}
"""Sets of English words, by file; new ones belong to `core/language/en`."""

BY_NAME: Final[dict[str, int]] = {
    "core/extraction/speakers.py": 1,
}
"""Imports of one language, by file; rooms ask `core.language.languages` for that of a text."""


def test_chinese_stands_in_its_folder_alone(root: Path) -> None:
    lines = ((path, line) for path, written, _ in _outside(root) for line in written.splitlines())
    counts = Counter(path for path, line in lines if HAN.search(line))
    assert counts == HAN_LINES, "more: move it to core/language/zh; fewer: write the new number here"


def test_tables_of_words_stand_with_their_language(root: Path) -> None:
    counts = Counter(path for path, _, tree in _outside(root) for node in ast.walk(tree) if _is_word_table(node))
    assert counts == WORD_TABLES, "more: move it to core/language/en; fewer: write the new number here"


def test_rooms_know_no_language_by_name(root: Path) -> None:
    names = {path.parent.name for path in (root / LANGUAGES).glob("*/language.py")}
    assert {"en", "zh", "de"} <= names
    named = re.compile(rf"core\.language\.(?:{'|'.join(sorted(names))})\b")
    counts = Counter(
        path
        for path, _, tree in _outside(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and named.match(node.module or "")
    )
    assert counts == BY_NAME, "more: ask core.language.languages; fewer: write the new number here"


def _outside(root: Path) -> Iterator[tuple[str, str, ast.Module]]:
    """Yield the path, the text and the tree of each module outside of `core/language`."""
    return ((str(path), written, tree) for path, written, tree in sources(root) if not str(path).startswith(LANGUAGES))


def _is_word_table(node: ast.AST) -> bool:
    """Return whether a node is a set of the many words of a text."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "frozenset"):
        return False
    return any(_is_cut(argument) for argument in node.args)


def _is_cut(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "split"
        and isinstance(node.func.value, ast.Constant)
        and len(str(node.func.value.value).split()) >= LONG
    )
