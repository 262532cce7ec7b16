"""Whether a newer statement ends an older one with which it shares no slot, by what each says. Pure."""

from __future__ import annotations

from typing import Final, Protocol

from core.statements import revision_en, revision_zh
from core.statements.quotation import language_of
from core.statements.succession import Statement


class Reader(Protocol):
    """What a language has to tell: `core.statements.revision_en` is one."""

    def may_revise(self, new: Statement) -> bool:
        """Whether a statement may end anything at all; cheap, for it is asked of every one."""

    def revises(self, new: Statement, old: Statement) -> str | None:
        """Why `new`, said later, ends `old`, in a few words that a person can read; None: it does not."""


READERS: Final[dict[str, Reader]] = {"en": revision_en, "zh": revision_zh}
"""By language; a language that stands not here revises nothing."""

LONGEST: Final = 500
"""Characters. What is longer is a document, of which no one sentence can be said to be over."""


def may_revise(new: Statement) -> bool:
    """Whether a statement may end others, so that it must be compared with more than those nearest to it."""
    reader = READERS.get(language_of(new.content)) if len(new.content) <= LONGEST else None
    return reader is not None and reader.may_revise(new)


def revises(new: Statement, old: Statement) -> str | None:
    """Why a statement ends one that was said before it; None: both may hold."""
    if max(len(new.content), len(old.content)) > LONGEST:
        return None
    language = language_of(new.content)
    reader = READERS.get(language)
    if reader is None or language_of(old.content) != language:
        return None
    return reader.revises(new, old)
