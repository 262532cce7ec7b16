"""Revision of an older statement by a newer one that shares no slot with it, by their words. Pure."""

from __future__ import annotations

from typing import Final

from core.statements import revision_en
from core.statements.quotation import language_of
from core.statements.succession import Statement

LONGEST: Final = 500
"""Maximum characters; longer texts are documents, of which no single sentence can end."""


def may_revise(new: Statement) -> bool:
    """Return whether a statement may end others, and so must be compared with more than its nearest neighbours."""
    return len(new.content) <= LONGEST and language_of(new.content) == "en" and revision_en.may_revise(new)


def revises(new: Statement, old: Statement) -> str | None:
    """Return a short readable reason why a statement ends an earlier one; None if both may hold.

    There are rules for English alone.
    """
    if max(len(new.content), len(old.content)) > LONGEST:
        return None
    english = language_of(new.content) == language_of(old.content) == "en"
    return revision_en.revises(new, old) if english else None
