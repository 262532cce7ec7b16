"""Mirror files and memories for the tests of the mirror."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st

from core.mirror import arrangement
from core.mirror.arrangement import Memory
from core.mirror.markdown import LEARNINGS, MEMORY, Document, FilePlace, ShownMemory, parse, render
from core.types import Category, Topic

NAMES = {"format": "imprint-mirror/1", "tenant": "acme", "user": "ada", "memories": "0"}
NAMES |= {"generated": "2026-11-21T12:00:00Z"}

FRONT = '---\nformat: imprint-mirror/1\ntenant: "acme"\nuser: "ada"\nfile: memory.md\nmemories: 0\n---\n'


def uid(n: int) -> UUID:
    return UUID(int=n)


def memory(
    n: int, content: str, category: Category = Category.FACT, topic: Topic = Topic.OTHER, **fields: object
) -> Memory:
    """A memory that stands, at its first version unless told otherwise."""
    shown = {name: fields.pop(name) for name in ("importance", "tags", "pinned", "disputed") if name in fields}
    said = ShownMemory(content, **shown)  # type: ignore[arg-type]
    return Memory(uid(n), **{"version": 1, **fields}, displayed=said, group=FilePlace(category, topic))  # type: ignore[arg-type]


def by_id(*memories: Memory) -> dict[UUID, Memory]:
    return {one.id: one for one in memories}


def empty() -> dict[str, Document]:
    """Both files, with nothing in them."""
    return {file: arrangement.fresh(file, NAMES | {"file": file}) for file in (MEMORY, LEARNINGS)}


def texts(*memories: Memory) -> dict[str, str]:
    """Both files as they are written for these memories for the first time."""
    return {file: render(document) for file, document in arrangement.arrange(empty(), by_id(*memories)).items()}


def parsed(files: dict[str, str]) -> dict[str, Document]:
    return {file: parse(text) for file, text in files.items()}


ANY = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)


NASTY = st.lists(
    st.sampled_from(
        [
            *("\\", "<!--", "-->", "<br>", "&#10;", "{", "}", "\n", "\r\n", "\t", " ", "\ufeff", "📌", "- ", "#", "a"),
            *("外婆", "*", "{pinned}", "tags=a", "\u2028", "[ ] ", "1. ", "---", "`"),
            "<!-- id:00000000-0000-0000-0000-000000000001 -->",
        ]
    ),
    min_size=1,
).map("".join)
