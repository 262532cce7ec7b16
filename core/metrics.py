"""All Prometheus metrics, as they are counted; `core.exposition` serves them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import partial
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder of the metrics of several processes; prometheus_client reads it on import."""

_IS_SHARED: Final = SHARED_FOLDER in os.environ

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
FRESH = (*SLOW, 1800, 3600, 21600, 86400)
BATCH = [2**power for power in range(11)]

_Latest: Final = partial(Gauge, multiprocess_mode="mostrecent")
"""A gauge of the whole installation: of several processes, the one that set it last counts."""

EVENTS_ACCEPTED = Counter("imprint_events_accepted_total", "Events committed to the log (`http`, `bus`)", ["door"])
EVENTS_DUPLICATE = Counter("imprint_events_duplicate_total", "Events that were already in the log", ["door"])
EVENTS_REFUSED = Counter(
    "imprint_events_refused_total",
    "Refused batches: `invalid`, `overloaded`, on the bus also `compressed`, `too_large`, `unauthorized`",
    ["door", "reason"],
)
EVENTS_ROUTED = Counter("imprint_events_routed_total", "Events that the rules have decided")

LOG_UNROUTED = _Latest("imprint_log_unrouted_events", "Events waiting for the router (counted up to 100,000)")
LOG_LAG = _Latest("imprint_log_lag_seconds", "Age of the oldest event waiting for the router")

DECISIONS = Counter(
    "imprint_decisions_total",
    "Decisions: `fired`, `gathered`, `held`; `rule` is a default rule, or `other`",
    ["rule", "verdict"],
)
REPLAYED = Counter("imprint_replayed_events_total", "Events decided by replays", ["mode"])
RULE_FAULTS = Counter("imprint_rule_faults_total", "Values of an unexpected type in conditions", ["operator"])

LOOP_FAILURES = Counter("imprint_loop_failures_total", "Failures of a background loop, which continues", ["loop"])

DISPATCHES = Counter(
    "imprint_dispatches_total", "Dispatches that reached a status; `running`: attempts", ["target", "queue", "status"]
)
DISPATCHES_OPEN = _Latest(
    "imprint_dispatches_open", "Dispatches now `pending`, `running`, `retrying` or `dead`", ["status"]
)
DISPATCH_OLDEST = _Latest("imprint_dispatch_oldest_pending_seconds", "Age of the oldest dispatch that has not started")
DISPATCHES_RESENT = Counter("imprint_dispatches_resent_total", "Dispatches that the sweep resent")
DISPATCHES_CLAIMABLE = _Latest(
    "imprint_dispatches_claimable", "Dispatches that a free worker would begin now", ["queue"]
)
DISPATCHES_LEASED = _Latest("imprint_dispatches_leased", "Dispatches that a worker holds by a valid lease")
DISPATCHES_RETRYING = _Latest("imprint_dispatches_retrying", "Dispatches that wait for the time of their next attempt")
DISPATCHES_DEAD = _Latest("imprint_dispatches_dead", "Dead letters")
DISPATCH_OVERRUNS = Counter("imprint_dispatch_overruns_total", "Attempts that exceeded their time limit", ["target"])
TENANTS_WAITING = _Latest("imprint_queue_tenants_waiting", "Tenants with waiting work", ["queue"])
WORKER_PROCESSES = _Latest("imprint_queue_processes", "Processes of the queue", ["queue"])
DISPATCH_WAIT = Histogram(
    "imprint_dispatch_wait_seconds", "Time from the decision to the start of work", ["target"], buckets=SLOW
)
DISPATCH_RUN = Histogram("imprint_dispatch_run_seconds", "Run time of an agent", ["target", "queue"], buckets=SLOW)
DISPATCHES_FAILED = Counter(
    "imprint_dispatches_failed_total",
    "Dispatches that became dead letters, by class of error",
    ["target", "queue", "exception"],
)
DISPATCHES_REJECTED = Counter(
    "imprint_dispatches_rejected_total", "Dispatches that a worker was sent and could not begin", ["target", "queue"]
)
WEBHOOK_DELIVERIES = Counter(
    "imprint_webhook_deliveries_total", "Requests of webhooks: `delivered`, `retried`, `refused`", ["outcome"]
)
WEBHOOK = Histogram("imprint_webhook_seconds", "Time until a webhook was answered or failed", buckets=SLOW)

