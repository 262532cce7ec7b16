"""The six dashboards. `python -m deploy.grafana.generate` writes them as JSON.

A text in the list of panels begins a row. Queries are PromQL by the legend of their series.
"""

from __future__ import annotations

from typing import Final

from deploy.grafana.model import Dashboard, Lines, Stat
from deploy.grafana.queries import cost, growth, mean, percentiles, quantile, rate, read, series, share, total

# A panel's title and unit stand on one line, and so do its limits.
# fmt: off

OVERVIEW: Final = Dashboard(
    "overview",
    "Overview",
    "Whether the service does what it promises, and where to look if not.",
    (
        "Now",
        Stat(
            "Alerts", "none",
            "Alerts that fire. Bad: any. Each alert's runbook says what to do.",
            {"firing": 'count(ALERTS{alertname=~"Imprint.+",alertstate="firing"}) or vector(0)'},
            bad=1, width=4,
        ),
        Stat(
            "Processes that answer", "none",
            "Targets of each job that were scraped. Bad: 0, nobody does this work.",
            {"{{job}}": 'sum by (job) (up{job=~"imprint-.+"})'},
            bad=1, low=True, width=8,
        ),
        Stat(
            "Log lag", "s",
            "Age of the oldest accepted event that no rule has seen. Bad: above 30 s, the router is down or behind.",
            {"oldest event": read("imprint_log_lag_seconds")},
            warn=5, bad=30, width=4,
        ),
        Stat(
            "Oldest dispatch not begun", "s",
            "Age of the oldest pending dispatch. Bad: above 300 s, workers are missing or too few.",
            {"oldest dispatch": read("imprint_dispatch_oldest_pending_seconds")},
            warn=30, bad=300, width=4,
        ),
        Stat(
            "Dead letters", "none",
            "Dispatches that were given up and wait for a person. Bad: any that nobody knows of.",
            {"dead": read("imprint_dispatches_dead")},
            warn=1, width=4,
        ),
        "Error budgets",
        Stat(
            "Budget left of 30 days", "percentunit",
            "Share of the failures of 30 days that objectives allow and that have not happened yet. Bad: below 0, the "
            "objective is missed.",
            {"{{slo}}": "1 - imprint:slo_burn:ratio30d"},
            warn=0.5, bad=0, low=True, width=6,
        ),
        Lines(
            "Burn rate", "none",
            "Failures as a multiple of what the objective allows; 1 spends the budget in exactly 30 days. Bad: above "
            "6 over 6 h, or above 14.4 over 1 h.",
            {"{{slo}} 1 h": "imprint:slo_burn:ratio1h", "{{slo}} 6 h": "imprint:slo_burn:ratio6h"},
            warn=1, bad=6, width=9,
        ),
        Lines(
            "Failures of objectives", "percentunit",
            "Share of requests that failed with 5xx or took longer than 0.5 s, in 5 minutes. Bad: above 0.1 % of "
            "accepts, 1 % of searches.",
            {"{{slo}}": "imprint:slo_failures:rate5m / imprint:slo_requests:rate5m"},
            warn=0.001, bad=0.01, width=9,
        ),
        "Requests",
        Lines(
            "Accepted and duplicate events", "eps",
            "Events committed to the log each second, and those that were already in it. Bad: a fall to 0 that no "
            "caller explains; many duplicates mean that callers repeat because answers are slow.",
            {
                "accepted by {{door}}": rate("imprint_events_accepted_total", "door"),
                "duplicate by {{door}}": rate("imprint_events_duplicate_total", "door"),
            },
        ),
        Lines(
            "Refused batches", "ops",
            "Batches of events refused each second. Bad: `overloaded` for minutes, the backlog of a tenant is full.",
            {"{{door}}: {{reason}}": rate("imprint_events_refused_total", "door, reason")},
        ),
        Lines(
            "Requests by status", "reqps",
            "Requests each second. Bad: 5xx at all, 429 for minutes.",
            {"{{status}}": rate("imprint_http_seconds_count", "status")},
            stacked=True,
        ),
        Lines(
            "Time of requests", "s",
            "Time within which 95 of 100 requests are answered, without those that wait on purpose (settle, stream). "
            "Bad: above 0.5 s.",
            {"{{route}} p95": quantile(0.95, "imprint_http_seconds", "route", route="!/v1/settle|/v1/stream")},
            bad=0.5,
        ),
        Lines(
            "Message to memory", "s",
            "From the acceptance of a message to the commit of the memory that quotes it, with a rule's wait for more "
            "messages. Bad: p95 above 30 minutes.",
            percentiles("imprint_memory_freshness_seconds"),
            bad=1800,
        ),
        Lines(
            "Searches", "s",
            "Time to answer a search. Bad: p95 above 0.5 s.",
            percentiles("imprint_search_seconds", "method"),
            bad=0.5,
        ),
        "Processes",
        Lines(
            "Memory", "bytes",
            "Memory of each process; shared pages are divided. Bad: steady growth over hours.",
            {"{{job}} {{instance}} {{pid}}": total("imprint_process_memory_bytes", "job, instance, pid")},
        ),
        Lines(
            "Starts and silences", "none",
            "How often a process started or stopped answering within 30 minutes. Bad: more than 3.",
            {
                "{{job}} {{instance}} starts": f"changes({series('process_start_time_seconds')}[30m])",
                "{{job}} {{instance}} up or down": f"changes({series('up')}[30m])",
            },
            bad=3,
        ),
        Lines(
            "Failures of loops", "none",
            "Failures of background loops within 5 minutes; a loop goes on. Bad: any that repeat.",
            {"{{loop}}": growth("imprint_loop_failures_total", "5m", "loop")},
            warn=1,
        ),
    ),
)

