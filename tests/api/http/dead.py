"""Dead letters as tests make and read them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from tests.api.http.dispatching import chain, owe
from tests.doors import Doors
from tests.samples import TENANT
from tests.works import Works
from workers.dispatch.relay import DispatchRef

NOWHERE: Json = {"channel": "none", "template": "Total: 12"}


LOG: Json = {"channel": "log", "template": "Total: 13"}


def letters(app: Database, error: str, number: int = 1, **fields: Any) -> list[str]:
    """Dispatches that were given up with an error."""
    ids = owe(app, number, **fields)
    values = {"ids": ids, "error": error}
    give_up = "UPDATE dispatches SET status = 'dead', error = :error, ended_at = clock_timestamp(), turn = NULL"
    with app.tenant(TENANT) as tx:
        tx.execute(text(f"{give_up} WHERE id = ANY(cast(:ids AS uuid[]))"), values)
    return ids


def groups(door: Doors, **params: Any) -> list[Json]:
    answer = door.get("/v1/dispatches/groups", params=params)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["items"]
    return found


def failed(app: Database, works: Works, number: int = 1, params: Json = NOWHERE) -> list[str]:
    """A chain of notices of which the first was given up, because its channel is not there."""
    ids = chain(app, number)
    with app.tenant(TENANT) as tx:
        for one in ids:
            tx.execute(
                text("UPDATE dispatches SET params = cast(:params AS jsonb) WHERE id = :id"),
                {"params": json.dumps(params if one == ids[0] else LOG), "id": one},
            )
    works.run([DispatchRef(TENANT, "io", UUID(ids[0]))])
    return ids
