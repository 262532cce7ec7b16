from __future__ import annotations

from core.events.pending import Effect, Labelled, Reported
from core.events.publishing import Author
from core.storage.db import Database, Tx
from core.types import Json
from tests.samples import TENANT


def test_a_change_is_written_in_the_transaction_and_by_the_author_it_is_given(app: Database) -> None:
    def write(tx: Tx, author: Author) -> Json:
        return {"by": author.name, "open": tx.in_transaction()}

    with app.tenant(TENANT) as tx:
        assert Effect(write).write(tx, Author("ada")) == {"by": "ada", "open": True}
        assert Labelled({"learnt": True}, Effect(write)).write(tx, Author("ada"))["learnt"]
        assert Reported({"waits": 3}).write(tx, Author("ada")) == {"waits": 3}
