"""An agent: counts the orders that a session speaks of."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import Never
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
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
    """Read in one transaction, compute in none, and return what to write in the one that ends the dispatch.

    The event is therefore published exactly once, however often the work is delivered.
    """
    session_id = job.event.session_id
    if session_id is None:
        raise Never("order_counter works on a session, and this event has none. Name another event in the rule.")
    with tools.db.tenant(job.tenant_id) as tx:
        said = sessions.transcript(tx, session_id, limit=LAST)
    found = sorted({number for message in said for number in orders(message.content)})
    return Outcome(Counted(job.tenant_id, session_id, found))


@dataclass(frozen=True, slots=True)
class Counted:
    """The orders of a session, to be announced by an event."""

    tenant_id: str
    session_id: str
    orders: list[str]

    def write(self, tx: Tx, author: Author) -> Json:
        counted = Emission("orders.counted", {"session_id": self.session_id, "orders": self.orders})
        publishing.publish(tx, self.tenant_id, author, [counted])
        return {"orders": len(self.orders)}


AGENT = Agent(count_orders, queue="cpu")
