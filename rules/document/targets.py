"""Agents that a rule may run, the events they cause, and the payload fields of the service's events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core import agents, plugins

TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(plugins.names(plugins.AGENTS), ()),
    **{name: spec.emits for name, spec in agents.AGENTS.items() if spec.is_target},
}
"""Agents that `run_agent` may name, including plug-ins, with the events they cause."""

APPROVALS: Final = ("approval.requested", "approval.decided")
"""Events of rules whose actions are held for approval."""

_CREATED: Final = tuple(
    "user_id group_id memory_id content category topic importance attribute value session_id".split()
)

EMITTED: Final[Mapping[str, tuple[str, ...]]] = {
    "memory.created": _CREATED,
    "memory.write.important": _CREATED,
    "memory.updated": ("user_id", "memory_id", "change", "reason"),
    "memory.merged": ("user_id", "memory_id", "absorbed", "reason"),
    "memory.conflicted": ("user_id", "memory_id", "with", "reason"),
    "memory.bulk_changed": ("action", "done", "unchanged", "refused"),
    "memory.bulk_requested": ("job_id", "action", "preview", "rows", "requested_by"),
    "memory.bulk_completed": ("job_id", "action", "done", "unchanged", "refused"),
    "memory.stated": (
        "user_id",
        "group_id",
        "content",
        "category",
        "memory_id",
        "verdict",
        "decision_id",
    ),
    "memory.superseded": ("user_id", "memory_id", "by", "reason"),
    "memory.quarantined": ("user_id", "memory_id", "reason"),
    "memory.compressed": ("user_id", "memory_id", "parts", "reason"),
    "memory.erased": ("user_id", "memory_id", "memory_ids", "rederive", "reason"),
    "memory.forget_requested": tuple(
        "user_id group_id session_id message_id scope messages memories refused message_ids memory_ids".split()
    ),
    "memory.forgotten": tuple("user_id group_id session_id message_id scope messages memories receipt_id".split()),
    "memory.forgetting_undone": tuple("user_id group_id session_id message_id forgetting_id messages memories".split()),
    "user.erased": ("user_id",),
    "group.erased": ("group_id",),
    "memory.archived": ("user_id", "memory_id", "category", "reason"),
    "memory.restored": ("user_id", "memory_id", "reason"),
    "memory.recalled": ("user_id", "group_id", "memory_ids", "searches"),
    "raw.read": ("door", "by", "user_id", "group_id", "session_id"),
    "mirror.requested": ("user_id",),
    "mirror.edited": ("user_id", "file"),
    "mirror.conflicted": ("user_id", "memory_id", "file", "version", "kept"),
    "mirror.refused": ("user_id", "file", "reason"),
    "profile.updated": ("user_id", "group_id", "version", "changed"),
    "embedding.requested": ("model", "previous"),
    "embedding.changed": ("model", "previous"),
    "rebuild.requested": ("user_id", "rebuild_id"),
    "rebuild.ready": ("user_id", "rebuild_id", "added", "gone", "changed"),
    "message.imported": tuple("session_id user_id role content message_id speaker agent_id group_id".split()),
    "import.requested": ("user_id", "import_id"),
    "import.completed": ("user_id", "import_id", "restored"),
    "import.failed": ("user_id", "import_id", "problems"),
    "replay.requested": ("replay_id", "mode", "events", "requested_by"),
    "replay.completed": ("replay_id", "mode", "events", "fired", "dispatches"),
    "session.ended": ("session_id", "user_id", "group_id", "message_count", "filled_in", "reason"),
    "session.summarized": ("session_id", "user_id", "group_id", "to_position", "messages", "tokens"),
    "session.erased": ("session_id", "user_id", "by"),
    "message.hidden": ("session_id", "message_id", "by", "reason"),
    "message.restored": ("session_id", "message_id", "by"),
    "document.added": ("user_id", "group_id", "document_id", "version", "passages"),
    "document.updated": ("user_id", "group_id", "document_id", "version", "passages"),
    "document.deleted": ("user_id", "group_id", "document_id", "version", "passages"),
    "rule.changed": ("rule", "version", "author", "comment", "change"),
    "clock.ticked": ("rule", "version", "due_at", "timezone", "user_id", "requested_by"),
    "approval.requested": ("dispatch_id", "rule", "version", "target", "params", "expires_at", "may_decide"),
    "approval.decided": ("dispatch_id", "rule", "verdict", "by", "comment"),
    "endpoint.disabled": ("address", "failing_since", "error"),
    "dispatch.dead": ("dispatch_id", "target", "rule", "reason"),
}
"""The events of the service by type, with the fields that their payload may have."""