RULES: Final = Dashboard(
    "rules",
    "Rules",
    "From accepted events to decisions and the dispatches that follow.",
    (
        "Routing",
        Lines(
            "Waiting for the router", "none",
            "Events without a decision, counted up to 100,000. Bad: growth for minutes.",
            {"waiting": read("imprint_log_unrouted_events")},
        ),
        Lines(
            "Routed events", "eps",
            "Events that the rules have decided each second. Bad: less than is accepted, for minutes.",
            {"routed": rate("imprint_events_routed_total"), "accepted": rate("imprint_events_accepted_total")},
        ),
        Lines(
            "Lag of the log", "s",
            "Age of the oldest event without a decision. Bad: above 30 s.",
            {"oldest event": read("imprint_log_lag_seconds")},
            warn=5, bad=30,
        ),
        "Decisions",
        Lines(
            "Decisions", "ops",
            "Verdicts on events that matched: fired, gathered by a flow, held back. Bad: a rule that was always there "
            "and has stopped.",
            {"{{rule}}: {{verdict}}": rate("imprint_decisions_total", "rule, verdict")},
            stacked=True, width=12,
        ),
        Lines(
            "Share that fires", "percentunit",
            "Share of matching events on which a rule fired. Bad: a sudden change after an edit of the rule.",
            {
                "{{rule}}": share(
                    rate("imprint_decisions_total", "rule", verdict="fired"), rate("imprint_decisions_total", "rule")
                ),
            },
            highest=1, width=12,
        ),
        Lines(
            "Values of the wrong type", "ops",
            "Values that a condition could not compare. Bad: any that stay; a publisher has changed its payload, or a "
            "rule compares the wrong field.",
            {"{{operator}}": rate("imprint_rule_faults_total", "operator")},
        ),
        Lines(
            "Replays", "eps",
            "Stored events on which replays and backtests have decided. Bad: hours of it that nobody has started.",
            {"{{mode}}": rate("imprint_replayed_events_total", "mode")},
        ),
        Lines(
            "What follows", "ops",
            "Dispatches by target and the status that they reached. Bad: `pending` above `done` for long, or `dead`.",
            {"{{target}}: {{status}}": rate("imprint_dispatches_total", "target, status")},
        ),
        "Schedules",
        Lines(
            "Lateness of schedules", "s",
            "By how much the last schedule fired late. Bad: above 60 s, the clock is down or the database is slow.",
            {"late": read("imprint_clock_lag_seconds")},
            warn=10, bad=60,
        ),
        Lines(
            "Skew of clocks", "s",
            "Difference between the time of the clock's host and that of the database. Bad: above 2 s, leases and "
            "retries are misjudged.",
            {"skew": "max(abs(imprint_clock_skew_seconds))"},
            warn=1, bad=2,
        ),
    ),
)

