"""Agent that counts the orders mentioned in a session."""

from __future__ import annotations

from dataclasses import dataclass

from imprint.plugins import Agent, Author, Emission, Job, Json, Never, Outcome, Tools, Tx, publish, transcript
from imprint_example.extractor import orders

LAST = 100
"""Messages read per session."""


def count_orders(tools: Tools, job: Job) -> Outcome:
    """Read in one transaction, compute outside of any, and return the change to write when the dispatch ends.

    The event is therefore published exactly once, however often the work is delivered.
    """
    session_id = job.event.session_id
    if session_id is None:
        raise Never("order_counter works on a session, and this event has none. Name another event in the rule.")
    with tools.db.tenant(job.tenant_id) as tx:
        messages = transcript(tx, session_id, limit=LAST)
    found = sorted({number for message in messages for number in orders(message.content)})
    return Outcome(Counted(job.tenant_id, session_id, found))


@dataclass(frozen=True, slots=True)
class Counted:
    """The orders of a session; writing them publishes an event."""

    tenant_id: str
    session_id: str
    orders: list[str]

    def write(self, tx: Tx, author: Author) -> Json:
        counted = Emission("orders.counted", {"session_id": self.session_id, "orders": self.orders})
        publish(tx, self.tenant_id, author, [counted])
        return {"orders": len(self.orders)}


AGENT = Agent(count_orders, queue="cpu")
