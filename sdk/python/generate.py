"""Generates the synchronous client from the asynchronous one: `python sdk/python/generate.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent / "imprint_client"

HEAD: Final = "# Generated from _async by sdk/python/generate.py; change it there.\n"

REPLACED: Final = (
    (r"(?m) +# noqa: ASYNC109$", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\basyncio\.Lock\b", "threading.Lock"),
    (r"\bAsyncBaseTransport\b", "BaseTransport"),
    (r"\bAsyncClient\b", "Client"),
    (r"\baclose\b", "close"),
    (r"\bAsync(Imprint|Session|Publisher)\b", r"\1"),
    (r"\b_async\b", "_sync"),
    ("The asynchronous client, from which the synchronous one is generated", "The synchronous client"),
)


def synchronous(source: str) -> str:
    """Return the synchronous twin of a module."""
    for pattern, instead in REPLACED:
        source = re.sub(pattern, instead, source)
    used = [name for name in ("threading", "time") if re.search(rf"\b{name}\.", source)]
    source = re.sub(r"(?m)^import asyncio\n", "", source)
    return HEAD + _with_imports(source, used)


def _with_imports(source: str, names: list[str]) -> str:
    """Insert plain imports where they belong in the sorted block."""
    lines = source.splitlines(keepends=True)
    for name in names:
        plain = [at for at, line in enumerate(lines) if re.match(r"import [a-z]+\n", line)]
        block = [at for at in plain if at - plain[0] < len(plain)]
        at = next((at for at in block if lines[at] > f"import {name}\n"), block[-1] + 1)
        lines.insert(at, f"import {name}\n")
    return "".join(lines)


def generated() -> dict[str, str]:
    """Return every generated module by its name."""
    return {path.name: synchronous(path.read_text()) for path in sorted((PACKAGE / "_async").glob("*.py"))}


if __name__ == "__main__":
    (PACKAGE / "_sync").mkdir(exist_ok=True)
    for name, text in generated().items():
        (PACKAGE / "_sync" / name).write_text(text)