SEARCHABLE = Histogram(
    "imprint_searchable_seconds",
    "Time from the acceptance of a message until its words are indexed",
    buckets=SLOW,
)
SEARCH = Histogram("imprint_search_seconds", "Time to answer a search", ["method"], buckets=FAST)
SEARCH_ARM = Histogram(
    "imprint_search_arm_seconds",
    "Time of each stage of a search: `names`, `embedding`, `fields`, `index`, "
    "`vector`, `lexical`, `documents`, `fusion`, `order`, `texts`",
    ["arm"],
    buckets=FAST,
)
SEARCHES_EMPTY = Counter("imprint_searches_empty_total", "Searches without a result", ["method"])
ANSWERS = Counter(
    "imprint_answers_total",
    "Questions by who answered them: `model` or `statement`; `answered` or `unknown`",
    ["by", "outcome"],
)
SEARCH_KEPT_BYTES = Gauge("imprint_search_kept_bytes", "Bytes of cached index rows", multiprocess_mode="livesum")
SEARCH_KEPT_USERS = Gauge(
    "imprint_search_kept_users", "Cached users, groups and combinations of both", multiprocess_mode="livesum"
)
SEARCH_READS = Counter(
    "imprint_search_reads_total",
    "Reads of index rows into the cache: `whole`, `delta`, `nothing`, `uncached` (the database answered)",
    ["kind"],
)
CONTEXTS = Counter("imprint_contexts_total", "Contexts built; `yes`: the token limit left something out", ["truncated"])
CONTEXT_TOKENS = Histogram(
    "imprint_context_tokens", "Tokens of a context", buckets=[2**power * 125 for power in range(11)]
)
CONTEXT_LEFT_OUT = Counter(
    "imprint_context_left_out_total",
    "Items that contexts left out: no `room`, `enough` others, `repetition`, little `gain` or `relevance`, `hidden`",
    ["reason"],
)
CACHE = Counter(
    "imprint_cache_lookups_total",
    "Lookups (`hit`, `miss`) of `vectors`, of index `rows` for searches, of recent `messages`",
    ["cache", "outcome"],
)
CACHES: Final = ("vectors", "rows", "messages")
for _cache in CACHES:
    for _outcome in ("hit", "miss"):
        CACHE.labels(_cache, _outcome)
EMBED = Histogram("imprint_embed_seconds", "Part of `imprint_search_seconds` spent on the query's vector", buckets=FAST)
VECTORS = Counter(
    "imprint_vectors_total",
    "Vectors of texts: `made` by the model, `cached` by the process, `stored` in the index",
    ["origin"],
)
for _origin in ("made", "cached", "stored"):
    VECTORS.labels(_origin)
EMBED_TEXTS = Histogram("imprint_embed_batch_texts", "Texts of one call of the embedding model", buckets=BATCH)
EMBED_BATCH = Histogram("imprint_embed_batch_seconds", "Time of one call of the embedding model", buckets=SLOW)
MCP = Histogram(
    "imprint_mcp_seconds",
    "Time to answer a tool call: `answered`, `refused`, `failed`",
    ["tool", "outcome"],
    buckets=FAST,
)
HTTP = Histogram("imprint_http_seconds", "Time to answer a request", ["method", "route", "status"], buckets=FAST)

MEMORIES = Counter(
    "imprint_memories_total",
    "Memories `added`, `confirmed`, `superseded`, `merged`, `replaced`, "
    "`disputed`, `archived` or `used`; candidates `ignored`",
    ["change"],
)
FRESHNESS = Histogram(
    "imprint_memory_freshness_seconds",
    "Time from the acceptance of the newest message that a memory quotes to the commit of the memory",
    buckets=FRESH,
)
WINDOWS_SKIPPED = Counter(
    "imprint_windows_skipped_total",
    "Windows of messages that an extraction did not read: `trivial`, `known`, `failed`, `postponed`",
    ["reason"],
)
EXPIRED = Counter(
    "imprint_expired_rows_total",
    "Rows that left by retention: `messages`, `tool_results`, "
    "`sessions`, `events`, `dispatches`, `decisions`, `queries`",
    ["kind"],
)
MODEL_CALLS = Counter(
    "imprint_model_calls_total",
    "Calls: `ok`, `misshapen`, `truncated`, `declined`, `filtered`, "
    "`unsupported`, `refused`; `+estimated`: without its own count of tokens",
    ["model", "outcome"],
)
MODEL_TOKENS = Counter("imprint_model_tokens_total", "Tokens: `input`, `output`", ["model", "direction"])


