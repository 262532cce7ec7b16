"""Rolling session summaries.

`session` reads the messages that no summary covers and summarises them, `PendingSummary.write` stores the result
if nothing has changed since. The latest summary includes the earlier ones. Key messages
(`core.summaries.key_messages`) are kept in it word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import text

from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer
from core.language.terms import token_estimate
from core.screening import output
from core.sessions import hidden_messages, sessions
from core.sessions.sessions import Session
from core.storage.db import Database, Tx, message_places, recordset
from core.summaries import extractive, open_questions
from core.summaries import key_messages as summaries_key_messages
from core.summaries.key_messages import KeyMessage
from core.types import Json, Message

SUMMARIZED: Final = "session.summarized"

READ: Final = 500
"""Messages read at once; the rest of a longer backlog follows in further steps."""

STEPS: Final = 20
"""Steps that a summary on request takes at most: 10,000 messages."""

SHOWN: Final = 60_000
"""Characters of the transcript shown to a model: each message is cut so that all fit."""

KEPT: Final = 5
"""Stored summaries per session: the last one covers everything, earlier ones are for the case that it is withdrawn."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of a session up to a position; `prompt`: of the model that wrote it, None: by rules.

    `content`: the narrative without the `key_messages`; `token_count`: of both, as `text` renders them.
    """

    session_id: str
    to_position: int
    content: str
    key_messages: Sequence[KeyMessage]
    token_count: int
    prompt: str | None
    at: datetime

    @property
    def text(self) -> str:
        """The whole summary as shown to an agent."""
        return extractive.render(self.content, self.key_messages)


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """Number of messages or tokens without a summary from which a session is summarised."""

    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """Input of a summary: the earlier one, the messages to add, and the key messages.

    `room`: tokens available for its narrative.
    """

    earlier: str
    messages: Sequence[Message]
    keys: Sequence[KeyMessage]
    room: int


@dataclass(frozen=True, slots=True)
class WrittenNarrative:
    """A narrative, its prompt, and, if a model's words were refused, the reason."""

    content: str
    prompt: str | None = None
    refused: str | None = None


Writer = Callable[[SummaryInput], WrittenNarrative]


@dataclass(frozen=True, slots=True)
class PendingSummary:
    """A finished summary, written only if no other was written in the meantime and everything read still exists."""

    tenant_id: str
    session: Session
    after: int
    to_position: int
    read: Sequence[int]
    written: WrittenNarrative
    keys: Sequence[KeyMessage]
    more: bool

    @property
    def tokens(self) -> int:
        return token_estimate(extractive.render(self.written.content, self.keys))

    def write(self, tx: Tx, author: Author) -> Json:
        """Write it and publish `session.summarized`. Conflict: another was written, or a message hidden or erased."""
        _lock(tx, self.tenant_id, [self.session.id])
        last = tx.execute(_LAST, {"session": self.session.id}).scalar_one()
        span = {"session": self.session.id, "after": self.after, "upto": self.to_position}
        if last != self.after or list(tx.execute(_VISIBLE, span).scalars()) != list(self.read):
            raise Conflict(
                "Another worker has summarized this session in the meantime, or one of its messages was erased."
            )
        tx.execute(_INSERT, self._row())
        tx.execute(_PRUNE, {"session": self.session.id, "kept": KEPT})
        fields = {
            "session_id": self.session.id,
            "user_id": self.session.user_id,
            "group_id": self.session.group_id,
            "to_position": self.to_position,
            "messages": self.to_position - self.after,
            "tokens": self.tokens,
        }
        payload = {name: value for name, value in fields.items() if value is not None}
        publishing.publish(tx, self.tenant_id, author, [Emission(SUMMARIZED, payload, f"session:{self.session.id}")])
        by = {"prompt": self.written.prompt, "refused": self.written.refused}
        return payload | {"keys": len(self.keys)} | {name: value for name, value in by.items() if value is not None}

    def _row(self) -> Json:
        return {
            "tenant": self.tenant_id,
            "session": self.session.id,
            "to_position": self.to_position,
            "content": self.written.content,
            "key_messages": recordset([key.as_json() for key in self.keys]),
            "token_count": self.tokens,
            "prompt": self.written.prompt,
        }


