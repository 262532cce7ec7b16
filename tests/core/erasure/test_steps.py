"""Each scope of erasing accounts for every table of a tenant."""

from __future__ import annotations

import pytest

from core.erasure.steps import STEPS, ErasurePart
from core.storage import tables

SCOPES: dict[str, tuple[ErasurePart, ...]] = {
    "memory": (ErasurePart.MESSAGES, ErasurePart.MEMORIES, ErasurePart.EVENTS),
    "passage": (ErasurePart.PASSAGES, ErasurePart.MEMORIES, ErasurePart.EVENTS),
    "session": (ErasurePart.MEMORIES, ErasurePart.EVENTS, ErasurePart.SESSION),
    "user": (ErasurePart.MEMORIES, ErasurePart.EVENTS, ErasurePart.USER, ErasurePart.NAMES),
    "group": (ErasurePart.MEMORIES, ErasurePart.EVENTS, ErasurePart.GROUP, ErasurePart.NAMES),
    "expiry": (
        ErasurePart.QUOTES,
        ErasurePart.EXPIRED_EVENTS,
        ErasurePart.EXPIRED_MESSAGES,
        ErasurePart.EXPIRED_PARTS,
        ErasurePart.EXPIRED_SESSIONS,
    ),
}
"""Parts that may be erased with a memory, a session (episodes of it are memories) or a user (so are others' that rest
on their word), or a group."""

UNTOUCHED: dict[str, str] = {
    "api_keys": "belong to services; users have none",
    "endpoints": "addresses that a tenant's rules post to",
    "expiries": "counts and times of what retention has removed",
    "prompt_versions": "a tenant's policy, written by people",
    "receipts": "say what was erased, with a salted hash of whom alone",
    "secrets": "credentials of a tenant's receivers, encrypted",
    "webhooks": "addresses to which a tenant's rules may post",
    "rule_versions": "a tenant's policy, written by people",
    "rules": "a tenant's policy, written by people",
    "term_counts": "changed with the rows of search_index: `core.index.removal`",
    "tenant_settings": "limits of a tenant, numbers alone",
    "turn_bounds": "ids of dispatches, where an offer begins to look",
    "tombstones": "keep what was erased from coming back; erasing adds some",
}
"""Tables without a step in any scope, and why."""

_NO_TEXT = "holds ids and times alone"


UNTOUCHED_BY_SCOPE: dict[str, dict[str, str]] = {
    "memory": {
        "alarms": "hold ids, times and numbers alone",
        "contexts": _NO_TEXT,
        "decisions": "names of rules and why they held an event back",
        "documents": "a memory cites messages; the knowledge base is erased document by document",
        "mirrors": "the file is written again without the memory, after the transaction",
        "owners": "the user or group remains",
        "participants": "the conversation remains",
        "passages": "go with their document",
        "replay_decisions": "names of rules and why they held an event back",
        "replays": "of its filter ids and times alone; keys of flow control are digests",
        "schedules": _NO_TEXT,
        "search_changes": _NO_TEXT,
        "sessions": "the conversation remains",
        "sweeps": _NO_TEXT,
        "working": "belongs to the agents of the session",
    },
    "passage": {
        "alarms": "hold ids, times and numbers alone",
        "decisions": "names of rules and why they held an event back",
        "documents": "a request is about what was said; the knowledge base is erased document by document",
        "mirrors": "the file is written again without the memory, after the transaction",
        "owners": "the user or group remains",
        "participants": "the conversation remains",
        "passages": "go with their document",
        "replay_decisions": "names of rules and why they held an event back",
        "replays": "of its filter ids and times alone; keys of flow control are digests",
        "schedules": _NO_TEXT,
        "search_changes": _NO_TEXT,
        "sweeps": _NO_TEXT,
    },
    "session": {
        "decisions": "names of rules and why they held an event back",
        "documents": "belong to users and groups, not to sessions",
        "mirrors": "what was learnt from the session is long-term memory and stays",
        "owners": "the user or group remains",
        "passages": "go with their document",
        "replay_decisions": "names of rules and why they held an event back",
        "replays": "of its filter ids and times alone; keys of flow control are digests",
        "schedules": _NO_TEXT,
        "sweeps": _NO_TEXT,
    },
    "user": {},
    "group": {
        "mirrors": "files of the members are written again without its memories, after the transaction",
        "schedules": "name the last user of a page",
        "sweeps": _NO_TEXT,
    },
    "expiry": {
        "bulk_jobs": "leave with the ledger: `core.expiry.log_rows`",
        "bulk_rows": "leave with their job",
        "decisions": "names of rules and why they held an event back; they leave with the log",
        "documents": "belong to users and groups, and have no time of retention",
        "import_parts": "go when their import ends, or a day after they arrived",
        "import_places": "go when their import ends",
        "imports": "counts of what was imported, by the user it belongs to",
        "memories": "what was learnt is long-term memory and stays",
        "mirrors": "likewise",
        "naming_decisions": "what somebody has decided by hand of names stays with the memories",
        "owners": "users and groups, until they are erased",
        "passages": "go with their document",
        "profiles": "built from memories, which stay",
        "relations": "between memories, which stay",
        "replay_decisions": "names of rules and why they held an event back; they leave with the log",
        "replays": "of its filter ids and times alone; they leave with the ledger",
        "schedules": _NO_TEXT,
        "servings": "hashes of what was handed out",
        "sweeps": _NO_TEXT,
    },
}
"""Tables without a step in one scope, and why."""


@pytest.mark.parametrize("scope", SCOPES)
def test_every_table_of_a_tenant_is_treated_or_says_why_not(scope: str) -> None:
    treated = {step.table for part in SCOPES[scope] for step in STEPS[part]}
    excused = {**UNTOUCHED, **UNTOUCHED_BY_SCOPE[scope]}
    assert treated | set(excused) == {table.name for table in tables.TENANT_TABLES}
    assert not treated & set(excused)
    assert not set(UNTOUCHED) & set(UNTOUCHED_BY_SCOPE[scope])


def test_no_table_without_a_step_has_one_in_some_part() -> None:
    assert not {step.table for steps in STEPS.values() for step in steps} & set(UNTOUCHED)


def test_every_part_belongs_to_a_scope() -> None:
    assert {part for parts in SCOPES.values() for part in parts} == set(ErasurePart)


def test_every_table_with_a_session_in_it_is_treated_with_a_session() -> None:
    treated = {step.table for part in SCOPES["session"] for step in STEPS[part]}
    assert {table.name for table in tables.TENANT_TABLES if "session_id" in table.c} <= treated
