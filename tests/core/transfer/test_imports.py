"""An import is a row with a cursor that two attempts cannot both move."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from core.errors import Conflict, Invalid, NotFound, Problem
from core.settings.limits import TenantLimits
from core.storage.db import Database, Tx
from core.transfer import imports
from core.transfer.imports import PART_BYTES
from tests.factories import PERSON
from tests.samples import TENANT

DIGEST = "a" * 64


def opened(tx: Tx, size: int = 3, digest: str = DIGEST) -> Any:
    return imports.open_upload(tx, TENANT, "ada", size, digest, PERSON, TenantLimits())


def started(tx: Tx) -> Any:
    row = opened(tx)
    imports.add_part(tx, TENANT, row.id, 0, b"abc")
    imports.start(tx, TENANT, row.id)
    return imports.begin(tx, row.id)


def test_the_parts_of_an_upload_are_as_long_as_they_must_be() -> None:
    size = 2 * PART_BYTES + 5
    assert [imports.part_length(size, n) for n in (-1, 0, 1, 2, 3)] == [0, PART_BYTES, PART_BYTES, 5, 0]


def test_an_upload_is_started_when_it_is_whole_and_only_once(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        row = opened(tx)
        assert opened(tx).id == row.id
        assert imports.missing_parts(tx, row) == [0]
        with pytest.raises(Conflict, match="1 parts have not arrived: 0"):
            imports.start(tx, TENANT, row.id)
        with pytest.raises(Invalid, match="part 0 of this upload has 3 bytes, not 1"):
            imports.add_part(tx, TENANT, row.id, 0, b"x")
        imports.add_part(tx, TENANT, row.id, 0, b"abc")
        first, again = imports.start(tx, TENANT, row.id), imports.start(tx, TENANT, row.id)
        assert (first.status, again.status, first.event_seq) == ("pending", "pending", again.event_seq)
        assert imports.part(tx, row.id, 0) == b"abc"
        with pytest.raises(NotFound):
            imports.part(tx, row.id, 1)


def test_of_two_attempts_on_the_same_lines_one_moves_the_cursor(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        row = started(tx)
        imports.advance(tx, row, "messages", 500, {"lines": {}})
    with app.tenant(TENANT) as tx, pytest.raises(Conflict, match="another worker"):
        imports.advance(tx, row, "messages", 500, {"lines": {}})


def test_an_import_that_has_ended_is_not_begun_again_and_keeps_nothing(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        row = started(tx)
        imports.put_places(tx, TENANT, row.id, "memories", {("", 1): str(row.id)})
        assert imports.places(tx, row.id, "memories", [("", 1), ("", 2)]) == {("", 1): str(row.id)}
        assert imports.taken(tx, row.id, [row.id, uuid4()]) == {row.id}
        assert imports.finish(tx, row.id, "failed", None, [Problem("/x", "is wrong")])
        assert not imports.finish(tx, row.id, "done", None)
        assert imports.begin(tx, row.id) is None
        assert imports.get(tx, row.id).error == [{"pointer": "/x", "detail": "is wrong"}]
        assert imports.places(tx, row.id, "memories", [("", 1)]) == {}
        assert imports.missing_parts(tx, row) == [0]
