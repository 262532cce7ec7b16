"""Revision of an older statement by a newer one that shares no slot with it, by their words. Pure."""

from __future__ import annotations

from typing import Final, Protocol

from core.statements import revision_en, revision_zh
from core.statements.quotation import language_of
from core.statements.succession import Statement


class Reader(Protocol):
    """Interface of the rules of a language, such as `core.statements.revision_en`."""

    def may_revise(self, new: Statement) -> bool:
        """Return whether a statement may end anything; cheap, because it is asked of every statement."""

    def revises(self, new: Statement, old: Statement) -> str | None:
        """Return a short readable reason why `new`, said later, ends `old`; None if it does not."""


READERS: Final[dict[str, Reader]] = {"en": revision_en, "zh": revision_zh}
"""Readers by language; without one, nothing is revised."""

LONGEST: Final = 500
"""Maximum characters; longer texts are documents, of which no single sentence can end."""


def may_revise(new: Statement) -> bool:
    """Return whether a statement may end others, and so must be compared with more than its nearest neighbours."""
    reader = READERS.get(language_of(new.content)) if len(new.content) <= LONGEST else None
    return reader is not None and reader.may_revise(new)


def revises(new: Statement, old: Statement) -> str | None:
    """Return why a statement ends an earlier one; None if both may hold."""
    if max(len(new.content), len(old.content)) > LONGEST:
        return None
    language = language_of(new.content)
    reader = READERS.get(language)
    if reader is None or language_of(old.content) != language:
        return None
    return reader.revises(new, old)