WORKERS: Final = Dashboard(
    "workers",
    "Workers and queues",
    "Dispatches that wait, run, fail and leave, and the database beneath them.",
    (
        "Queues",
        Lines(
            "Claimable dispatches", "none",
            "Dispatches that a free worker would begin now. Bad: growth for 15 minutes, add workers to the queue.",
            {
                "{{queue}}": read("imprint_dispatches_claimable", "queue"),
                "{{queue_name}} as Celery's dashboards see it": read("celery_queue_length", "queue_name"),
            },
        ),
        Lines(
            "Open dispatches", "none",
            "Dispatches by status. Bad: `retrying` or `dead` that grow.",
            {"{{status}}": read("imprint_dispatches_open", "status")},
        ),
        Lines(
            "Held and put off", "none",
            "Dispatches held by a valid lease, and those that wait for their next attempt. Bad: leased above the "
            "number of worker processes for longer than a lease.",
            {"leased": read("imprint_dispatches_leased"), "retrying": read("imprint_dispatches_retrying")},
        ),
        Lines(
            "Wait for a worker", "s",
            "From decision to start of work. Bad: p95 above 30 s.",
            percentiles("imprint_dispatch_wait_seconds", "target"),
            warn=30, bad=300,
        ),
        Lines(
            "Run time", "s",
            "How long an agent works on a dispatch. Bad: near its time limit.",
            percentiles("imprint_dispatch_run_seconds", "target"),
        ),
        Lines(
            "Turns of tenants", "none",
            "Tenants with waiting work, and processes that serve the queue. Bad: 0 processes.",
            {
                "tenants waiting: {{queue}}": read("imprint_queue_tenants_waiting", "queue"),
                "processes: {{queue}}": read("imprint_queue_processes", "queue"),
            },
        ),
        "Failures",
        Lines(
            "Dead letters by error", "none",
            "Dispatches given up within 15 minutes, by class of error. Bad: any; one class on many targets is a "
            "service that is down.",
            {"{{target}}: {{exception}}": growth("imprint_dispatches_failed_total", "15m", "target, exception")},
            warn=1,
        ),
        Lines(
            "Sent again, refused, too long", "none",
            "Within 5 minutes: dispatches that the sweep sent again (a lost worker or broker), that a worker could "
            "not begin, and attempts ended by their time limit. Bad: any that repeat.",
            {
                "sent again": growth("imprint_dispatches_resent_total", "5m"),
                "not begun: {{target}}": growth("imprint_dispatches_rejected_total", "5m", "target"),
                "too long: {{target}}": growth("imprint_dispatch_overruns_total", "5m", "target"),
            },
        ),
        Lines(
            "Webhooks", "ops",
            "Requests of webhooks by outcome. Bad: more than one in five that is not delivered.",
            {"{{outcome}}": rate("imprint_webhook_deliveries_total", "outcome")},
            stacked=True,
        ),
        Lines(
            "Time of webhooks", "s",
            "Time until a receiver answered or the request failed. Bad: p95 near IMPRINT_WEBHOOK_TIMEOUT_SECONDS.",
            percentiles("imprint_webhook_seconds"),
            bad=10,
        ),
        "Workers",
        Lines(
            "Workers", "none",
            "1: the worker has a current heartbeat. Bad: 0, it has died or hangs.",
            {"{{hostname}}": "max by (hostname) (celery_worker_up)"},
            bad=1, low=True,
        ),
        Lines(
            "Tasks in work", "none",
            "Dispatches that a worker runs now. Bad: 0 while a queue grows.",
            {"{{hostname}}": "sum by (hostname) (celery_worker_tasks_active)"},
        ),
        "Database",
        Lines(
            "Connections", "none",
            "Connections of the pools: used at once, and idle beside them. "
            "Bad: used near IMPRINT_DATABASE_POOL for each process.",
            {"{{job}} {{state}}": total("imprint_database_connections", "job, state")},
            stacked=True,
        ),
        Lines(
            "Wait for a connection", "s",
            "Time to get a connection from the pool. Bad: p95 above 0.1 s, raise IMPRINT_DATABASE_POOL or find what "
            "holds transactions open.",
            percentiles("imprint_database_wait_seconds"),
            bad=0.1,
        ),
        Lines(
            "Reads of the replica", "ops",
            "What a replica may answer, by who did: it, or the primary. Bad: `unfit` or `failed` above 0, the replica "
            "is away; `behind` for most, it lags.",
            {"{{outcome}}": rate("imprint_replica_reads_total", "outcome")},
            stacked=True,
        ),
        Lines(
            "Lag of the replica", "s",
            "How far the replica is behind, and whether it may answer (1). Bad: above 10 s, it is not read from.",
            {
                "lag": "max(imprint_replica_lag_seconds)",
                "fit": "min(imprint_replica_fit)",
            },
            bad=10,
        ),
        Lines(
            "Oldest snapshot", "s",
            "Age of the oldest transaction that keeps dead rows. Bad: above 15 minutes, tables grow and claims slow.",
            {"oldest": read("imprint_oldest_snapshot_seconds")},
            warn=300, bad=900,
        ),
        Lines(
            "Dead rows", "none",
            "Dead rows of each table as PostgreSQL estimates them. Bad: growth that autovacuum does not end.",
            {"{{table}}": f"topk(8, {read('imprint_table_dead_tuples', 'table')})"},
        ),
    ),
)

