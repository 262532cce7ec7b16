"""Agent that removes what has been kept for as long as its tenant wants."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final, get_args

from core import metrics
from core.errors import Invalid, Never
from core.events import expiries
from core.events.pending import Reported
from core.expiry import sweep
from core.expiry.sweep import SweepStep
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

SECONDS: Final = 20.0
"""Time after which a sweep goes on in a dispatch of its own: no worker is kept from others' work for longer."""

for _kind in get_args(expiries.Kind):
    metrics.EXPIRED.labels(_kind)  # From zero on: a rate needs a value before the first row leaves.


def apply_retention(tools: Tools, job: Job) -> Outcome:
    """Remove what is due, a page in each transaction, until nothing more can leave or the time is up.

    A page that is committed has left: a sweep that is interrupted begins anew, and finds the rest.
    """
    counts, position = Counter[str](), job.params.get("after") or sweep.BEGINNING
    ends = time.monotonic() + SECONDS
    while True:
        done = _step(tools, job, position)
        counts += done.counts
        if done.after is None:
            return Outcome(Reported(dict(counts)))
        if time.monotonic() >= ends:
            return Outcome(Reported(dict(counts)), [(job.target, {"after": done.after})])
        position = done.after


def _step(tools: Tools, job: Job, position: Json) -> SweepStep:
    try:
        with tools.db.tenant(job.tenant_id) as tx:
            done = sweep.step(tx, job.tenant_id, position)
    except Invalid as error:
        raise Never(f"{job.target} cannot go on: {error}") from error
    for kind, rows in done.counts.items():
        metrics.EXPIRED.labels(kind).inc(rows)
    return done
