"""Table of the service's agents: queue, use of a model, exclusiveness, emitted events, time limit.

`workers.agents.table` binds each name to its function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

QUEUES: Final = ("io", "cpu")
"""`io` waits for models and other services, `cpu` computes; neither delays the other."""

ModelUse = Literal["opinion", "answer", "extraction"]
"""Use of a language model by an agent, if one is configured.

`opinion`: it may ask for a second opinion, and runs without a grant. `answer`: it starts only with a grant for one
answer. `extraction`: it reads the new messages of a session, starts only with a grant for all of them, and asks no
model if the extractor is set to `offline`.
"""


FIRST: Final = 0
"""Priority of what makes messages findable: a search must not wait for all that is still to be extracted."""

NORMAL: Final = 1


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Properties of an agent that can be known without its code.

    `does`: its work, in Markdown. `emits`: types of the events that follow from its work. `exclusive`: one dispatch
    at a time works on a session. `seconds`: time limit of one attempt, where it differs from that of its queue.
    `action`: the type of action that it carries out. `is_target`: whether an action `run_agent` may name it.
    `unlabelled`: it reads nothing that has audience labels, for what it writes is read by all. `priority`: of the
    ready dispatches of a tenant and queue, the lowest goes first.
    """

    does: str
    queue: Literal["cpu", "io"]
    emits: tuple[str, ...] = ()
    model: ModelUse | None = None
    exclusive: bool = False
    seconds: float | None = None
    action: Literal["emit", "notify", "webhook", "celery"] | None = None
    is_target: bool = True
    unlabelled: bool = False
    priority: int = NORMAL


WHOLE_USER: Final = 180
"""Seconds for an agent that compares all memories of a user, up to 10,000, with one another."""

WHOLE_HISTORY: Final = 600
"""Seconds for a rebuild, which reads everything a user ever said and produces one set of memories."""

KEEPER: Final = "memory_keeper"
"""The agent that keeps what `memory.requested` asks for."""

_MEMORY_EVENTS: Final = (
    "memory.created",
    "memory.updated",
    "memory.merged",
    "memory.superseded",
    "memory.conflicted",
    "memory.quarantined",
    "memory.write.important",
)

_EXTRACTOR: Final = AgentSpec(
    "extracts from the session's new messages", "cpu", _MEMORY_EVENTS, model="extraction", exclusive=True
)

