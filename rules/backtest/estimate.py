"""Estimates the cost of a rule's actions from the cost of earlier dispatches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text

from core.storage.db import Tx
from core.types import Json
from rules.document.schema import Action, Rule, RunAgent

RECENT_DONE: Final = 200
"""Number of latest completed dispatches in the mean."""

LOOKED_THROUGH: Final = 20_000
"""Number of latest dispatches of all kinds searched for them: an estimate must not read a whole table."""


@dataclass(frozen=True, slots=True)
class Mean:
    """Average cost of one dispatch of an action; None if there was none."""

    done: int
    seconds: float | None
    tokens: float | None
    cost: float | None


def of(tx: Tx, rule: Rule, times: int) -> Json:
    """Return the cost of a rule's actions at this frequency: seconds of work, tokens and money for models.

    A figure without history is null, and `notes` says why. Only agents use models.
    """
    action_means = [(action, _mean(tx, action)) for action in rule.actions]
    return {
        "dispatches": times * len(action_means),
        "seconds": total([mean.seconds for _, mean in action_means], times),
        "tokens": total([mean.tokens for _, mean in action_means], times),
        "cost": total([mean.cost for _, mean in action_means], times),
        "actions": [_row(action, mean, times) for action, mean in action_means],
        "notes": [note for action, mean in action_means for note in _notes(action, mean)],
    }


def _mean(tx: Tx, action: Action) -> Mean:
    target = action.target if isinstance(action, RunAgent) else None
    limits = {"recent": RECENT_DONE, "through": LOOKED_THROUGH}
    row = tx.execute(_HISTORY, {"type": action.action_type, "target": target, **limits}).one()
    if target is None:
        return Mean(row.done, row.seconds, 0, 0)
    return Mean(row.done, row.seconds, row.tokens, row.cost)


def total(figures: Sequence[float | None], times: int = 1) -> float | None:
    """Return the sum of the figures, so many times; None if one of them is unknown."""
    present = [figure for figure in figures if figure is not None]
    return round(times * sum(present), 6) if len(present) == len(figures) else None


def _row(action: Action, mean: Mean, times: int) -> Json:
    return {
        "action_type": action.action_type,
        "target": _target(action),
        "times": times,
        "history": mean.done,
        "seconds": total([mean.seconds], times),
        "tokens": total([mean.tokens], times),
        "cost": total([mean.cost], times),
    }


def _notes(action: Action, mean: Mean) -> list[str]:
    if mean.done:
        return []
    return [f"nothing is known of what `{_target(action)}` takes: it has not been done in this tenant lately"]


def _target(action: Action) -> str:
    return action.target if isinstance(action, RunAgent) else action.action_type


_HISTORY = text("""
    SELECT count(*) AS done,
           cast(avg(extract(epoch FROM ended_at - started_at)) AS float8) AS seconds,
           CASE WHEN count(*) > 0 THEN cast(coalesce(sum(tokens), 0) AS float8) / count(*) END AS tokens,
           CASE WHEN count(*) > 0 THEN coalesce(sum(cost), 0) / count(*) END AS cost
    FROM (
        SELECT id, started_at, ended_at
        FROM (SELECT * FROM dispatches ORDER BY id DESC LIMIT :through) AS latest
        WHERE status = 'done' AND action_type = :type AND target = coalesce(:target, target)
        ORDER BY id DESC LIMIT :recent
    ) AS d
    LEFT JOIN LATERAL (
        SELECT sum(input_tokens::bigint + output_tokens) AS tokens, sum(cost) AS cost
        FROM model_calls WHERE dispatch_id = d.id
    ) AS c ON true
""")
"""Dispatches that emit events take almost no time, and are measured like any other."""
