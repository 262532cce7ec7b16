"""Routes of the API by subject, in the order in which they are tried: what has a name of its own before any id."""

from __future__ import annotations

from typing import Final

from api.http.erasure import erasure, forgettings
from api.http.log import events, hooks, replays, stream
from api.http.memories import (
    bulk_changes,
    bulk_jobs,
    conflicts,
    decisions,
    entities,
    extraction_preview,
    graph,
    quarantine,
    reading,
    rebuilds,
    relations,
    timeline,
    writing,
)
from api.http.rules import activity, alarms, backtest, rules, run_now
from api.http.search import answering, context, documents, search, why
from api.http.service import costs, health, ids, stats
from api.http.sessions import by_query, owners, profiles, sessions, summaries, units
from api.http.tenant import keys, prompts, settings
from api.http.transfer import exports, import_jobs, imports
from api.http.work import approvals, dead_letters, dispatches, webhooks

MODULES: Final = (
    *(replays, events, stream, hooks),
    *(imports, import_jobs, exports),
    *(search, why, answering, context, documents),
    *(alarms, backtest, activity, rules, run_now),
    *(conflicts, quarantine, decisions, entities, relations, bulk_jobs, bulk_changes, graph, timeline, writing),
    *(reading, extraction_preview, rebuilds),
    *(units, summaries, sessions, by_query, profiles, owners),
    *(approvals, dead_letters, dispatches, webhooks),
    *(erasure, forgettings),
    *(ids, health, stats, costs),
    *(prompts, settings, keys),
)

ROUTERS: Final = tuple(module.router for module in MODULES)
