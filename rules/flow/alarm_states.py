"""Alarms of a tenant as they stand: which are raised, and what each rule has counted last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import text

from core.storage.db import Tx


@dataclass(frozen=True, slots=True)
class AlarmState:
    """An alarm that is raised, or the last look of its rule."""

    rule: str
    for_each: Literal["tenant", "user", "session", "source"]
    key: Annotated[str | None, Field(description="The user, session or source; null: the tenant, or the last look")]
    raised_at: Annotated[datetime | None, Field(description="Since when it is raised; null: it is not")]
    looked_at: Annotated[datetime, Field(description="Due time of the counts: of a raised key its first")]
    counts: Annotated[dict[str, float | None], Field(description="Numbers by name; null: unknown")]
    partial: Annotated[bool, Field(description="Whether there were too many rows to count, so that nothing changed")]
    version: Annotated[int, Field(description="Version of the rule that looked")]

    @property
    def cursor(self) -> str:
        """Return the cursor behind it; names of rules have no slash."""
        return f"{self.rule}/{self.key or ''}"


def of_tenant(tx: Tx, *, raised: bool, rule: str | None, after: str | None, limit: int) -> Sequence[AlarmState]:
    """Return one page, by rule and key; `raised`: only those that are. `after`: the cursor of the last before."""
    name, _, key = (after or "").partition("/")
    values = {"raised": raised, "rule": rule, "after_rule": name, "after_key": key, "has_after": after is not None}
    return [AlarmState(*row) for row in tx.execute(_PAGE, values | {"limit": limit})]


_PAGE = text("""
    SELECT rule, for_each, nullif(key, ''), raised_at, looked_at, counts, partial, version FROM alarms
    WHERE (NOT :raised OR raised_at IS NOT NULL) AND (cast(:rule AS text) IS NULL OR rule = :rule)
      AND (NOT :has_after OR (rule, key) > (cast(:after_rule AS text), cast(:after_key AS text)))
    ORDER BY rule, alarms.key LIMIT :limit
""")
"""In the order of AlarmState's fields."""
