"""Names that only the service uses: its source, and the types of its own events with the fields of their payload."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from core.memoize import memoized
from core.screening import deobfuscation

SERVICE: Final = "imprint"
"""Source of the service's own events. Nobody else may use it, in any spelling that looks the same."""

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
    "memory.stated": ("user_id", "group_id", "content", "category", "memory_id", "verdict", "decision_id"),
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
    "memory.recalled": ("user_id", "group_id", "memory_ids", "searches", "queries"),
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
    "events.refused": ("door", "reason", "refused"),
    "searches.counted": ("searches", "without_memories"),
    "alarm.raised": ("rule", "version", "due_at", "counts", "user_id", "session_id", "source"),
    "alarm.cleared": tuple("rule version due_at counts user_id session_id source raised_at reason".split()),
    "approval.requested": ("dispatch_id", "rule", "version", "target", "params", "expires_at", "may_decide"),
    "approval.decided": ("dispatch_id", "rule", "verdict", "by", "comment"),
    "console.logged_out": ("by",),
    "endpoint.disabled": ("address", "failing_since", "error"),
    "dispatch.dead": ("dispatch_id", "target", "rule", "reason"),
}
"""The events of the service by type, with the fields that their payload may have."""

PUBLISHED_TOO: Final = frozenset({"session.ended"})
"""Types that clients publish as well; a false one can be recognized by its payload."""

TYPES: Final = frozenset(EMITTED) - PUBLISHED_TOO


def is_own_type(event_type: str) -> bool:
    """Return whether only the service announces a type; case does not tell types apart here."""
    return event_type.lower() in TYPES


def refusal(event_type: str) -> str:
    """Return why a client or rule may not announce a type, and which of its family are reserved."""
    family = event_type.lower().partition(".")[0] + "."
    types = ", ".join(sorted(kind for kind in TYPES if kind.startswith(family)))
    return (
        f"only the service itself announces `{event_type}`; choose a type of your own, such as `my.{event_type}`. "
        f"Reserved are {types}; docs/event-types.md lists all"
    )


@memoized(4096)
def is_of_service(source: str) -> bool:
    """Return whether a source looks like the service's: in any case or alphabet, with spaces or invisible signs."""
    return _UNSEEN.sub("", deobfuscation.fold(source)).translate(_ALIKE).replace("rn", "m") == SERVICE


_UNSEEN = re.compile(rf"[\s\x00-\x1f\x7f-\xa0{deobfuscation.INVISIBLE}]")

_ALIKE = str.maketrans("1l|!0", "iiiio")
"""Signs that look like letters of the name."""
