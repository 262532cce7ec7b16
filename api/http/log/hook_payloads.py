"""Payloads of coding agents' hooks, and the events that they turn into. Pure.

Claude Code sends `snake_case`; GitHub Copilot CLI sends the same to hooks with names in PascalCase, and `camelCase` to
others.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from uuid_utils import uuid7

from core.events.parsing import Name, Place
from core.types import Json

PROMPT: Final = "UserPromptSubmit"
START: Final = "SessionStart"

ANSWERED: Final = frozenset({PROMPT, START})
"""Hooks whose answer reaches the model."""

NAMES: Final = {"userPromptSubmitted": PROMPT, "sessionStart": START, "agentStop": "Stop", "sessionEnd": "SessionEnd"}
"""Copilot's names of the hooks that are used."""

SOURCE: Final = "coding-agent"


def _either(name: str) -> AliasChoices:
    return AliasChoices(name, to_camel(name))


class HookPayload(BaseModel):
    """Fields of a hook's input that are used; others are ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    session_id: Annotated[Place, Field(validation_alias=_either("session_id"))]
    hook_event_name: Annotated[Name | None, Field(validation_alias=_either("hook_event_name"))] = None
    prompt_id: Annotated[Name | None, Field(validation_alias=_either("prompt_id"))] = None
    cwd: Annotated[str, Field(max_length=4_096)] = ""
    prompt: str = ""
    last_assistant_message: Annotated[str | None, Field(validation_alias=_either("last_assistant_message"))] = None
    compact_summary: Annotated[str | None, Field(validation_alias=_either("compact_summary"))] = None
    reason: Annotated[str | None, Field(max_length=200)] = None

    def hook(self, named: str | None) -> str:
        """Return the name of the hook as Claude Code spells it; `named` stands for one that the payload lacks."""
        name = self.hook_event_name or named or ""
        return NAMES.get(name, name)


@dataclass(frozen=True, slots=True)
class HookReport:
    """A hook that was called: its name, its input, and whose memory it is.

    `folder`: where the agent works; `project`: the name that was asked for, "" for none.
    """

    hook: str
    payload: HookPayload
    user_id: str
    agent: str
    folder: str
    project: str | None

    @property
    def session_id(self) -> str:
        """Id of the session, which begins with that of the agent."""
        return f"{self.agent}/{self.payload.session_id}"


def events(report: HookReport, group_id: str | None) -> list[Json]:
    """Return the events that a hook reports, in the native form; none for a hook without news."""
    payload, owner = report.payload, {"session_id": report.session_id, "user_id": report.user_id}
    owner["agent_id"] = report.agent
    if group_id is not None:
        owner["group_id"] = group_id
    messages = {
        PROMPT: ("user", payload.prompt),
        "Stop": ("assistant", payload.last_assistant_message),
        "PostCompact": ("system", payload.compact_summary),
    }
    if report.hook in messages:
        role, content = messages[report.hook]
        return [_message(owner, report, role, content)] if content and content.strip() else []
    if report.hook == START:
        return [{"event_type": "session.started", "source": SOURCE, "payload": owner}]
    if report.hook == "SessionEnd":
        ended = {**owner, "reason": payload.reason or "ended"}
        return [{"event_type": "session.ended", "source": SOURCE, "payload": ended}]
    return []


def _message(owner: Json, report: HookReport, role: str, content: str) -> Json:
    message_id = _message_id(report, content)
    return {
        "id": message_id,
        "event_type": "message.added",
        "source": SOURCE,
        "payload": {**owner, "message_id": message_id, "role": role, "content": content, "tags": [report.hook]},
    }


def _message_id(report: HookReport, content: str) -> str:
    """Return the same id for the same message of a prompt, so that a repeated hook changes nothing."""
    if report.payload.prompt_id is None:
        return str(uuid7())
    identity = json.dumps([report.session_id, report.payload.prompt_id, report.hook, content])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
