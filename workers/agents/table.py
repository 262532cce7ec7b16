"""The agents' functions by name; `core.agents` holds their other properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core import agents, plugins
from core.config import Settings
from workers.agents import (
    bulk,
    compression,
    expiry,
    extraction,
    forgetting,
    indexing,
    maintenance,
    mirror,
    notify,
    outbound,
    rebuild,
    reflection,
    replay,
    restoring,
    sessions,
    summaries,
)
from workers.dispatch.model import Job, Outcome
from workers.tools import Agent, AgentFunction, Tools

FUNCTIONS: Mapping[str, AgentFunction] = {
    "memory_extractor": extraction.extract_session,
    "memory_consolidator": extraction.extract_session,
    "memory_keeper": extraction.keep_requested,
    "feedback_taker": extraction.take_feedback,
    "memory_forgetter": forgetting.forget_on_request,
    "memory_deduplicator": maintenance.merge_duplicates,
    "memory_decay": maintenance.archive_faded,
    "memory_cleaner": maintenance.archive_surplus,
    "memory_reinforcer": maintenance.count_uses,
    "retention_sweeper": expiry.apply_retention,
    "memory_compressor": compression.compress_memories,
    "pattern_finder": compression.find_patterns,
    "profile_builder": reflection.build_profile,
    "unit_writer": summaries.write_units,
    "session_summarizer": summaries.summarize_session,
    "message_labeller": sessions.label_message,
    "plan_tracker": summaries.track_plan,
    "session_closer": sessions.close_idle,
    "episode_writer": reflection.write_episodes,
    "skill_learner": reflection.learn_skill,
    "conflict_resolver": reflection.resolve_conflict,
    "mirror_writer": mirror.write_mirror,
    "mirror_reader": mirror.read_mirror,
    "memory_rebuilder": rebuild.rebuild_memories,
    "archive_restorer": restoring.restore_archive,
    "event_replayer": replay.replay_events,
    "bulk_changer": bulk.change_in_bulk,
    "knowledge_indexer": indexing.index_messages,
    "embedding_refresher": indexing.refresh_embeddings,
    "embedding_switcher": indexing.change_model,
    "event_emitter": outbound.emit_event,
    "notifier": notify.notify,
    "webhook_sender": outbound.send_webhook,
    "task_sender": outbound.send_task,
}

AGENTS: Mapping[str, Agent] = {
    name: Agent(run, agents.AGENTS[name].queue, agents.AGENTS[name].seconds) for name, run in FUNCTIONS.items()
}

MODEL_USERS = frozenset(name for name, spec in agents.AGENTS.items() if spec.model is not None)
"""Agents that wait for a language model where one is configured, and then belong on the queue `io`."""

ADMITTED = frozenset(name for name, spec in agents.AGENTS.items() if spec.model in {"answer", "extraction"})
"""Agents that start only with a grant of requests and tokens, where a model is configured."""

UNLABELLED = frozenset(name for name, spec in agents.AGENTS.items() if spec.unlabelled)
"""Agents that read nothing that has audience labels."""

SECONDS: Mapping[str, float] = {"cpu": 60, "io": 120, "model": 180}
"""Time limit of one attempt by queue; `model`: of an agent that asks a language model.

On the queue `cpu` the slowest agents take seconds; an attempt of a minute is a fault or an attack. `io` waits for other
services with timeouts of their own. A model answers within IMPRINT_LLM_TIMEOUT_SECONDS, and is asked several times."""


def installed() -> dict[str, Agent]:
    """Return the service's agents and those of plug-ins. Misconfigured: a plug-in's agent cannot be loaded."""
    return {name: plugins.load(plugins.AGENTS, name) for name in plugins.names(plugins.AGENTS)} | dict(AGENTS)


def queues(settings: Settings) -> dict[str, str]:
    """Return the queue of each agent."""
    waits = settings.llm_base_url is not None
    return {name: "io" if waits and name in MODEL_USERS else agent.queue for name, agent in installed().items()}


def seconds(settings: Settings) -> dict[str, float]:
    """Return the time limit of one attempt of each agent: as set for it or its queue, else as the tables say."""
    given, defaults = settings.agent_seconds, {**SECONDS, **settings.agent_seconds}
    limits, agents_by_name = {}, installed()
    for name, queue in queues(settings).items():
        kind = "model" if settings.llm_base_url is not None and name in MODEL_USERS else queue
        own = getattr(agents_by_name[name], "seconds", None) or 0
        limits[name] = min(given.get(name) or max(own, defaults[kind]), settings.task_seconds)
    return limits


def bind(tools: Tools) -> dict[str, Callable[[Job], Outcome]]:
    """Return the agents' functions with their tools filled in."""

    def bound(agent: Agent, own: Tools) -> Callable[[Job], Outcome]:
        return lambda job: agent.run(own.of(job.embedding), job)

    unlabelled = tools.unlabelled
    return {name: bound(agent, unlabelled if name in UNLABELLED else tools) for name, agent in installed().items()}