MEMORIES: Final = Dashboard(
    "memories",
    "Memory quality and growth",
    "What becomes of messages, how soon, and how much is stored.",
    (
        "Quality",
        Lines(
            "Changes to memories", "ops",
            "Changes each second. Bad: only `ignored`; extraction finds nothing new, or screens too much.",
            {"{{change}}": rate("imprint_memories_total", "change")},
            stacked=True,
        ),
        Lines(
            "Repeated, replaced, disputed", "percentunit",
            "Share of changes that confirm or merge what is known, that supersede it, and that contradict it. Bad: "
            "disputed above 5 %; confirmed near 0 with users who repeat themselves.",
            {
                name: share(rate("imprint_memories_total", change=changes), rate("imprint_memories_total"))
                for name, changes in (
                    ("repeated", "confirmed|merged"),
                    ("replaced", "superseded|replaced"),
                    ("disputed", "disputed"),
                    ("ignored", "ignored"),
                )
            },
            highest=1,
        ),
        Lines(
            "Windows without extraction", "ops",
            "Windows of messages that an extraction did not read, by reason. Bad: a reason that begins to dominate.",
            {"{{reason}}": rate("imprint_windows_skipped_total", "reason")},
            stacked=True,
        ),
        "Freshness",
        Lines(
            "Message to memory", "s",
            "From the acceptance of the newest message that a memory quotes to the commit of the memory. Bad: p95 "
            "above 30 minutes.",
            percentiles("imprint_memory_freshness_seconds"),
            bad=1800,
        ),
        Lines(
            "Message to index", "s",
            "From the acceptance of a message until its words are indexed; until then searches scan it directly. Bad: "
            "p95 above 30 s.",
            percentiles("imprint_searchable_seconds"),
            bad=30,
        ),
        "Growth",
        Lines(
            "Size of the tables", "bytes",
            "Bytes of the largest tables with their indexes. Bad: growth that retention does not explain.",
            {"{{table}}": f"topk(8, {read('imprint_table_bytes', 'table')})"},
            stacked=True,
        ),
        Lines(
            "Growth of the database", "bytes",
            "Bytes that all tables gain in a day, at the rate of the last 6 hours. Bad: the free disk divided by it "
            "is less than 14 days.",
            {"a day": "86400 * sum(deriv(imprint:table_bytes:sum[6h]))"},
            low=True,
        ),
        Lines(
            "Rows that leave", "ops",
            "Rows removed because their time of retention was over. Bad: 0 for days with retention configured.",
            {"{{kind}}": rate("imprint_expired_rows_total", "kind")},
            stacked=True,
        ),
    ),
)

