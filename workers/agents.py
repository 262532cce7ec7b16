"""The agents: one table says who there is and on which queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from core import events, plugins
from core.config import Settings
from core.db import Tx
from core.events import Cause, Emission
from core.types import Json
from workers import (
    compressing,
    learning,
    mirroring,
    notifying,
    outside,
    reading,
    rebuilding,
    sessions,
    summarising,
    tending,
    units,
)
from workers.ledger import Job, Outcome
from workers.tools import Tools


def emit_event(_tools: Tools, job: Job) -> Outcome:
    """Publish the event that a rule's `emit` action describes, in the chain of its cause."""
    emission = Emission(job.params["event_type"], job.params.get("payload") or {})

    def write(tx: Tx) -> Json:
        events.emit(tx, job.tenant_id, Cause(job.event, job.id), [emission])
        return {"event_type": emission.event_type}

    return Outcome(write)


@dataclass(frozen=True, slots=True)
class Agent:
    """A named piece of work: what it does, and where it queues. `rules.targets` says which events follow from it."""

    run: Callable[[Tools, Job], Outcome]
    queue: str


AGENTS: Mapping[str, Agent] = {
    "memory_extractor": Agent(reading.extract_session, "cpu"),
    "memory_consolidator": Agent(reading.extract_session, "cpu"),
    "memory_deduplicator": Agent(tending.merge_duplicates, "cpu"),
    "memory_decay": Agent(tending.archive_faded, "cpu"),
    "memory_cleaner": Agent(tending.archive_surplus, "cpu"),
    "memory_reinforcer": Agent(tending.count_uses, "cpu"),
    "memory_compressor": Agent(compressing.compress_memories, "cpu"),
    "pattern_finder": Agent(compressing.find_patterns, "cpu"),
    "profile_builder": Agent(learning.build_profile, "cpu"),
    "unit_writer": Agent(units.write_units, "cpu"),
    "session_summarizer": Agent(summarising.summarize_session, "cpu"),
    "plan_tracker": Agent(summarising.track_plan, "cpu"),
    "session_closer": Agent(sessions.close_idle, "cpu"),
    "episode_writer": Agent(learning.write_episodes, "cpu"),
    "skill_learner": Agent(learning.learn_skill, "cpu"),
    "conflict_resolver": Agent(learning.resolve_conflict, "cpu"),
    "mirror_writer": Agent(mirroring.write_mirror, "io"),
    "mirror_reader": Agent(mirroring.read_mirror, "io"),
    "memory_rebuilder": Agent(rebuilding.rebuild_memories, "cpu"),
    "knowledge_indexer": Agent(reading.index_messages, "cpu"),
    "embedding_refresher": Agent(reading.refresh_embeddings, "cpu"),
    "event_emitter": Agent(emit_event, "io"),
    "notifier": Agent(notifying.notify, "io"),
    "webhook_sender": Agent(outside.send_webhook, "io"),
    "task_sender": Agent(outside.send_task, "io"),
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


def bound(tools: Tools) -> dict[str, Callable[[Job], Outcome]]:
    """The agents, ready to run with these tools."""
    return {name: partial(_granted, agent.run, tools) for name, agent in installed().items()}


def _granted(run: Callable[[Tools, Job], Outcome], tools: Tools, job: Job) -> Outcome:
    """Run with a model that is paid from what the job was granted."""
    model = tools.model.under(job.grant) if tools.model else None
    return run(replace(tools, model=model), job)
