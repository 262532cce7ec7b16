"""Ids by their last characters, as people type them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.ingress.answers import Answer, answers, page
from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from core.errors import Forbidden
from core.storage import short_ids
from core.storage.short_ids import Kind
from core.types import Json


class FoundId(Answer):
    """An id, and what it names."""

    type: Kind
    id: UUID


FoundIds = page("FoundIds", FoundId, "Ids with the same end, newest first, at most five.")


router = APIRouter(prefix="/v1", tags=["ids"], route_class=Route)

End = Annotated[str, Query(pattern=f"^{short_ids.FORM.pattern}$", description="The last 4 to 8 characters of an id")]
Wanted = Annotated[short_ids.Kind, Query(alias="type", description="What the id names")]


@router.get("/ids", operation_id="findIds", responses=answers(FoundIds))
def get_ids(deps: Deps, caller: Reader, ends_with: End, kind: Wanted) -> Json:
    """Find the ids of one type that end with these characters, newest first; several: the end is ambiguous.

    All other routes take whole ids. At most five are listed.
    """
    if caller.labels is not None and kind != "memory":
        raise Forbidden(f"A key with audience labels finds only memories by the end of their id, not a {kind}.")
    with deps.db.tenant(caller.tenant_id) as tx:
        ids = short_ids.find(tx, kind, ends_with)
    return {"items": [{"type": kind, "id": id_} for id_ in ids], "next": None}
