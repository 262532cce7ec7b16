"""Answers about sessions: messages, working memory, summaries, plans, units."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.http.search.answers import UnitFact
from api.ingress.answers import Answer, of, optional, page
from core import types
from core.sessions import sessions
from core.sessions.known_owners import Member, RowCount
from core.sessions.transcripts import RepeatedMessage
from core.sessions.working_memory import WorkingValue
from core.summaries import units
from core.summaries.key_messages import KeyMessage
from core.types import Json, Trust


@of(sessions.Session)
class SessionInfo(Answer):
    """A session with its state and counters."""

    user_id: str | None = Field(description="Its owner: the first user named in it")
    extracted_to: int = Field(description="Position up to which it has been extracted")
    ended_at: datetime | None = Field(description="Null: it is open")
    keep_days: int | None = Field(
        description="Days after its end for which it is kept; null: as long as the tenant keeps sessions and messages"
    )


class SessionWithUsers(SessionInfo):
    """A session, and who has spoken in it."""

    users: list[str] = Field(description="Users whose messages it has, at most 20")
    warnings: list[str] = Field(description="What is probably a mistake: messages of several users outside of a group")


class OwnerRow(Answer):
    """Since when a user or a group is known, and what is held."""

    known_at: datetime
    last_at: datetime = Field(description="When something was said or sent last, to within a minute")
    sessions: RowCount
    memories: RowCount = Field(description="Active ones")


class UserRow(OwnerRow):
    """A user of whom something is held."""

    user_id: str


class UserSettingsInForce(Answer):
    """Settings of a user."""

    user_id: str
    time_zone: str | None


class GroupRow(OwnerRow):
    """A group of which something is held."""

    group_id: str


class MemberList(Answer):
    """Who spoke in a group, the last to speak first."""

    items: list[Member]


class ErasedSession(Answer):
    """A session that was erased."""

    session_id: str
    erased: dict[str, int] = Field(description="Erased rows by table")


@of(types.Message)
class SessionMessage(Answer):
    """A message of a session."""

    position: int = Field(description="From 1, without gaps")
    trust: Trust | None = Field(description="`quarantined`: it would command its reader")
    hidden: bool = Field(description="Whether it is hidden from contexts")
    token_count: int
    attachments: list[str] = optional("Names of the files that came with it; left out if there are none")
    memory_ids: list[UUID] = optional("With `memories`: those drawn from it")


class HiddenMark(Answer):
    """Who hid a message, when and why."""

    reason: str | None
    by: str
    at: datetime


class FullMessage(SessionMessage):
    """A message with its metadata."""

    hidden_by: HiddenMark | None
    extras: Json = Field(description="Tool calls, tags, metadata")
    repeats: list[RepeatedMessage]


class SessionSummary(Answer):
    """Summary of the messages up to a position."""

    session_id: str
    to_position: int
    content: str
    key_messages: list[KeyMessage]
    text: str = Field(description="Content and key messages, as contexts show them")
    token_count: int
    prompt: str | None = Field(description="Name and version of the prompt; null: made by rules")
    at: datetime


class PlanStep(Answer):
    """A step of a plan."""

    id: str
    title: str
    status: str
    steps: list[PlanStep]


class Plan(Answer):
    """A plan of a session."""

    id: str
    session_id: str
    user_id: str | None
    group_id: str | None
    goal: str
    status: str
    current: str | None = Field(description="Id of the step being worked on")
    steps: list[PlanStep]
    event_id: str
    version: int
    updated_at: datetime | None


@of(units.ConversationUnit)
class Unit(Answer):
    """A slice of a conversation on one topic."""

    boundary: str = Field(description="Why it begins there: `start`, `gap`, `topic`, …")
    facts: list[UnitFact]
    prompt: str | None = Field(description="Name and version of the prompt; null: made by rules")
    source_type: str


class UnitWithLinks(Unit):
    """A unit, and what rests on its messages."""

    memory_ids: list[UUID]
    episode_ids: list[UUID]


class Profile(Answer):
    """Attributes of a user or group, each with the memories that it rests on."""

    version: int
    built_at: datetime
    until: datetime | None = Field(description="When the first of its memories stops being valid")
    attributes: Json = Field(description="Slots, lists, statements by topic, …; empty sections are left out")


class UserProfile(Profile):
    """Profile of a user."""

    user_id: str


class GroupProfile(Profile):
    """Profile of a group."""

    group_id: str


UserPage = page("UserPage", UserRow, "A page of users.")
GroupPage = page("GroupPage", GroupRow, "A page of groups.")
SessionPage = page("SessionPage", SessionInfo, "A page of sessions.")
MessagePage = page("MessagePage", SessionMessage, "Messages of a session, in order.")
WorkingPage = page("WorkingPage", WorkingValue, "Working memory of a session, by key.")
PlanPage = page("PlanPage", Plan, "Plans of a session.")
UnitPage = page("UnitPage", Unit, "Units of a session.")
