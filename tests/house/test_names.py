"""Names say what a thing is: of words that say nothing, the count only falls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("core", "rules", "workers", "api", "imprint", "bench")
EMPTY: Final = frozenset("one found asked place said words word known wanted shown told".split())
MOST: Final = {"parameter": 93, "field": 36, "local": 202}
"""Count of each kind. `word` and `words` are right where they are tokens of a text, `known` where it is a memory."""


def names() -> Iterator[tuple[str, str, Path]]:
    """Yield the kind, the name and the file of each parameter, field of a class, and local variable of a function."""
    for file in (file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                yield from (("parameter", parameter.arg, file) for parameter in parameters)
                stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                yield from (("local", name, file) for name in stored)
            elif isinstance(node, ast.ClassDef):
                fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
                yield from (("field", field.id, file) for field in fields if isinstance(field, ast.Name))


def test_names_that_say_nothing_only_become_fewer() -> None:
    empty = [(kind, name, file.relative_to(ROOT)) for kind, name, file in names() if name in EMPTY]
    counts = Counter(kind for kind, _, _ in empty)
    files = Counter((kind, str(file)) for kind, _, file in empty)
    assert counts <= Counter(MOST), f"more than {MOST}: name what it is. {files.most_common(8)}"
