"""The model for a request that somebody waits for: paid from a grant of its own, asked with the tenant's prompts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from uuid_utils.compat import uuid7

from core.config import Settings
from core.errors import Overloaded
from core.inference import costs, own_prompts, quota
from core.inference.client import Call, ChatClient, OnCall
from core.inference.quota import Grant
from core.inference.token_bucket import Need
from core.storage.db import Database

CALL_TOKENS = 2_000
"""Tokens of one call beside the texts that it reads."""


@contextmanager
def lend(
    db: Database, settings: Settings, model: ChatClient, tenant_id: str, need: Need, key: str, otherwise: str = ""
) -> Iterator[ChatClient]:
    """Yield the model for one request. Overloaded: the tenant's budget is used up, or the model is busy.

    `key`: what decides the share of an own prompt. `otherwise`: what to do instead, for the error.
    """
    provider = quota.provider(settings)
    with db.tenant(tenant_id) as tx:
        used = costs.used_up(tx, settings.llm_tokens_per_day, settings.llm_cost_per_day)
        if used is not None:
            raise Overloaded(f"The tenant has used its {used[0]}. {otherwise}".rstrip(), 3600)
        admission = quota.admit(tx, provider, need)
    if not admission.granted:
        raise Overloaded(f"The model is busy. {otherwise}".rstrip(), max(1, round(admission.wait.total_seconds())))
    grant = Grant(need, admission.verdict == "probe")
    try:
        yield own_prompts.bind(model.under(grant), db, tenant_id, key)
    finally:
        with db.queue() as tx:
            quota.give_back(tx, provider, grant)


def recorder(db: Database, settings: Settings, tenant_id: str, calls: list[Call]) -> OnCall:
    """Return what records each call of a request, without its answer, which is a text of the user.

    The calls are appended to `calls`.
    """
    request_id = uuid7()

    def record(call: Call) -> None:
        calls.append(call)
        with db.tenant(tenant_id) as tx:
            costs.record(tx, settings, tenant_id, request_id, replace(call, answer=None))

    return record
