"""Tags and audience labels of messages, handed on to the statements drawn from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import text

from core.storage.db import Tx
from core.types import Candidate, Message

MOST: Final = 20
"""Tags that a statement takes from its messages; a person may give a memory more."""

TagsByMessage = Mapping[str, Sequence[str]]
"""Tags by the id of their message; messages without tags are missing."""


def of_messages(tx: Tx, session_id: str, ids: Sequence[str]) -> TagsByMessage:
    """Return the tags of these messages of a session."""
    rows = tx.execute(_TAGS, {"session": session_id, "ids": list(ids)}) if ids else ()
    return {row.id: list(dict.fromkeys(row.tags))[:MOST] for row in rows}


def tagged(candidates: Iterable[Candidate], tags: TagsByMessage) -> list[Candidate]:
    """Return statements with their own tags and those of the messages that they cite."""
    return [_tagged(candidate, tags) for candidate in candidates] if tags else list(candidates)


def labelled(candidates: Iterable[Candidate], messages: Iterable[Message]) -> list[Candidate]:
    """Return statements with their own audience labels and those of all messages that they cite."""
    labels = {message.id: message.audience_labels for message in messages if message.audience_labels}
    return [_labelled(candidate, labels) for candidate in candidates] if labels else list(candidates)


def _labelled(candidate: Candidate, labels: TagsByMessage) -> Candidate:
    heard = {label for evidence in candidate.evidence for label in labels.get(evidence.message_id, ())}
    return replace(candidate, audience_labels=tuple(sorted(heard | set(candidate.audience_labels))))


def _tagged(candidate: Candidate, tags: TagsByMessage) -> Candidate:
    heard = [tag for evidence in candidate.evidence for tag in tags.get(evidence.message_id, ())]
    more = [tag for tag in dict.fromkeys(heard) if tag not in candidate.tags]
    return replace(candidate, tags=(*candidate.tags, *more[: max(MOST - len(candidate.tags), 0)]))


_TAGS = text("""
    SELECT id, extras -> 'tags' AS tags FROM messages
    WHERE session_id = :session AND id = ANY(:ids) AND jsonb_exists(extras, 'tags')
""")
