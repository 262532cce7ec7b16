"""Whether an English statement ends an older one."""

from __future__ import annotations

from core.succession import Statement


def may_revise(new: Statement) -> bool:
    """Whether a statement may end anything at all."""
    return new.content == ""


def revises(new: Statement, old: Statement) -> str | None:
    """Why `new`, said later, ends `old`; None: it does not."""
    return "said again" if may_revise(new) and may_revise(old) else None