ADMISSIONS = Counter(
    "imprint_model_admissions_total",
    "Admissions to the model: `admitted`, `probe`, or waiting for `requests`, `tokens`, `breaker`, `budget`",
    ["outcome"],
)

BREAKER_OPEN = _Latest("imprint_model_breaker_open", "1: calls are suspended", ["provider"])
BUDGET_LEFT = _Latest(
    "imprint_model_budget_left",
    "Smallest share of a day's budget that any tenant has left, 0 to 1: `tokens`, `cost`",
    ["unit"],
)

CLOCK_LAG = _Latest("imprint_clock_lag_seconds", "Seconds by which the last schedule fired late")
CLOCK_SKEW = _Latest("imprint_clock_skew_seconds", "Time of the clock's host minus time of the database")

DATABASE_CONNECTIONS = Gauge(
    "imprint_database_connections",
    "Connections of the processes' pools: `used` at once at most within a second, and `idle` beside them",
    ["state"],
    multiprocess_mode="livesum",
)
DATABASE_WAIT = Histogram("imprint_database_wait_seconds", "Time to get a connection of a pool", buckets=FAST)
REPLICA_READS = Counter(
    "imprint_replica_reads_total",
    "Reads that a replica may answer: by it, or by the primary, because it is behind or unfit, or has failed",
    ["outcome"],
)
REPLICA_FIT = Gauge("imprint_replica_fit", "Whether the replica may answer", multiprocess_mode="livemin")
REPLICA_LAG = Gauge(
    "imprint_replica_lag_seconds", "How far the replica is behind, in steps of a look", multiprocess_mode="livemax"
)
TABLE_BYTES = _Latest("imprint_table_bytes", "Bytes of a table with its indexes", ["table"])
TABLE_DEAD_TUPLES = _Latest("imprint_table_dead_tuples", "Dead rows of a table as PostgreSQL estimates them", ["table"])
OLDEST_SNAPSHOT = _Latest(
    "imprint_oldest_snapshot_seconds", "Age of the oldest transaction or replication slot that keeps dead rows"
)
PROCESS_MEMORY = Gauge(
    "imprint_process_memory_bytes",
    "Memory of each process; shared pages are divided",
    ["pid"],
    multiprocess_mode="liveall",
)

CELERY_WORKER_UP = _Latest(
    "celery_worker_up",
    "1: the worker has a current heartbeat; 0: it had one within a day, and was not stopped",
    ["hostname"],
)
CELERY_TASKS_ACTIVE = Gauge(
    "celery_worker_tasks_active", "Dispatches that a worker runs now", ["hostname"], multiprocess_mode="livesum"
)
CELERY_QUEUE_LENGTH = _Latest("celery_queue_length", "Equal to `imprint_dispatches_claimable`", ["queue_name"])


def replace(gauge: Gauge, values: Mapping[str, float]) -> None:
    """Set a gauge with one label for each of its values, and drop those that are not among them.

    Nothing can be dropped from a file of the shared folder: there a value that has gone is none, which is not shown.
    """
    current = {sample.labels[name] for family in gauge.collect() for sample in family.samples for name in sample.labels}
    for value in current.difference(values):
        if _IS_SHARED:
            gauge.labels(value).set(math.nan)
        else:
            gauge.remove(value)
    for value, number in values.items():
        gauge.labels(value).set(number)


def hit_shares() -> dict[str, float | None]:
    """Return the share of lookups that each cache of this process answered, to two decimals; None: nobody asked it."""
    counts = {
        (sample.labels["cache"], sample.labels["outcome"]): sample.value
        for family in CACHE.collect()
        for sample in family.samples
        if sample.name.endswith("_total")
    }
    totals = {cache: counts[cache, "hit"] + counts[cache, "miss"] for cache in CACHES}
    return {cache: round(counts[cache, "hit"] / total, 2) if total else None for cache, total in totals.items()}
