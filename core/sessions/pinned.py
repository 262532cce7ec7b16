"""Pinned texts of a session: the agent's system prompt and the task. Contexts show them whole and first.

They are in the session state under `pinned`. A session without a system prompt there has its first message as one, if
that message has the role `system`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.storage.db import Tx

KEY: Final = "pinned"
"""Key of the state."""

NAMES: Final = ("system_prompt", "task")
"""Names of the texts below it; `parsing.PinnedTexts` checks them."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """Pinned texts; `message_id`: the message that is the system prompt, if it is one."""

    system_prompt: str = ""
    task: str = ""
    message_id: str | None = None


NOTHING: Final = Pinned()


def read(tx: Tx, session_id: str, reader: Mapping[str, object], *, heard: bool) -> Pinned:
    """Return the pinned texts of a session, without a message that is hidden.

    `reader`: `user` and `group`, who must own a session of which they have not `heard` anything: it is empty then.
    """
    row = tx.execute(
        _READ, {"user": None, "group": None, **reader, "session": session_id, "heard": heard}
    ).one_or_none()
    if row is None:
        return NOTHING
    texts = row.pinned if isinstance(row.pinned, dict) else {}
    prompt, task = (_text(texts, name) for name in NAMES)
    first = (row.first_content or "").strip()
    if not first or (prompt and prompt != first):
        return Pinned(prompt, task)
    return Pinned(first, task, row.first_id)


def _text(texts: Mapping[str, Any], name: str) -> str:
    """Return one text; a state stored before these keys had a meaning may hold anything."""
    value = texts.get(name)
    return value.strip() if isinstance(value, str) else ""


_READ = text(f"""
    SELECT s.state -> '{KEY}' AS pinned, m.id AS first_id, m.content AS first_content
    FROM sessions s LEFT JOIN messages m ON m.session_id = s.id AND m.position = 1 AND m.role = 'system'
        AND NOT EXISTS (SELECT FROM hidden_messages h WHERE h.session_id = s.id AND h.message_id = m.id)
    WHERE s.id = :session
        AND (:heard OR (s.message_count = 0 AND (s.user_id = :user OR s.group_id = cast(:group AS text))))
""")
