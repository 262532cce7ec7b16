from __future__ import annotations

from core.events import log, publishing
from core.events.log import Cause, Emission
from core.events.publishing import Author
from core.storage.db import Database
from tests.factories import events_since
from tests.samples import TENANT, accept, event


def test_what_a_person_does_begins_a_chain(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        publishing.publish(tx, TENANT, Author("key:1"), [Emission("memory.updated", {"memory_id": "m"})])
        (told,) = events_since(tx, 0, 10)
    assert (told.event_type, told.hop, told.causation_id) == ("memory.updated", 0, None)


def test_what_follows_from_an_event_stands_in_its_chain(app: Database) -> None:
    accept(app, event(id="cause"))
    with app.tenant(TENANT) as tx:
        author = Author("an agent", Cause(log.get(tx, "cause")), "a_rule", 3)
        publishing.publish(tx, TENANT, author, [Emission("memory.updated", {"memory_id": "m"})])
        cause, told = events_since(tx, 0, 10)
    assert told.hop == cause.hop + 1
    assert told.correlation_id == cause.correlation_id
    assert author.as_json() == {"name": "an agent", "rule": "a_rule", "rule_version": 3}