class SummaryAnswer(ModelAnswer):
    """A summary as a model writes it down."""

    summary: Annotated[str, Field(min_length=1, max_length=extractive.TOKENS * 5)]


PROMPT: Final = ModelPrompt("summary.v2", SummaryAnswer)


def by_rules(part: SummaryInput) -> WrittenNarrative:
    """Summarise by rules: the sentences that say most."""
    return WrittenNarrative(extractive.summarize(part.earlier, part.messages, part.keys, part.room))


def by_model(client: ChatClient, on_call: OnCall) -> Writer:
    """Summarize with a model; by rules if it fails or adds anything."""

    def write(part: SummaryInput) -> WrittenNarrative:
        sources = [
            part.earlier,
            extractive.render("", part.keys),
            extractive.transcript(part.messages, max(80, SHOWN // max(1, len(part.messages)))),
        ]

        def is_grounded(answer: SummaryAnswer) -> bool:
            return extractive.is_grounded(answer.summary, sources, part.room)

        answer = ask.ask(client, on_call, PROMPT, _question(sources, part.room), is_grounded)
        if isinstance(answer, ModelRefused):
            return WrittenNarrative(by_rules(part).content, refused=answer.reason)
        return WrittenNarrative(answer.summary.strip(), PROMPT.name)

    return write


def session(
    db: Database, tenant_id: str, session_id: str, limits: SummaryLimits | None, write: Writer = by_rules
) -> PendingSummary | None:
    """Return the summary that a session is due for; None: it is not due. NotFound: there is no such session.

    Without `limits` it is due with its first message, and all messages read are summarised. No transaction is open
    while a model answers.
    """
    with db.tenant(tenant_id) as tx:
        current = sessions.get(tx, session_id)
        last = latest(tx, session_id)
        after = last.to_position if last else 0
        read = sessions.transcript(tx, session_id, after=after, limit=max(READ, limits.messages) if limits else READ)
        hidden_ids = hidden_messages.hidden_ids(tx, session_id)
        before = tx.execute(_TOKENS, {"session": session_id, "upto": after}).scalar_one_or_none() or 0
    half = first_half(read, limits) if limits else read
    if not half:
        return None
    upto = half[-1].position
    more = (
        bool(first_half(read[len(half) :], limits)) or upto + READ < current.message_count
        if limits
        else upto < current.message_count
    )
    # A summary is for everybody in the session: it tells nothing that has audience labels.
    messages = output.messages(m for m in half if m.content and m.id not in hidden_ids and not m.audience_labels)
    if limits is None and not messages and not more:
        return None
    rest = (m for m in read[len(half) :] if m.content and m.id not in hidden_ids and not m.audience_labels)
    later = output.messages(rest)
    key_messages = extractive.fit_key_messages(key_messages_after(last.key_messages if last else [], messages, later))
    covered = before + sum(token_estimate(m.content) for m in half)
    part = SummaryInput(last.content if last else "", messages, key_messages, extractive.room(key_messages, covered))
    return PendingSummary(
        tenant_id, current, after, upto, [m.position for m in messages], write(part), key_messages, more
    )


def key_messages_after(
    earlier: Sequence[KeyMessage], messages: Sequence[Message], later: Sequence[Message] = ()
) -> list[KeyMessage]:
    """Return the key messages after `messages`, in order; a question that was answered there or `later` is none."""
    open_now = open_questions.still_open(earlier, messages, later)
    settled = [key for key in earlier if key.kind != open_questions.KIND]
    fresh = [key for message in messages for key in summaries_key_messages.key_messages_of(message)]
    return sorted([*summaries_key_messages.merge(settled, fresh), *open_now], key=lambda key: key.position)


def now(db: Database, tenant_id: str, session_id: str, author: Author) -> Summary | None:
    """Summarise by rules, however short the session is; return its summary, None if nothing was said there.

    Of a longer backlog the first `STEPS` steps are taken. Conflict: others keep writing or erasing. NotFound: there is
    no such session.
    """
    for _ in range(STEPS):
        due = session(db, tenant_id, session_id, None)
        if due is None:
            break
        with db.tenant(tenant_id) as tx:
            due.write(tx, author)
    with db.tenant(tenant_id) as tx:
        return latest(tx, session_id)


def latest(tx: Tx, session_id: str) -> Summary | None:
    """Return the latest summary of a session, if there is one."""
    row = tx.execute(_LATEST, {"session": session_id}).one_or_none()
    return _summary(row) if row else None


def forget_messages(tx: Tx, tenant_id: str, message_keys: Sequence[tuple[str, str]]) -> int:
    """Delete the summaries of these messages (session, message), so that they are rewritten; return how many.

    Call it in the transaction that hides or restores them: a concurrent summary is then refused.
    """
    if not message_keys:
        return 0
    _lock(tx, tenant_id, [session_id for session_id, _ in message_keys])
    return tx.execute(_FORGET, message_places(message_keys)).rowcount


def first_half(read: Sequence[Message], limits: SummaryLimits) -> Sequence[Message]:
    """Return the first half of what makes the session due; none where it is not due, and never the last message."""
    sizes = [token_estimate(m.content) for m in read]
    due = (len(read) >= limits.messages, sum(sizes) >= limits.tokens)
    if len(read) < 2 or not any(due):  # noqa: PLR2004 - a half of one message is none
        return ()
    by_count = len(read) // 2 if due[0] else 1
    total, by_tokens = 0, 0
    while due[1] and (total := total + sizes[by_tokens]) * 2 <= sum(sizes):
        by_tokens += 1
    return read[: min(max(by_count, by_tokens), len(read) - 1)]


def _question(sources: Sequence[str], room: int) -> str:
    """Render the question to a model. A token is one Chinese character, or four Latin letters."""
    titles = ("Earlier summary", "Key messages, kept beside it", "Transcript")
    parts = [f"{title}:\n{text or '(none)'}" for title, text in zip(titles, sources, strict=True)]
    chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in sources[-1]) * 3 > len(sources[-1])
    return "\n\n".join([*parts, f"Characters at the most: {room if chinese else room * 3}."])


def _lock(tx: Tx, tenant_id: str, session_ids: Sequence[str]) -> None:
    """Lock the summaries of these sessions until the transaction ends; in one order, against deadlock."""
    for session_id in sorted(set(session_ids)):
        tx.execute(_LOCK, {"name": f"summary/{tenant_id}/{session_id}"})


def _summary(row: Any) -> Summary:
    key_messages = [KeyMessage(**key) for key in row.key_messages]
    return Summary(row.session_id, row.to_position, row.content, key_messages, row.token_count, row.prompt, row.at)


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
"""Not the session's row: who writes memories holds that one while waiting for a user's lock, and who erases memories
holds the user's lock while it deletes summaries."""

_LATEST = text("SELECT * FROM summaries WHERE session_id = :session ORDER BY to_position DESC LIMIT 1")

_LAST = text("SELECT coalesce(max(to_position), 0) FROM summaries WHERE session_id = :session")

_TOKENS = text("SELECT token_count FROM messages WHERE session_id = :session AND position = :upto")
"""Token count of the session up to and including each message."""

_VISIBLE = text("""
    SELECT m.position FROM messages m
    WHERE m.session_id = :session AND m.position > :after AND m.position <= :upto AND m.content <> ''
      AND m.audience_labels = '{}'
      AND NOT EXISTS (SELECT FROM hidden_messages h WHERE h.session_id = m.session_id AND h.message_id = m.id)
    ORDER BY m.position
""")
"""Visible messages of a part of a session: neither blank nor hidden nor labelled."""

_INSERT = text("""
    INSERT INTO summaries (tenant_id, session_id, to_position, content, key_messages, token_count, prompt)
    VALUES (:tenant, :session, :to_position, :content, cast(:key_messages AS jsonb), :token_count, :prompt)
""")

_PRUNE = text("""
    DELETE FROM summaries WHERE session_id = :session AND to_position < (
        SELECT min(to_position) FROM (
            SELECT to_position FROM summaries WHERE session_id = :session
            ORDER BY to_position DESC LIMIT :kept) AS last)
""")

_FORGET = text("""
    DELETE FROM summaries s
    USING unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS place (session_id, message_id)
    JOIN messages m ON m.session_id = place.session_id AND m.id = place.message_id
    WHERE s.session_id = m.session_id AND s.to_position >= m.position
""")
