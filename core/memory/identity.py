"""Known, statement_key, folded: when two memories are the same statement. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple
from uuid import UUID

from core.covering import number
from core.memoize import digest, memoized, memoized_in_scope
from core.statements.comparison import Outline, outline
from core.statements.succession import Gathered, gathered_list, normal_value, plain
from core.types import Candidate, Category

KEPT: Final = 16_384
"""Statements of which the keys are cached: 5 MB."""


class IdentityKeys(NamedTuple):
    """Digests that two contents share if they are the same, letter by letter or in another spelling."""

    exact: tuple[int, bytes]
    spelling: tuple[int, bytes]


@dataclass(frozen=True)
class KnownMemory:
    """A memory compared with a candidate; `similarity` is their cosine, or None if either has no vector."""

    id: UUID
    version: int
    content: str
    subject: str
    attribute: str | None
    value: str | None
    occurred_at: datetime
    similarity: float | None = None
    category: Category | None = None
    said_at: datetime | None = None
    valid_from: datetime | None = None
    gathered: Gathered | None = None

    @property
    def told_at(self) -> datetime:
        """Return when it was said last; when it happened, if that is not known."""
        return self.said_at or self.occurred_at

    @property
    def since(self) -> datetime:
        """Return since when it has been true, as far as is known."""
        return self.valid_from or self.occurred_at

    @cached_property
    def keys(self) -> IdentityKeys:
        return _keys_of(self.content)

    @cached_property
    def outline(self) -> Outline:
        return _outline_of(self.content)


class Revised(NamedTuple):
    """A known memory that a new statement ends, with a reason for people, and how certain that is (0 to 1).

    `rest`: what remains of it, in words; empty: nothing.
    """

    known: KnownMemory
    reason: str
    certainty: float = 1.0
    rest: str = ""


@memoized_in_scope
def statement_key(subject: str, content: str) -> str:
    """Return a key that ignores case, width, spaces and punctuation, in any script."""
    folded = unicodedata.normalize("NFKC", f"{subject}\n{content}").casefold()
    # Punctuation inside a number counts: 1.5 is not 15, and -3 is not 3.
    words = re.findall(r"[+-]?\d+(?:[.,:/-]\d+)*|[^\W\d_]+|[^\w\s]", folded)
    kept = [w for w in words if w[0].isalnum() or w[0] in "+-" or not unicodedata.category(w[0]).startswith("P")]
    return hashlib.sha256(" ".join(kept).encode()).hexdigest()[:32]


@memoized(KEPT)
def content_keys(content: str) -> IdentityKeys:
    """Return the keys of a content; of one subject, two contents are the same if their `statement_key`s are."""
    exact, normal = _key(statement_key("", content)), normal_value(content)
    # Of ASCII nothing but the words in British spelling has changed, and letters and spaces that no key tells apart.
    same = content.isascii() and normal == plain(content)
    return IdentityKeys(exact, exact if same else _key(statement_key("", normal)))


def _key(statement: str) -> tuple[int, bytes]:
    """Return two digests: one that is stored, and one of this process, which rules out that others have it."""
    return number(statement), digest(statement)


def slot_of(candidate: Candidate) -> str | None:
    """Return the slot that a candidate fills or vacates ("no longer works at …")."""
    if candidate.attribute is not None:
        return candidate.attribute
    listed = gathered_list(candidate.structured)
    return listed.attribute if listed and listed.negated else None


_keys_of = memoized_in_scope(content_keys)

_outline_of = memoized_in_scope(outline)
"""Within a unit of work by the text itself, whose digest takes longer than the rest."""
