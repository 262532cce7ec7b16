"""The routes of mem0's Platform, by which its SDKs work with Imprint: `host` is `…/compat/mem0`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request

from api.compat import adding, changing, entities, finding
from api.compat.answers import (
    Mem0Added,
    Mem0DeletedMemories,
    Mem0Entities,
    Mem0Event,
    Mem0Kept,
    Mem0Memory,
    Mem0Message,
    Mem0Page,
    Mem0Pending,
    Mem0Ping,
    Mem0Results,
    Mem0Version,
)
from api.compat.entities import paged
from api.compat.requests import PAGE, AddRequest, DeleteBatch, FindRequest, ListRequest, UpdateBatch, UpdateRequest
from api.compat.scopes import ENTITIES, owner_of
from api.http.erasure import erasure
from api.ingress import audience
from api.ingress.answers import answers
from api.ingress.dependencies import Admin, Dependencies, Deps, Publisher, Reader, Writer, any_caller, any_key
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import Invalid, NotFound, Problem
from core.tenancy.tenants import Caller
from core.types import Json

router = APIRouter(prefix="/compat/mem0", tags=["mem0"], route_class=Route)

DELETED: Final = "Memory deleted successfully!"
UNFITTING: Final = "is no text of conditions; give user_id, agent_id, app_id or run_id as query parameters"


def reading(deps: Deps, caller: Annotated[Caller, Depends(any_caller)]) -> Dependencies:
    """Return dependencies that read what has no audience labels, or those of the key."""
    return audience.for_reader(deps, caller, None)


Reading = Annotated[Dependencies, Depends(reading)]
PageNumber = Annotated[int, Query(ge=1, le=10_000)]
PageSize = Annotated[int, Query(ge=1, le=PAGE)]
AnyCaller = Annotated[Caller, Depends(any_key)]


def by_query(
    request: Request,
    user_id: str | None = None,
    agent_id: str | None = None,
    app_id: str | None = None,
    run_id: str | None = None,
) -> ListRequest:
    """Return the ids that a query string names. Invalid: it has filters, which a query string cannot hold."""
    if "filters" in request.query_params:
        raise Invalid([Problem("/filters", UNFITTING)])
    return ListRequest(user_id=user_id, agent_id=agent_id, app_id=app_id, run_id=run_id)


ByQuery = Annotated[ListRequest, Depends(by_query)]


@router.get("/v1/ping/", operation_id="mem0Ping", responses=answers(Mem0Ping))
def get_ping(caller: AnyCaller) -> Json:
    """Say that the key is valid, and for which tenant."""
    return {"status": "ok", "org_id": caller.tenant_id, "project_id": caller.tenant_id, "user_email": None}


@router.post("/v3/memories/add/", operation_id="mem0Add", responses=answers(Mem0Added))
def post_add(deps: Deps, caller: Publisher, request: AddRequest) -> Json:
    """Learn from messages in the background; with `infer` false keep them as memories, which needs the scope write."""
    return adding.add(deps, caller, request)


@router.post("/v1/memories/", operation_id="mem0AddV1", responses=answers(list[Mem0Pending | Mem0Kept]))
def post_add_v1(deps: Deps, caller: Publisher, request: AddRequest) -> Any:
    """Learn from messages, with the answer of version 1."""
    answer = adding.add(deps, caller, request)
    return answer.get("results", [answer])


@router.post("/v3/memories/", operation_id="mem0List", responses=answers(Mem0Page))
def post_list(
    deps: Reading,
    caller: Reader,
    request: Request,
    list_request: ListRequest,
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Json:
    """List memories that pass a filter, newest first."""
    return paged(finding.page(deps, caller, list_request), request.url, page, page_size)


@router.post("/v2/memories/", operation_id="mem0ListV2", responses=answers(list[Mem0Memory]))
def post_list_v2(
    deps: Reading, caller: Reader, request: ListRequest, page: PageNumber = 1, page_size: PageSize = 100
) -> Any:
    """List memories that pass a filter, with the answer of version 2."""
    return finding.page(deps, caller, request)[(page - 1) * page_size : page * page_size]


@router.get("/v1/memories/", operation_id="mem0ListV1", responses=answers(list[Mem0Memory]))
def get_list(deps: Reading, caller: Reader, request: ByQuery, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    """List the memories of the ids in the query string, with the answer of version 1."""
    return finding.page(deps, caller, request)[(page - 1) * page_size : page * page_size]


@router.post("/v3/memories/search/", operation_id="mem0Search", responses=answers(Mem0Results))
def post_search(deps: Reading, caller: Reader, request: FindRequest) -> Json:
    """Search memories that pass a filter."""
    return {"results": finding.search(deps, caller, request)}


@router.post("/v1/memories/search/", operation_id="mem0SearchV1", responses=answers(list[Mem0Memory]))
def post_search_v1(deps: Reading, caller: Reader, request: FindRequest) -> Any:
    """Search memories, with the answer of version 1."""
    return finding.search(deps, caller, request)


@router.post("/v2/memories/search/", operation_id="mem0SearchV2", responses=answers(list[Mem0Memory]))
def post_search_v2(deps: Reading, caller: Reader, request: FindRequest) -> Any:
    """Search memories, with the answer of version 2."""
    return finding.search(deps, caller, request)


@router.delete("/v1/memories/", operation_id="mem0DeleteAll", responses=answers(Mem0DeletedMemories))
def delete_all(deps: Deps, caller: Writer, request: ByQuery) -> Json:
    """Erase the memories of the ids in the query string; what was said stays until the user is deleted."""
    count = changing.delete_all(deps, caller, request)
    return {"message": "Memories deleted successfully!", "count": count, "event_id": None}


@router.get("/v1/memories/{memory_id}/", operation_id="mem0Get", responses=answers(Mem0Memory))
def get_memory(deps: Reading, caller: Reader, memory_id: str) -> Json:
    """Return a memory."""
    return finding.by_id(deps, caller, memory_id)


@router.put("/v1/memories/{memory_id}/", operation_id="mem0Update", responses=answers(Mem0Memory, refusals=(409,)))
def put_memory(deps: Deps, caller: Writer, memory_id: str, request: UpdateRequest) -> Json:
    """Change the words, metadata or dates of a memory; metadata is replaced whole."""
    return changing.update(deps, caller, memory_id, request)


@router.delete("/v1/memories/{memory_id}/", operation_id="mem0Delete", responses=answers(Mem0Message, refusals=(409,)))
def delete_memory(deps: Deps, caller: Writer, memory_id: str, delete_linked: bool = False) -> Json:
    """Erase a memory; with `delete_linked` also those that it superseded."""
    changing.delete(deps, caller, memory_id, linked=delete_linked)
    return {"message": DELETED}


@router.get("/v1/memories/{memory_id}/history/", operation_id="mem0History", responses=answers(list[Mem0Version]))
def get_history(deps: Reading, caller: Reader, memory_id: str) -> Any:
    """List the versions of a memory, oldest first."""
    return finding.history(deps, caller, memory_id)


@router.put("/v1/batch/", operation_id="mem0UpdateBatch", responses=answers(Mem0Message, refusals=(404, 409)))
def put_batch(deps: Deps, caller: Writer, batch: UpdateBatch) -> Json:
    """Change several memories, one after the other; nothing is changed if one of them is not there."""
    changing.require_all(deps, caller, [update.memory_id for update in batch.memories])
    for update in batch.memories:
        changing.update(deps, caller, update.memory_id, update)
    return {"message": f"Successfully updated {len(batch.memories)} memories"}


@router.delete("/v1/batch/", operation_id="mem0DeleteBatch", responses=answers(Mem0Message, refusals=(404, 409)))
def delete_batch(deps: Deps, caller: Writer, batch: DeleteBatch) -> Json:
    """Erase several memories; nothing is erased if one of them is not there."""
    ids = [memory.memory_id for memory in batch.memories]
    changing.require_all(deps, caller, ids)
    changing.delete_each(deps, caller, ids)
    return {"message": f"Successfully deleted {len(ids)} memories"}


@router.get("/v1/entities/", operation_id="mem0Entities", responses=answers(Mem0Entities))
def get_entities(
    deps: Reading, caller: Reader, request: Request, page: PageNumber = 1, page_size: PageSize = 100
) -> Json:
    """List the users, agents, apps and runs that own memories, those with news first."""
    return entities.entities(deps, caller, request.url, page, page_size)


@router.delete(
    "/v2/entities/{entity_type}/{entity_id:path}/", operation_id="mem0DeleteEntity", responses=answers(Mem0Message)
)
def delete_entity(deps: Deps, caller: Admin, entity_type: str, entity_id: str) -> Json:
    """Erase everything stored about a user, or about an agent, app or run that owns memories."""
    if f"{entity_type}_id" not in ENTITIES:
        raise NotFound(f"There is no type {entity_type[:50]!r} of entity; use user, agent, app or run.")
    erasure.delete_user(deps, caller, owner_of(f"{entity_type}_id", entity_id))
    return {"message": "Entity deleted successfully!"}


@router.delete(
    "/v1/entities/{entity_type}/{entity_id:path}/", operation_id="mem0DeleteEntityV1", responses=answers(Mem0Message)
)
def delete_entity_v1(deps: Deps, caller: Admin, entity_type: str, entity_id: str) -> Json:
    """Erase everything stored about an entity, at the address of version 1."""
    return delete_entity(deps, caller, entity_type, entity_id)


@router.get("/v1/event/{event_id}/", operation_id="mem0Event", responses=answers(Mem0Event))
@with_bounds(Bounds(counted="settles"))
async def get_event(deps: Deps, caller: Reader, event_id: str) -> Json:
    """Say whether everything that follows from an `add` is done. A key with the scope publish ends waits for more."""
    seq = deps.settle_tokens.seq(caller.tenant_id, event_id)
    pending = await deps.settling.wait(caller.tenant_id, seq, 0, flush=caller.may("publish"))
    return {
        "id": event_id,
        "event_id": event_id,
        "event_type": "ADD",
        "status": "RUNNING" if pending else "SUCCEEDED",
        "pending": pending,
        "results": [],
    }
