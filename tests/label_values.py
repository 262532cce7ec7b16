"""Where the values of each label come from: a set that this service knows, so that series stay as few as it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from http import HTTPMethod
from typing import Final, get_args

from api.mcp.tools import TOOLS
from core import agents, metrics
from core.agents import QUEUES
from core.context.selection import OmissionReason
from core.dispatches import replays
from core.events import expiries
from core.extraction.window_filter import SkipReason
from core.index.resident.cache import READS
from core.inference.token_bucket import Verdict
from core.memory import writer
from core.search.question import Method
from core.storage import replica
from core.storage.tables import metadata
from core.types import DispatchStatus
from rules.expressions.operators import OPERATORS
from rules.registry import defaults
from rules.registry.defaults import NAMES as DEFAULT_RULES
from workers.agents.extraction import UNREAD
from workers.dispatch import failures
from workers.tools import COUNTED

Values = Collection[str] | Callable[[str], bool]
"""A closed set; or a check, where the values are this service's own and too many to list."""

TARGETS: Final = {*agents.AGENTS, "bus", "rules", "hop_limit"}
"""Agents, and what dead letters without an agent name."""

STAGES: Final = "names embedding fields index vector lexical documents fusion order texts".split()
MODEL_OUTCOMES: Final = "ok misshapen truncated declined filtered unsupported refused".split()
LOOPS: Final = {
    "router", "clock", "bus", "lease", "heartbeat", "recalls", "doorbell", "listener", "cache sweeper",
    "mirror watcher", "occurrences", "replica",
}  # fmt: skip


def is_template(route: str) -> bool:
    """Whether a route is a path of the program, in which names stand for what callers send."""
    return route == "none" or re.fullmatch(r"(/([a-z0-9_.-]{1,40}|{\w+(:path)?}))+/?|/|", route) is not None


def is_node(value: str) -> bool:
    return re.fullmatch(r"(cpu|io|all)@[\w.-]+", value) is not None


OF_ALL: Final[Mapping[str, Values]] = {
    "door": {"http", "bus"},
    "target": TARGETS,
    "name": TARGETS,
    "queue": QUEUES,
    "queue_name": QUEUES,
    "exception": failures.CLASSES,
    "loop": LOOPS,
    "operator": OPERATORS,
    "rule": {*DEFAULT_RULES, defaults.OTHER},
    "verdict": {"fired", "gathered", "held"},
    "mode": get_args(replays.Mode),
    "truncated": {"yes", "no"},
    "by": {"model", "statement"},
    "arm": STAGES,
    "cache": metrics.CACHES,
    "origin": {"made", "cached", "stored"},
    "change": {*COUNTED, *writer.COUNTED.values()},
    "tool": TOOLS,
    "route": is_template,
    "direction": {"input", "output"},
    "unit": {"tokens", "cost"},
    "state": {"used", "idle"},
    "table": metadata.tables,
    "model": bool,
    "provider": lambda value: "/" in value,
    "hostname": is_node,
    "pid": str.isdigit,
}
"""Values by label. `model` and `provider` are those of the settings, hosts those of the workers."""

OF_ONE: Final[Mapping[tuple[str, str], Values]] = {
    ("imprint_events_refused", "reason"): {"invalid", "overloaded", "compressed", "too_large", "unauthorized"},
    ("imprint_windows_skipped", "reason"): {*SkipReason, *UNREAD},
    ("imprint_context_left_out", "reason"): get_args(OmissionReason),
    ("imprint_dispatches", "status"): {*DispatchStatus},
    ("imprint_dispatches_open", "status"): {"pending", "running", "retrying", "dead"},
    ("imprint_http_seconds", "status"): str.isdigit,
    ("imprint_http_seconds", "method"): {*HTTPMethod},
    ("imprint_search_seconds", "method"): get_args(Method),
    ("imprint_searches_empty", "method"): get_args(Method),
    ("imprint_search_reads", "kind"): READS,
    ("imprint_expired_rows", "kind"): get_args(expiries.Kind),
    ("imprint_answers", "outcome"): {"answered", "unknown"},
    ("imprint_replica_reads", "outcome"): replica.OUTCOMES,
    ("imprint_mcp_seconds", "outcome"): {"answered", "refused", "failed"},
    ("imprint_model_calls", "outcome"): {name + mark for name in MODEL_OUTCOMES for mark in ("", "+estimated")},
    ("imprint_model_admissions", "outcome"): {*get_args(Verdict), "budget"},
    ("imprint_webhook_deliveries", "outcome"): {"delivered", "retried", "refused"},
    ("imprint_cache_lookups", "outcome"): {"hit", "miss"},
}
"""Values by metric and label, where a label has others elsewhere."""


def values_of(metric: str, label: str) -> Values:
    """Return what a label of a metric may say. KeyError: it has no closed set."""
    return OF_ONE.get((metric, label)) or OF_ALL[label]


def is_known(metric: str, label: str, value: str) -> bool:
    values = values_of(metric, label)
    return values(value) if callable(values) else value in values
