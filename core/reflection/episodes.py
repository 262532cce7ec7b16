"""One episodic memory per participant.

`read` returns the session's messages, `drafts_of` the episodes in them, `PendingEpisodes.write` stores the
changes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import text

from core.consolidation import upsert
from core.consolidation.pipeline import Consolidation
from core.consolidation.upsert import PendingUpsert
from core.events import log
from core.events.publishing import Author
from core.extraction import actions as spoken_actions
from core.extraction import speakers, telling
from core.extraction.durability import Reader
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer
from core.language import grounding, topics
from core.language.topics import ASSISTANT
from core.memory.changes import Owner
from core.reflection import episode_narrative
from core.reflection.episode_narrative import Ending, EpisodeFacts
from core.screening import output
from core.sessions import sessions, speaker_clocks
from core.storage.db import Database, Tx
from core.types import Candidate, Category, Event, Evidence, Json, Kind, Message, Topic

READ: Final = 1_000
"""Messages of a session that are read; the last ones if it is longer."""

FEWEST: Final = 3
"""Minimum messages with words for an episode."""

QUOTES: Final = 8
"""Messages that an episode cites."""

QUOTE_CHARACTERS: Final = 500

REPORTED: Final = dict.fromkeys(("success", "succeeded", "completed", "done", "ok"), True) | dict.fromkeys(
    ("failure", "failed", "error", "aborted"), False
)
"""Outcomes of a task by which it went well or did not; others are kept as they are put."""

TELLING: Final = 2
"""Fewest sentences that tell something, for an episode without a reported outcome."""

KEPT_ACTIONS: Final = 20
"""Actions that `structured` holds."""

SHOWN: Final = 60
"""Maximum messages shown to a model."""


@dataclass(frozen=True, slots=True)
class SessionSlice:
    """Messages of a session that all heard, its participants, and the events that report its outcome.

    `started_at`: of the session, whose first messages are missing here if it is longer than READ.
    """

    session_id: str
    group_id: str | None
    messages: Sequence[Message]
    listeners: Sequence[str]
    started_at: datetime
    reports: Sequence[Event]


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """An episode before it is judged: its owner, its facts, and the messages that it cites."""

    owner: Owner
    account: EpisodeFacts
    quotes: Sequence[Message]
    importance: float

    def structured(self, session_id: str) -> Json:
        account = self.account
        return {
            "type": account.type.value,
            "participant": account.name,
            "with": list(account.others),
            "topics": list(account.topics),
            "started_at": account.started_at.isoformat(),
            "ended_at": account.ended_at.isoformat(),
            "actions": list(account.actions),
            "outcome": account.ending.outcome,
            **({"report": account.ending.report} if account.ending.report else {}),
            "success": account.ending.success,
            "reward": account.ending.reward,
            "session_id": session_id,
            "messages": account.messages,
        }


@dataclass(frozen=True, slots=True)
class PendingEpisodes:
    """Changes to the episodes of a session, ready to be written."""

    episodes: int
    upserts: Sequence[PendingUpsert]

    def write(self, tx: Tx, author: Author) -> Json:
        """Apply the changes. Conflict: one of the episodes was changed in the meantime."""
        counts: Json = {"episodes": self.episodes}
        # Each owner is locked while written, so in one order: the same people meet in other sessions, too.
        for pending in sorted(self.upserts, key=lambda pending: pending.owner.user_id):
            for name, n in pending.write(tx, author).items():
                counts[name] = counts.get(name, 0) + n
        return counts


class EpisodeNarrative(ModelAnswer):
    """A conversation as a model retells it for one participant."""

    participant: str
    narrative: Annotated[str, Field(min_length=1, max_length=grounding.LONGEST)]


class Narratives(ModelAnswer):
    """One for each participant."""

    episodes: list[EpisodeNarrative]


PROMPT: Final = ModelPrompt("episode.v1", Narratives)

Telling = Mapping[str, Mapping[str, float]]
"""Telling sentences by the id of their message, each with its weight."""

Narrate = Callable[[SessionSlice, Sequence[EpisodeDraft]], Mapping[str, str]]
"""Narrates a conversation for participants by name; a participant is missing only if that failed."""


def by_rules(_session_slice: SessionSlice, _drafts: Sequence[EpisodeDraft]) -> Mapping[str, str]:
    """Return no narratives: every episode is worded by `core.reflection.episode_narrative`."""
    return {}


def by_model(client: ChatClient, on_call: OnCall) -> Narrate:
    """Return a narrator that asks a model. Narratives that it refuses, or that add something, are left out."""

    def narrate(session_slice: SessionSlice, drafts: Sequence[EpisodeDraft]) -> Mapping[str, str]:
        transcript = _transcript(session_slice)
        names = "\n".join(draft.account.name for draft in drafts)
        answer = ask.ask(client, on_call, PROMPT, f"People:\n{names}\n\nTranscript:\n{transcript}")
        if isinstance(answer, ModelRefused):
            return {}
        sources_of = {draft.account.name: [transcript, episode_narrative.narrate(draft.account)] for draft in drafts}
        return {
            episode.participant: episode.narrative
            for episode in answer.episodes
            if episode.participant in sources_of
            and grounding.is_grounded(episode.narrative, episode.participant, sources_of[episode.participant])
        }

    return narrate


def session(
    consolidation: Consolidation,
    tenant_id: str,
    session_id: str,
    narrate: Narrate = by_rules,
    reader: Reader | None = None,
) -> PendingEpisodes:
    """Plan the changes to the episodes of a session. NotFound: there is no such session.

    `reader`: tells what matters in it; None: words alone do.
    """
    session_slice = read(consolidation.db, tenant_id, session_id)
    drafts = drafts_of(session_slice, reader)
    with consolidation.db.tenant(tenant_id) as tx:
        rows = [upsert.find(tx, draft.owner, draft.account.name, _slot(session_slice)) for draft in drafts]
    news = [(draft, row) for draft, row in zip(drafts, rows, strict=True) if _is_news(session_slice, draft, row)]
    narratives = narrate(session_slice, [draft for draft, _ in news]) if news else {}
    upserts = []
    for draft, row in news:
        candidate = _candidate(session_slice, draft, narratives.get(draft.account.name))
        reason = "A conversation ended." if row is None else "The conversation went on, or its outcome is known now."
        upserts.append(upsert.upsert(consolidation, tenant_id, draft.owner, candidate, row, reason, used=False))
    return PendingEpisodes(len(drafts), upserts)


def read(db: Database, tenant_id: str, session_id: str) -> SessionSlice:
    """Read the messages of a session that all its participants heard. NotFound: there is no such session."""
    with db.tenant(tenant_id) as tx:
        session_row = sessions.get(tx, session_id)
        after = max(0, session_row.message_count - READ)
        messages = speaker_clocks.of_messages(tx, sessions.transcript(tx, session_id, after=after, limit=READ))
        names = list(tx.execute(_LISTENERS, {"session": session_id}).scalars())
        listeners = list(tx.execute(_USERS, {"names": names}).scalars()) if names else []
        reports = [log.event_of(row) for row in tx.execute(_REPORTS, {"session": session_id})]
    group = session_row.group_id or next((m.group_id for m in messages if m.group_id), None)
    heard_by_all = [
        m for m in messages if m.role in {"user", "assistant"} and m.content.strip() and m.group_id == group
    ]
    screened = output.messages(heard_by_all)
    started = screened[0].occurred_at if screened and not after else session_row.started_at
    return SessionSlice(
        session_id, group, speakers.with_assistants(screened), listeners if group else [], started, reports
    )


def drafts_of(session_slice: SessionSlice, reader: Reader | None = None) -> list[EpisodeDraft]:
    """Return an episode for each participant; none if the conversation tells too little and no outcome is reported."""
    if len(session_slice.messages) < FEWEST:
        return []
    people = _people(session_slice)
    if not any(people.values()):
        return []
    actions = spoken_actions.actions_of(session_slice.messages)
    sentences = telling.of_messages(session_slice.messages, actions, reader)
    if sum(map(len, sentences.values())) < TELLING and not session_slice.reports:
        return []
    return [_draft(session_slice, user, name, people, actions, sentences) for user, name in people]


def _people(session_slice: SessionSlice) -> dict[tuple[str, str], list[Message]]:
    """Return the participants, by user and name, with their messages; none for those who only listened."""
    messages_of: defaultdict[tuple[str, str], list[Message]] = defaultdict(list)
    names: dict[tuple[str, str], str] = {}
    for message in session_slice.messages:
        name = speakers.speaker_of(message)
        if name is not None:
            first = names.setdefault((message.user_id, name.casefold()), name)
            messages_of[message.user_id, first].append(message)
    speaking = {participant.casefold() for user, name in messages_of for participant in (user, name)}
    silent: dict[tuple[str, str], list[Message]] = {
        (name, name): [] for name in session_slice.listeners if name.casefold() not in speaking
    }
    return dict(messages_of) | silent


def _draft(
    session_slice: SessionSlice,
    user: str,
    name: str,
    people: Mapping[tuple[str, str], Sequence[Message]],
    actions: Mapping[str, Sequence[str]],
    sentences: Telling,
) -> EpisodeDraft:
    own = people[user, name]
    spoken = [m for m in session_slice.messages if speakers.speaker_of(m) is not None]
    others = [other for _, other in people if other != name]
    others += [ASSISTANT] if len(spoken) < len(session_slice.messages) else []
    ending = _reported_ending(session_slice.reports, user) or episode_narrative.ending_of(spoken)
    ending = replace(ending, reward=_reward(session_slice.reports, user))
    is_task = any(e.event_type == "task.completed" and e.user_id == user for e in session_slice.reports)
    own_actions = _reported_actions(session_slice.reports, user)
    own_actions += [action for m in own for action in actions.get(m.id, ())]
    account = EpisodeFacts(
        name=name,
        others=others,
        topics=_topics(session_slice, own, [name, *others]),
        started_at=session_slice.started_at.astimezone(UTC),
        ended_at=max(m.occurred_at for m in session_slice.messages).astimezone(UTC),
        messages=len(session_slice.messages),
        sentences=_quoted_sentences(session_slice, own, sentences),
        actions=list(dict.fromkeys(own_actions))[:KEPT_ACTIONS],
        ending=ending,
        type=episode_narrative.type_of(ending, is_task=is_task),
    )
    quotes = list(_quotes(session_slice, own, sentences, ending))[:QUOTES]
    return EpisodeDraft(Owner(user, session_slice.group_id), account, quotes, _importance(own, account))


def _quoted_sentences(session_slice: SessionSlice, own: Sequence[Message], sentences: Telling) -> list[tuple[str, str]]:
    """Return the weightiest telling sentences in order: a participant's own, else those of the others.

    With each goes who said it, if that was somebody else.
    """
    own_telling = [m for m in own if m.id in sentences]
    weighed = [
        (weight, (message.position, at), text, "" if own_telling else speakers.speaker_of(message) or ASSISTANT)
        for message in own_telling or session_slice.messages
        for at, (text, weight) in enumerate(sentences.get(message.id, {}).items())
    ]
    best = sorted(weighed, key=lambda each: (-each[0], each[1]))[: episode_narrative.SENTENCES]
    return [(text, who) for _, _, text, who in sorted(best, key=lambda each: each[1])]


def _topics(session_slice: SessionSlice, own: Sequence[Message], names: Sequence[str]) -> list[str]:
    own_ids = {m.id for m in own}
    others = [m.content for m in session_slice.messages if m.id not in own_ids]
    return topics.topics([m.content for m in own], others, names)


def _quotes(
    session_slice: SessionSlice, own: Sequence[Message], sentences: Telling, ending: Ending
) -> Iterator[Message]:
    """Yield the messages that an episode cites, once each: its opening, its end, and what tells of it."""
    own_ids = {m.id for m in own}
    others = [m for m in session_slice.messages if m.id not in own_ids]
    ranked = [*own[:1], *([ending.message] if ending.message else []), *(m for m in own if m.id in sentences)]
    ranked += [*others[:1], *others[-1:], *own[-1:]]
    yield from {m.id: m for m in ranked}.values()


def _reported_ending(reports: Sequence[Event], user: str) -> Ending | None:
    """Return the outcome by the last event that reports one for this user."""
    for event in reversed(reports):
        if event.user_id != user:
            continue
        if event.event_type in {"skill.succeeded", "skill.failed"}:
            return Ending("succeeded" if event.event_type == "skill.succeeded" else "failed")
        if event.event_type == "task.completed" and (ending := _task_ending(event.payload)):
            return ending
    return None


def _task_ending(payload: Json) -> Ending | None:
    """Return the outcome that a completed task reports; None: it reports none."""
    success, outcome = payload.get("success"), payload.get("outcome")
    report = outcome.strip()[:QUOTE_CHARACTERS] if isinstance(outcome, str) else ""
    if not isinstance(success, bool):
        success = REPORTED.get(report.casefold())
    if success is None:
        return Ending("reported", report=report) if report else None
    return Ending("succeeded" if success else "failed", report="" if report.casefold() in REPORTED else report)


def _reported_actions(reports: Sequence[Event], user: str) -> list[str]:
    """Return the actions that completed tasks of this user report: texts, or objects with an `action` or `name`."""
    actions: list[str] = []
    for event in reports:
        listed = event.payload.get("actions")
        if event.user_id == user and event.event_type == "task.completed" and isinstance(listed, list):
            named = (
                action.get("action") or action.get("name") if isinstance(action, dict) else action for action in listed
            )
            actions += [name.strip()[:QUOTE_CHARACTERS] for name in named if isinstance(name, str) and name.strip()]
    return actions


def _reward(reports: Sequence[Event], user: str) -> float | None:
    for event in reversed(reports):
        reward = event.payload.get("reward")
        if event.user_id == user and isinstance(reward, int | float) and not isinstance(reward, bool):
            return float(reward) if math.isfinite(reward) else None
    return None


def _importance(own: Sequence[Message], account: EpisodeFacts) -> float:
    """Return the importance of a conversation: higher if something was done, or its outcome is known."""
    base = 0.4 + 0.1 * bool(account.actions) + 0.1 * (account.ending.success is not None)
    return round(max(base, *(m.importance or 0 for m in own), 0), 2)


def _slot(session_slice: SessionSlice) -> str:
    return f"episode:{session_slice.session_id}"


def _is_news(session_slice: SessionSlice, draft: EpisodeDraft, row: Any | None) -> bool:
    if row is None:
        return True
    return not upsert.is_closed(row) and row.structured != draft.structured(session_slice.session_id)


def _candidate(session_slice: SessionSlice, draft: EpisodeDraft, narrative: str | None) -> Candidate:
    return Candidate(
        content=narrative or episode_narrative.narrate(draft.account),
        category=Category.EPISODE,
        topic=Topic.HISTORY,
        subject=draft.account.name,
        evidence=tuple(Evidence(m.session_id, m.id, m.event_id, m.content[:QUOTE_CHARACTERS]) for m in draft.quotes),
        occurred_at=draft.account.started_at,
        kind=Kind.EPISODIC,
        importance=draft.importance,
        confidence=0.8,
        attribute=_slot(session_slice),
        value=session_slice.session_id,
        valid_from=draft.account.started_at,
        structured=draft.structured(session_slice.session_id),
    )


def _transcript(session_slice: SessionSlice) -> str:
    messages = (
        session_slice.messages
        if len(session_slice.messages) <= SHOWN
        else [*session_slice.messages[:10], *session_slice.messages[10 - SHOWN :]]
    )
    return "\n".join(
        f"{m.occurred_at:%Y-%m-%d %H:%M} {speakers.speaker_of(m) or ASSISTANT}: {m.content[:QUOTE_CHARACTERS]}"
        for m in messages
    )


_LISTENERS = text("""
    SELECT DISTINCT names.name FROM messages m, jsonb_array_elements_text(m.extras -> 'participants') AS names (name)
    WHERE m.session_id = :session AND jsonb_typeof(m.extras -> 'participants') = 'array' ORDER BY 1
""")

_USERS = text("SELECT DISTINCT user_id FROM sessions WHERE user_id = ANY(:names) ORDER BY 1")
"""Names that are users: nobody gets memories because someone mentioned their name."""

_REPORTS = text(f"""
    SELECT {log.COLUMNS} FROM events e
    WHERE session_id = :session
      AND event_type IN ('task.completed', 'skill.succeeded', 'skill.failed', 'feedback.given')
    ORDER BY seq
""")
"""Events published about the outcome of a session."""