RETRIEVAL: Final = Dashboard(
    "retrieval",
    "Retrieval and context",
    "How soon and how well questions are answered.",
    (
        "Searches",
        Lines(
            "Searches", "reqps",
            "Searches each second by method. Bad: a fall to 0 that no caller explains.",
            {"{{method}}": rate("imprint_search_seconds_count", "method")},
            stacked=True,
        ),
        Lines(
            "Time of a search", "s",
            "Time to answer. Bad: p95 above 0.5 s.",
            percentiles("imprint_search_seconds", "method"),
            bad=0.5,
        ),
        Lines(
            "Time of the parts", "s",
            "p95 of each arm of a search, and of the query's vector. Bad: one part that has grown; the vector is slow "
            "when processors are busy.",
            {
                "{{arm}}": quantile(0.95, "imprint_search_arm_seconds", "arm"),
                "query vector": quantile(0.95, "imprint_embed_seconds"),
            },
        ),
        Lines(
            "Questions without a result", "percentunit",
            "Share of searches that found nothing. Bad: a rise; memories are missing, or callers filter too much.",
            {
                "{{method}}": share(
                    rate("imprint_searches_empty_total", "method"), rate("imprint_search_seconds_count", "method")
                ),
            },
            warn=0.2, highest=1,
        ),
        Lines(
            "Answers", "reqps",
            "Questions by who answered them, and the outcome. Bad: mostly `unknown`.",
            {"{{by}} {{outcome}}": rate("imprint_answers_total", "by, outcome")},
            stacked=True,
        ),
        "Caches",
        Lines(
            "Hits", "percentunit",
            "Share of lookups that a cache answered. Bad: near 0 with steady traffic; the cache is too small.",
            {
                "{{cache}}": share(
                    rate("imprint_cache_lookups_total", "cache", outcome="hit"),
                    rate("imprint_cache_lookups_total", "cache"),
                ),
            },
            highest=1,
        ),
        Lines(
            "Reads of index rows", "ops",
            "What a question had to read of its owner's rows: all, what has changed, nothing; `uncached`: the "
            "database answered. Bad: mostly `whole` or `uncached`.",
            {"{{kind}}": rate("imprint_search_reads_total", "kind")},
            stacked=True,
        ),
        Lines(
            "Cached index rows", "bytes",
            "Bytes of index rows that processes keep. Bad: at the limit of 512 MB for each process, with many `whole` "
            "reads.",
            {"{{job}}": total("imprint_search_kept_bytes", "job")},
        ),
        Lines(
            "Cached owners", "none",
            "Users, groups and combinations whose rows are kept. Bad: far fewer than are active.",
            {"{{job}}": total("imprint_search_kept_users", "job")},
        ),
        "Contexts",
        Lines(
            "Contexts", "reqps",
            "Contexts built, and whether the token limit left something out. Bad: almost all truncated.",
            {"truncated: {{truncated}}": rate("imprint_contexts_total", "truncated")},
            stacked=True,
        ),
        Lines(
            "Left out", "ops",
            "Items that contexts had no place for, by reason. Bad: a reason that begins to dominate.",
            {"{{reason}}": rate("imprint_context_left_out_total", "reason")},
            stacked=True,
        ),
        Lines(
            "Size of contexts", "none",
            "Tokens of a context. Bad: the median near the limit.",
            percentiles("imprint_context_tokens"),
        ),
        "Tools",
        Lines(
            "Calls over MCP", "reqps",
            "Calls of tools by how they ended. Bad: `failed`; `refused` in numbers means a client with a wrong key or "
            "arguments.",
            {"{{tool}} {{outcome}}": rate("imprint_mcp_seconds_count", "tool, outcome")},
            stacked=True,
        ),
        Lines(
            "Time of tools", "s",
            "p95 of the time to answer a call over MCP. Bad: above 1 s.",
            {"{{tool}}": quantile(0.95, "imprint_mcp_seconds", "tool")},
            bad=1,
        ),
    ),
)

