"""What agents work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text

from core import metrics
from core.config import Settings
from core.consolidation import pipeline
from core.consolidation.pipeline import Gateway
from core.inference.client import Call
from core.inference.embedders import Embedder
from core.storage.db import Database
from core.types import Json
from workers.dispatch.model import Job

TOKENS_PRICED: Final = 1_000_000
"""Prices are for so many tokens."""

COUNTED: Final = frozenset(
    (
        "added confirmed superseded merged replaced disputed ignored derived edited archived restored quarantined used"
    ).split()
)
"""Changes that the metric of memories counts."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Dependencies of the agents: a tenant-bound database, an embedder, the settings."""

    db: Database
    embedder: Embedder
    settings: Settings

    @property
    def gate(self) -> Gateway:
        """The way from statements to changes."""
        return pipeline.usual(self.db, self.embedder, self.settings)


def count_changes(counts: Mapping[str, int]) -> None:
    """Count what was done, once it is committed."""
    for name in COUNTED & counts.keys():
        metrics.MEMORIES.labels(name).inc(counts[name])


def note_call(tools: Tools, job: Job, call: Call) -> None:
    """Calls are paid for even when nothing comes of them, so each is written down at once."""
    prices = tools.settings.llm_input_price, tools.settings.llm_output_price
    cost = (call.input_tokens * prices[0] + call.output_tokens * prices[1]) / TOKENS_PRICED
    with tools.db.tenant(job.tenant_id) as tx:
        values: Json = {name: getattr(call, name) for name in Call.__slots__}
        tx.execute(_CALL, values | {"tenant": job.tenant_id, "dispatch": job.id, "cost": cost})


_CALL = text("""
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, latency_ms,
                             outcome, answer)
    SELECT :tenant, :dispatch, :model, :prompt, :input_tokens, :output_tokens, :cost, :latency_ms, :outcome,
           CASE WHEN EXISTS (SELECT FROM dispatches WHERE id = :dispatch AND status = 'running')
                THEN cast(:answer AS text) END
""")
"""What the model said is not kept where the work was called back meanwhile, as by an erasure."""