AGENTS: Final[Mapping[str, AgentSpec]] = {
    "memory_extractor": _EXTRACTOR,
    "memory_consolidator": replace(_EXTRACTOR, does="the same, and links related memories"),
    KEEPER: AgentSpec("stores what `memory.requested` states", "cpu", _MEMORY_EVENTS, model="opinion"),
    "feedback_taker": AgentSpec("carries out `feedback.given`", "cpu", ("memory.updated", "memory.write.important")),
    "memory_forgetter": AgentSpec(
        "finds a request to forget, or carries it out",
        "cpu",
        ("memory.forget_requested", "memory.forgotten", "memory.erased"),
        model="opinion",
        seconds=WHOLE_USER,
    ),
    "memory_deduplicator": AgentSpec("merges a user's duplicates", "cpu", ("memory.merged",), seconds=WHOLE_USER),
    "memory_decay": AgentSpec("archives faded memories", "cpu", ("memory.archived",)),
    "memory_cleaner": AgentSpec(
        "archives expired and excess memories, drops combined ones", "cpu", ("memory.archived", "memory.erased")
    ),
    "memory_reinforcer": AgentSpec("counts a use of `memory_ids` (event or parameter)", "cpu"),
    "retention_sweeper": AgentSpec("applies retention", "cpu"),
    "memory_compressor": AgentSpec(
        "combines unused memories",
        "cpu",
        ("memory.created", "memory.compressed", "memory.archived"),
        model="answer",
        seconds=WHOLE_USER,
        unlabelled=True,
    ),
    "pattern_finder": AgentSpec(
        "derives patterns and knowledge",
        "cpu",
        ("memory.created", "memory.updated"),
        model="answer",
        seconds=WHOLE_USER,
        unlabelled=True,
    ),
    "profile_builder": AgentSpec("builds the profile of user or group", "cpu", ("profile.updated",), unlabelled=True),
    "unit_writer": AgentSpec("divides new messages into units", "cpu", unlabelled=True),
    "session_summarizer": AgentSpec(
        "summarizes a long session", "cpu", ("session.summarized",), model="answer", unlabelled=True
    ),
    "message_labeller": AgentSpec("gives a message the audience labels in `labels`", "cpu", ("memory.updated",)),
    "plan_tracker": AgentSpec("updates plans", "cpu", unlabelled=True),
    "session_closer": AgentSpec("ends idle sessions, deletes expired working memory", "cpu", ("session.ended",)),
    "episode_writer": AgentSpec(
        "writes an episode for each participant",
        "cpu",
        ("memory.created", "memory.updated", "memory.quarantined", "memory.write.important"),
        model="answer",
        unlabelled=True,
    ),
    "skill_learner": AgentSpec(
        "learns from skills and tasks",
        "cpu",
        ("memory.created", "memory.updated", "memory.quarantined"),
        unlabelled=True,
    ),
    "conflict_resolver": AgentSpec("decides a conflict (`keep`)", "cpu", ("memory.updated", "memory.superseded")),
    "mirror_writer": AgentSpec("updates Markdown files", "io", unlabelled=True),
    "mirror_reader": AgentSpec(
        "applies edits of those files",
        "io",
        (*_MEMORY_EVENTS, "memory.archived", "memory.restored", "mirror.conflicted", "mirror.refused"),
        unlabelled=True,
    ),
    "memory_rebuilder": AgentSpec("rebuilds a user's memories", "cpu", ("rebuild.ready",), seconds=WHOLE_HISTORY),
    "archive_restorer": AgentSpec(
        "restores an archive",
        "cpu",
        ("message.imported", "import.completed", "import.failed", "mirror.requested"),
        seconds=WHOLE_HISTORY,
    ),
    "event_replayer": AgentSpec("replays stored events", "cpu", ("replay.completed",)),
    "bulk_changer": AgentSpec(
        "runs a bulk job",
        "cpu",
        (
            "memory.archived",
            "memory.restored",
            "memory.updated",
            "memory.merged",
            "memory.erased",
            "memory.bulk_completed",
        ),
        seconds=WHOLE_USER,
    ),
    "knowledge_indexer": AgentSpec("indexes words, for every message without a rule", "cpu", priority=FIRST),
    "embedding_refresher": AgentSpec("computes missing vectors, after the indexer", "cpu", priority=FIRST),
    "embedding_switcher": AgentSpec(
        "computes vectors of the new model and switches", "cpu", ("embedding.changed",), seconds=WHOLE_USER
    ),
    "event_emitter": AgentSpec("`emit`", "io", action="emit", is_target=False),
    "notifier": AgentSpec(
        "`notify`, also as `run_agent` with its fields in `params`: "
        'sends `{"text", "channel", "event_id"}` or mail, or writes to the log',
        "io",
        action="notify",
    ),
    "webhook_sender": AgentSpec("`webhook`", "io", action="webhook", is_target=False),
    "task_sender": AgentSpec(
        "`celery`, on `IMPRINT_CELERY_BROKER_URL` or Imprint's broker", "io", action="celery", is_target=False
    ),
}

FOR_ACTION: Final[Mapping[str, str]] = {spec.action: name for name, spec in AGENTS.items() if spec.action}
"""The agent that carries out each type of action but `run_agent`."""

PRIORITIES: Final[Mapping[str, int]] = {name: spec.priority for name, spec in AGENTS.items()}
"""Priority of each agent; one of a plugin has `NORMAL`."""

EXTRACTORS: Final = frozenset(name for name, spec in AGENTS.items() if spec.model == "extraction")
"""Agents that read the new messages of a session."""

EXCLUSIVE: Final = frozenset(name for name, spec in AGENTS.items() if spec.exclusive)
"""Agents of which one at a time works on a session: two would read the same messages, and one in vain."""
