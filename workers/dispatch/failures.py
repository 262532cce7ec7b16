"""Record of the failed attempts of a dispatch: stage, class of the error, times. The text of the last is in `error`."""

from __future__ import annotations

from typing import Final, Literal

from core import errors, metrics
from core.types import DispatchStatus

Stage = Literal["agent", "write", "deadline", "worker"]
"""Stage of a failed attempt: in its agent, when its effect was written, at its time limit, or with its worker."""

OVERRAN: Final = "Overran"
"""Class of an attempt that was ended at its time limit."""

LOST: Final = "WorkerLost"
"""Class of an attempt whose worker died or hung."""

REFUSED: Final = "Refused"
"""Class of what never began: the rules failed, or a chain has too many hops."""

UNEXPECTED: Final = "Unexpected"
"""Class of all errors that are not this service's own."""

CLASSES: Final = frozenset(
    {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    | {"BreakerOpen", "BrokenVectors", OVERRAN, LOST, REFUSED, UNEXPECTED}
)
"""Classes by which dead letters are counted: names of others could be anything, and each would be a series."""

KEPT: Final = 10
"""Failed attempts that are kept, the last ones: as many as a dispatch usually has before it is given up."""

WITH_ANOTHER: Final = f"""
    CASE WHEN jsonb_array_length(failures) >= {KEPT} THEN failures - 0 ELSE failures END || jsonb_build_array(
        jsonb_build_object('attempt', attempt, 'stage', {{stage}}, 'error', {{kind}}, 'began_at', started_at,
                           'ended_at', clock_timestamp()))
"""
"""SQL: the failures of a row with the attempt that fails now. No words of an error, which an erasure would miss."""


def count_dead(target: str, queue: str, error: str) -> None:
    """Count a dispatch that became a dead letter, with the name of the class of its error."""
    metrics.DISPATCHES.labels(target, queue, DispatchStatus.DEAD).inc()
    name = error if error in CLASSES else UNEXPECTED
    metrics.DISPATCHES_FAILED.labels(target, queue, name).inc()