MODELS: Final = Dashboard(
    "models",
    "Models and cost",
    "Calls of language models, what they cost, and the vectors of texts.",
    (
        "Calls",
        Lines(
            "Calls", "ops",
            "Calls by outcome. Bad: anything but `ok` in numbers; none are made without a model.",
            {"{{model}}: {{outcome}}": rate("imprint_model_calls_total", "model, outcome")},
            stacked=True,
        ),
        Lines(
            "Failing calls", "percentunit",
            "Share of calls without a usable answer. Bad: above 25 %.",
            {
                "{{model}}": share(
                    rate("imprint_model_calls_total", "model", outcome="!ok.*"),
                    rate("imprint_model_calls_total", "model"),
                ),
            },
            warn=0.05, bad=0.25, highest=1,
        ),
        Lines(
            "Admissions", "ops",
            "What work that needs a model was told: admitted, a probe, or what it waits for. Bad: `breaker` or "
            "`budget` for minutes.",
            {"{{outcome}}": rate("imprint_model_admissions_total", "outcome")},
            stacked=True,
        ),
        Lines(
            "Breaker", "none",
            "1: the provider refuses, and calls are suspended. Bad: 1 for minutes.",
            {"{{provider}}": read("imprint_model_breaker_open", "provider")},
            bad=1, highest=1,
        ),
        "Cost",
        Lines(
            "Tokens", "none",
            "Tokens each second by direction. Bad: a rise without more messages.",
            {"{{model}}: {{direction}}": rate("imprint_model_tokens_total", "model, direction")},
            stacked=True,
        ),
        Lines(
            "Cost an hour", "none",
            "What the tokens of an hour cost, in the currency of the prices above (those of IMPRINT_LLM_INPUT_PRICE "
            "and IMPRINT_LLM_OUTPUT_PRICE). Bad: more than your daily budget divided by 24.",
            {"{{model}}": cost("1h")},
        ),
        Lines(
            "Tokens for a memory", "none",
            "Tokens spent for each memory that was added, within an hour. Bad: a rise; talks are read that say "
            "little.",
            {
                "tokens": growth("imprint_model_tokens_total", "1h")
                + " / "
                + growth("imprint_memories_total", "1h", change="added"),
            },
        ),
        Lines(
            "Budget left", "percentunit",
            "Smallest share of a day's budget that any tenant has left. Bad: below 10 % before the evening (UTC).",
            {"{{unit}}": "min by (unit) (imprint_model_budget_left)"},
            warn=0.2, bad=0.1, low=True, highest=1,
        ),
        "Vectors",
        Lines(
            "Vectors by origin", "ops",
            "Vectors of texts: made by the model, cached by the process, stored in the index. Bad: all made.",
            {"{{origin}}": rate("imprint_vectors_total", "origin")},
            stacked=True,
        ),
        Lines(
            "Texts in a batch", "none",
            "Texts of one call of the embedding model. Bad: 1 with a long queue; batches are not filled.",
            {**percentiles("imprint_embed_batch_texts"), "mean": mean("imprint_embed_batch_texts")},
        ),
        Lines(
            "Time of a batch", "s",
            "Time of one call of the embedding model. Bad: p95 above 5 s.",
            percentiles("imprint_embed_batch_seconds"),
            bad=5,
        ),
    ),
    {"price_input": "Price of a million input tokens", "price_output": "Price of a million output tokens"},
)

DASHBOARDS: Final = (OVERVIEW, RULES, WORKERS, MEMORIES, RETRIEVAL, MODELS)
