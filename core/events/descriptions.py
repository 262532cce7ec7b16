"""What each event of the service says: when it is published, and what its payload has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

_MEMORY: Final = "`user_id`, `group_id`, `memory_id`, `category`"
_REQUEST: Final = "`user_id`, `group_id`, `session_id`, `message_id`"
_CREATED: Final = f"{_MEMORY}, `content`, `topic`, `importance`, `attribute`, `value`, `session_id`"
_DOCUMENT: Final = "`document_id`, `version`, `passages`, `user_id`, `group_id`"


class Description(NamedTuple):
    """When an event is published, and the fields of its payload, in Markdown. (new): it begins a chain."""

    when: str
    payload: str


DESCRIPTIONS: Final[Mapping[str, Description]] = {
    "memory.created": Description("a memory was added", _CREATED),
    "memory.write.important": Description("a memory reached importance 0.8", _CREATED),
    "memory.updated": Description(
        "a memory changed",
        f"{_MEMORY}, `old`, `new`, `change` (`confirm`, `replace`, `edit`, `pin`, `unpin`, `undo`), `reason`",
    ),
    "memory.merged": Description(
        "two statements became one memory", f"{_MEMORY}, `old`, `new`, `absorbed` (archived memory), `reason`"
    ),
    "memory.conflicted": Description(
        "a statement denies another: both are `disputed`", f"{_MEMORY}, `old`, `new`, `with` (denying memory), `reason`"
    ),
    "memory.quarantined": Description(
        "a text that instructs the agent awaits review", "`user_id`, `memory_id`, `reason`"
    ),
    "memory.bulk_changed": Description(
        "a request changed memories (new)", "`action`, `done`, `unchanged`, `refused`, `items`"
    ),
    "memory.stated": Description(
        "a memory was requested over HTTP (new)",
        f"{_MEMORY}, `content` and other given fields, `verdict`, `decision_id`",
    ),
    "memory.compressed": Description(
        "unused memories were combined into this one", "`user_id`, `memory_id`, `parts`, `reason`"
    ),
    "memory.superseded": Description("another value replaced a memory", f"{_MEMORY}, `old`, `new`, `by`, `reason`"),
    "memory.erased": Description(
        "a memory was erased with everything derived",
        "`user_id`, `memory_id`, `memory_ids`, `rederive` (parts to derive again), `reason`",
    ),
    "memory.forget_requested": Description(
        "a request to forget found something",
        f"{_REQUEST}, `scope` (`fact`, `last`, `all_about`, `everything`, `similar`, `suggested`), "
        "`messages`, `memories`, `refused` (numbers), `message_ids`, `memory_ids` (at most 200), "
        "`spots` (of `similar`, `suggested`)",
    ),
    "memory.forgotten": Description(
        "a request to forget was carried out",
        f"{_REQUEST}, `scope`, `messages`, `memories`, `receipt_id`, `forgetting_id`, `final_at`, "
        "`documents` (that hold what was erased)",
    ),
    "memory.forgetting_undone": Description(
        "a request to forget was undone", f"{_REQUEST}, `forgetting_id`, `messages`, `memories`"
    ),
    "user.erased": Description("a user was erased", "`user_id`"),
    "group.erased": Description("a group was erased", "`group_id`"),
    "memory.archived": Description(
        "a memory faded, expired, was in excess, or was archived by a person", f"{_MEMORY}, `old`, `reason`"
    ),
    "memory.restored": Description(
        "a memory was restored by a person, or with forgetting undone", f"{_MEMORY}, `new`, `reason`"
    ),
    "memory.recalled": Description(
        "searches returned memories (new), unless `IMPRINT_ANNOUNCE_RECALLS` is off",
        "`user_id`, `group_id`, `memory_ids`, `searches` (number), `queries` (first ten: `query`, "
        "`memory_ids`, `session_id`, until the messages leave)",
    ),
    "raw.read": Description(
        "a key is about to read unmasked text (new)",
        "`door`, `by`, and the named of `user_id`, `group_id`, `session_id`",
    ),
    "profile.updated": Description("a profile changed", "`user_id`, `group_id`, `version`, `changed` (attributes)"),
    "embedding.requested": Description("another embedding model was chosen", "`model`, `previous`"),
    "embedding.changed": Description("the vectors of the new model are in use", "`model`, `previous`"),
    "rebuild.requested": Description("a rebuild of a user's memories began", "`user_id`, `rebuild_id`"),
    "rebuild.ready": Description(
        "a rebuild can be compared", "`user_id`, `rebuild_id`, `added`, `gone`, `changed` (numbers)"
    ),
    "import.requested": Description("an archive was uploaded", "`user_id`, `import_id`"),
    "message.imported": Description(
        "a message was restored from an archive; triggers no rule",
        "`session_id`, `user_id`, `role`, `content`, `message_id`, `speaker`, `agent_id`, `group_id`",
    ),
    "import.completed": Description("an archive was restored", "`user_id`, `import_id`, `restored` (numbers by file)"),
    "import.failed": Description("nothing of an archive was restored", "`user_id`, `import_id`, `problems` (number)"),
    "memory.bulk_requested": Description(
        "a bulk job began", "`job_id`, `action`, `preview`, `rows` (number), `requested_by`"
    ),
    "memory.bulk_completed": Description("a bulk job is done", "`job_id`, `action`, `done`, `unchanged`, `refused`"),
    "replay.requested": Description("a replay began", "`replay_id`, `mode`, `events`, `requested_by`"),
    "replay.completed": Description(
        "the events of a replay are decided", "`replay_id`, `mode`, `events`, `fired`, `dispatches` (numbers)"
    ),
    "mirror.requested": Description("a user's Markdown files shall be updated", "`user_id`"),
    "session.ended": Description(
        "a session was silent for `IMPRINT_SESSION_IDLE_SECONDS`",
        "`session_id`, `user_id`, `group_id`, `message_count`, `filled_in`, `reason` (`idle`)",
    ),
    "session.summarized": Description(
        "a session got a summary", "`session_id`, `user_id`, `group_id`, `to_position`, `messages`, `tokens`"
    ),
    "session.erased": Description("a session was erased", "`session_id`, `user_id`, `by`"),
    "message.hidden": Description("a message was excluded from contexts", "`session_id`, `message_id`, `by`, `reason`"),
    "message.restored": Description("a message was included in contexts again", "`session_id`, `message_id`, `by`"),
    "document.added": Description("a document was added", _DOCUMENT),
    "document.updated": Description("the text of a document changed", _DOCUMENT),
    "document.deleted": Description("a document was erased", _DOCUMENT),
    "mirror.edited": Description("a mirror file was saved", "`user_id`, `file`"),
    "mirror.conflicted": Description(
        "mirror file and database both changed",
        "`user_id`, `memory_id`, `file`, `version`, `kept` (`file`, `database`, `both`)",
    ),
    "mirror.refused": Description("a mirror file is unreadable, nothing changed", "`user_id`, `file`, `reason`"),
    "rule.changed": Description(
        "a rule was saved or deleted (new)",
        "`rule`, `version`, `author`, `comment`, `change` (`created`, `changed`, `deleted`, `rolled back`)",
    ),
    "clock.ticked": Description(
        "a `schedule` was due, or run on request",
        "`rule`, `version`, `due_at`, `timezone`, `user_id` (`for_each: user`), `requested_by`",
    ),
    "alarm.raised": Description(
        "the conditions of an alarm began to hold",
        "`rule`, `version`, `due_at`, `counts`, one of `user_id`, `session_id`, `source`",
    ),
    "alarm.cleared": Description(
        "an alarm is over",
        "`rule`, `version`, `due_at`, `counts`, one of `user_id`, `session_id`, `source`, `raised_at`, "
        "`reason` (`over`, `absent`, `ended`, `disabled`, `changed`)",
    ),
    "events.refused": Description(
        "requests to publish were refused, added up once a minute",
        "`door` (`http`), `reason` (`invalid`, `overloaded`), `refused` (number)",
    ),
    "searches.counted": Description(
        "searches were answered, added up once a minute", "`searches`, `without_memories` (numbers)"
    ),
    "console.logged_out": Description("a browser left, its cookie is refused", "`by`"),
    "endpoint.disabled": Description("an address failed for days", "`address`, `failing_since`, `error`"),
    "dispatch.dead": Description("a dispatch became a dead letter", "`dispatch_id`, `target`, `rule`, `reason`"),
    "approval.requested": Description(
        "an action awaits approval", "`dispatch_id`, `rule`, `version`, `target`, `params`, `expires_at`, `may_decide`"
    ),
    "approval.decided": Description(
        "an approval was decided, or expired",
        "`dispatch_id`, `rule`, `verdict` (`approved`, `rejected`, `expired`), `by`, `comment`",
    ),
}
"""Every type of `core.events.reserved.EMITTED`; `python -m bench.event_types` makes docs/event-types.md of it."""
