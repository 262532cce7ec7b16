"""Requests to forget that were carried out and can still be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from fastapi import APIRouter

from api.http import retrying
from api.http.erasure.answers import ForgettingPage, UndoneForgetting
from api.ingress.answers import answers
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, Writer, author
from api.ingress.large_json import Route
from core.forgetting import restoring, undo_window
from core.index import search_index
from core.inference.sound_vectors import embed_sound
from core.memory import receipts
from core.tenancy.tenants import Caller
from core.types import Json

router = APIRouter(prefix="/v1/forgettings", tags=["erasure"], route_class=Route)

EMBEDDED: Final = 4
"""Batches of messages that get their vectors before the answer; further ones are found by their words alone."""


@router.get("", operation_id="listForgettings", responses=answers(ForgettingPage))
def get_forgettings(
    deps: Deps, caller: Reader, user_id: str | None = None, after: UUID | None = None, limit: Limit = 50
) -> Json:
    """List the requests to forget that can still be undone, newest first, with their numbers and no words."""
    with deps.db.tenant(caller.tenant_id) as tx:
        forgettings = undo_window.listed(tx, user_id, limit, after=after)
    return {
        "items": [forgetting.as_json() for forgetting in forgettings],
        "next": str(forgettings[-1].id) if len(forgettings) == limit else None,
    }


@router.post(
    "/{forgetting_id}/undo", operation_id="undoForgetting", responses=answers(UndoneForgetting, refusals=(409,))
)
def post_undo(deps: Deps, caller: Writer, forgetting_id: UUID) -> Json:
    """Bring back everything that a request to forget erased; its receipts then say so.

    404: it is final, or was undone. 409: a later request about the same conversations has to be undone first.
    """
    sign = receipts.signer(deps.settings)
    undone = retrying.run_with_retries(
        deps.db,
        caller.tenant_id,
        lambda tx: restoring.undo(tx, caller.tenant_id, forgetting_id, author(caller), sign),
    )
    deps.recent.forget(caller.tenant_id, undone.sessions)
    _embed(deps, caller, undone.sessions)
    deps.bell.notify()
    return undone.as_json() | {"state": "undone"}


def _embed(deps: Dependencies, caller: Caller, sessions: Sequence[str]) -> None:
    """Give the messages vectors that had none when they were erased."""
    for _ in range(EMBEDDED):
        with deps.db.tenant(caller.tenant_id) as tx:
            rows = search_index.rows_to_embed(tx, sessions, salt="")
        if not rows:
            return
        vectors = embed_sound(deps.embedder, [row.text for row in rows])
        with deps.db.tenant(caller.tenant_id) as tx:
            search_index.put_vectors(tx, rows, vectors)
