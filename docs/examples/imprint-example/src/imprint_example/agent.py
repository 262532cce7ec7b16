"""An agent: counts the orders that a session speaks of."""

from __future__ import annotations

from core.errors import Never
from core.events import log
from core.events.log import Cause, Emission
from core.sessions import sessions
from core.storage.db import Tx
from core.types import Json
from imprint_example.extractor import orders
from workers.agents.table import Agent
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

LAST = 100
"""Messages that are read of a session."""


def count_orders(tools: Tools, job: Job) -> Outcome:
    """Read in one transaction, think in none, and leave the writing to the one that ends the dispatch.

    The event that tells of it is therefore there exactly once, however often the work is delivered.
    """
    session_id = job.event.session_id
    if session_id is None:
        raise Never("order_counter works on a session, and this event has none. Name another event in the rule.")
    with tools.db.tenant(job.tenant_id) as tx:
        said = sessions.transcript(tx, session_id, limit=LAST)
    found = sorted({number for message in said for number in orders(message.content)})

    def write(tx: Tx) -> Json:
        counted = Emission("orders.counted", {"session_id": session_id, "orders": found})
        log.emit(tx, job.tenant_id, Cause(job.event, job.id), [counted])
        return {"orders": len(found)}

    return Outcome(write)


AGENT = Agent(count_orders, queue="cpu")
