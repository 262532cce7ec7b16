"""The agents: one table says who there is and on which queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from core import plugins
from core.config import Settings
from core.errors import Never
from core.events import log
from core.events.log import Cause, Emission
from core.storage.db import Tx
from core.types import Json
from rules.document import reserved_types
from workers.agents import (
    compression,
    extraction,
    indexing,
    maintenance,
    mirror,
    notify,
    outbound,
    rebuild,
    reflection,
    sessions,
    summaries,
    units,
)
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools


def emit_event(_tools: Tools, job: Job) -> Outcome:
    """Publish the event that a rule's `emit` action describes, in the chain of its cause."""
    emission = Emission(job.params["event_type"], job.params.get("payload") or {})
    if emission.event_type in reserved_types.TYPES:  # A rule may have been saved when that was not refused yet.
        raise Never(f"`{emission.event_type}`: {reserved_types.refusal(emission.event_type)}.")

    def write(tx: Tx) -> Json:
        log.emit(tx, job.tenant_id, Cause(job.event, job.id), [emission])
        return {"event_type": emission.event_type}

    return Outcome(write)


@dataclass(frozen=True, slots=True)
class Agent:
    """A named unit of work: its function and its queue; `rules.document.targets` lists the events it emits.

    `seconds`: how long one attempt may take, where that is not what its queue allows.
    """

    run: Callable[[Tools, Job], Outcome]
    queue: str
    seconds: float | None = None


SECONDS: Mapping[str, float] = {"cpu": 60, "io": 120, "model": 180}
"""How long one attempt of an agent may take, by its queue; `model`: of an agent that asks a language model.

On the queue `cpu` the slowest agents take seconds; an attempt of a minute is a fault or an attack. `io` waits for other
services with timeouts of their own. A model answers within IMPRINT_LLM_TIMEOUT_SECONDS, and is asked several times."""

WHOLE_USER: Final = 180
"""Seconds for an agent that compares all memories of a user, up to 10,000, with one another."""

WHOLE_HISTORY: Final = 600
"""Seconds for a rebuild, which reads all that a user ever said: it is one piece of work, and its result one set."""


AGENTS: Mapping[str, Agent] = {
    "memory_extractor": Agent(extraction.extract_session, "cpu"),
    "memory_consolidator": Agent(extraction.extract_session, "cpu"),
    "memory_deduplicator": Agent(maintenance.merge_duplicates, "cpu", WHOLE_USER),
    "memory_decay": Agent(maintenance.archive_faded, "cpu"),
    "memory_cleaner": Agent(maintenance.archive_surplus, "cpu"),
    "memory_reinforcer": Agent(maintenance.count_uses, "cpu"),
    "memory_compressor": Agent(compression.compress_memories, "cpu", WHOLE_USER),
    "pattern_finder": Agent(compression.find_patterns, "cpu", WHOLE_USER),
    "profile_builder": Agent(reflection.build_profile, "cpu"),
    "unit_writer": Agent(units.write_units, "cpu"),
    "session_summarizer": Agent(summaries.summarize_session, "cpu"),
    "plan_tracker": Agent(summaries.track_plan, "cpu"),
    "session_closer": Agent(sessions.close_idle, "cpu"),
    "episode_writer": Agent(reflection.write_episodes, "cpu"),
    "skill_learner": Agent(reflection.learn_skill, "cpu"),
    "conflict_resolver": Agent(reflection.resolve_conflict, "cpu"),
    "mirror_writer": Agent(mirror.write_mirror, "io"),
    "mirror_reader": Agent(mirror.read_mirror, "io"),
    "memory_rebuilder": Agent(rebuild.rebuild_memories, "cpu", WHOLE_HISTORY),
    "knowledge_indexer": Agent(indexing.index_messages, "cpu"),
    "embedding_refresher": Agent(indexing.refresh_embeddings, "cpu"),
    "event_emitter": Agent(emit_event, "io"),
    "notifier": Agent(notify.notify, "io"),
    "webhook_sender": Agent(outbound.send_webhook, "io"),
    "task_sender": Agent(outbound.send_task, "io"),
}

EXTRACTORS = frozenset({"memory_extractor", "memory_consolidator"})

MODEL_USERS = EXTRACTORS | {"session_summarizer", "episode_writer", "memory_compressor", "pattern_finder"}
"""Agents that wait for a language model where one is configured, and then belong on the queue for waiting."""

ALONE = EXTRACTORS
"""Agents of which one at a time works on a session: two would think about the same messages, and one in vain."""


def installed() -> dict[str, Agent]:
    """These agents and those that other packages bring. Misconfigured: one of those cannot be had."""
    return {name: plugins.named(plugins.AGENTS, name) for name in plugins.names(plugins.AGENTS)} | dict(AGENTS)


def queues(settings: Settings) -> dict[str, str]:
    """On which queue each agent works."""
    waits = settings.llm_base_url is not None
    return {name: "io" if waits and name in MODEL_USERS else agent.queue for name, agent in installed().items()}


def seconds(settings: Settings) -> dict[str, float]:
    """How long one attempt of each agent may take: as set for it or its queue, else as the tables above say."""
    given, defaults = settings.agent_seconds, {**SECONDS, **settings.agent_seconds}
    found, brought = {}, installed()
    for name, queue in queues(settings).items():
        kind = "model" if settings.llm_base_url is not None and name in MODEL_USERS else queue
        own = getattr(brought[name], "seconds", None) or 0
        found[name] = min(given.get(name) or max(own, defaults[kind]), settings.task_seconds)
    return found


def bound(tools: Tools) -> dict[str, Callable[[Job], Outcome]]:
    """The agents, ready to run with these tools."""
    return {name: partial(_granted, agent.run, tools) for name, agent in installed().items()}


def _granted(run: Callable[[Tools, Job], Outcome], tools: Tools, job: Job) -> Outcome:
    """Run with a model that is paid from what the job was granted."""
    model = tools.model.under(job.grant) if tools.model else None
    return run(replace(tools, model=model), job)
