"""A restore goes on behind the last committed batch, whatever stopped it."""

from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import Conflict, NotFound
from core.storage.db import Database
from core.transfer import imports
from core.transfer.restoring import restorer
from core.transfer.restoring.restorer import Restorer
from tests.core.transfer.restoring import contexts
from tests.core.transfer.rich import a_past, archive_of, lines, made
from tests.samples import TENANT

PAST = a_past("s1", 1_200, 150)


def begun(app: Database, settings: Settings, archive: bytes) -> Restorer:
    """The restorer of an upload that was started, or is under way."""
    return Restorer(*contexts.begun(app, settings, archive))


def test_it_stops_after_any_batch_and_goes_on_behind_it(app: Database, settings: Settings) -> None:
    archive, turns = made(PAST), 0
    while not begun(app, settings, archive).run(lambda: False):
        turns += 1
    assert turns == 1 + 3 + 2 + 1, "one batch of sessions, three of messages, two of memories, one of relations"
    found = lines(archive_of(app))
    assert {name: list(found[name]) for name in PAST} == {name: list(ones) for name, ones in PAST.items()}


def test_of_two_restorers_at_once_one_goes_on(app: Database, settings: Settings) -> None:
    archive = made(PAST)
    begun(app, settings, archive).run(lambda: False)
    one, other = begun(app, settings, archive), begun(app, settings, archive)
    one.run(lambda: False)
    with pytest.raises(Conflict, match="another worker"):
        other.run(lambda: True)
    assert begun(app, settings, archive).run(lambda: True)
    assert len(lines(archive_of(app))["messages"]) == 1_200


def test_a_stopped_import_restores_nothing_more(app: Database, settings: Settings) -> None:
    work = begun(app, settings, made(PAST))
    work.run(lambda: False)
    with app.tenant(TENANT) as tx:
        imports.cancel(tx, work.row.id)
    with pytest.raises(NotFound, match="has been deleted"):
        work.run(lambda: True)
    assert lines(archive_of(app))["messages"] == []


def test_messages_and_documents_without_vectors_are_found_for_them(app: Database, settings: Settings) -> None:
    begun(app, settings, made(a_past("s1", 3, 1))).run(lambda: True)
    with app.tenant(TENANT) as tx:
        assert restorer.find_unembedded(tx, "ada") == ["s1"]
