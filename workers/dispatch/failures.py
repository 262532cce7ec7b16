"""Record of the failed attempts of a dispatch: stage, class of the error, times. The text of the last is in `error`."""

from __future__ import annotations

from typing import Final, Literal

Stage = Literal["agent", "write", "deadline", "worker"]
"""Stage of a failed attempt: in its agent, when its effect was written, at its time limit, or with its worker."""

KEPT: Final = 10
"""Failed attempts that are kept, the last ones: as many as a dispatch usually has before it is given up."""

WITH_ANOTHER: Final = f"""
    CASE WHEN jsonb_array_length(failures) >= {KEPT} THEN failures - 0 ELSE failures END || jsonb_build_array(
        jsonb_build_object('attempt', attempt, 'stage', {{stage}}, 'error', {{kind}}, 'began_at', started_at,
                           'ended_at', clock_timestamp()))
"""
"""SQL: the failures of a row with the attempt that fails now. No words of an error, which an erasure would miss."""
